import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { markVersion } from './version-mark.ts'

let dir = ''
beforeEach(() => { dir = mkdtempSync(join(tmpdir(), 'cs-mark-')); mkdirSync(join(dir, 'journal')) })
afterEach(() => { rmSync(dir, { recursive: true, force: true }) })

const write = (name: string, text: string): void => { writeFileSync(join(dir, name), text) }
const kept = (): readonly string[] => { try { return readdirSync(join(dir, 'backups')) } catch { return [] } }

test('a first start keeps nothing, since there is nothing', async () => {
  expect(await markVersion(dir, '1.0.0', 1)).toEqual({ before: null, backup: null })
  expect(readFileSync(join(dir, 'version.txt'), 'utf8')).toBe('1.0.0\n')
  expect(kept()).toEqual([])
})

test('the same version copies nothing', async () => {
  write('journal/journal.sqlite', 'old')
  write('version.txt', '1.0.0\n')
  expect((await markVersion(dir, '1.0.0', 1)).backup).toBeNull()
  expect(kept()).toEqual([])
})

test.each(['1.1.0', '0.9.0'])('before %s starts for the first time, journal, log and settings are copied as they are', async (next) => {
  write('version.txt', '1.0.0\n')
  write('journal/journal.sqlite', 'rows')
  write('journal/journal.sqlite-wal', 'newer rows')
  write('settings.json', '{}')
  const { backup } = await markVersion(dir, next, 7)
  expect(backup).toBe(join(dir, 'backups/1.0.0-7'))
  expect(Object.fromEntries(readdirSync(backup ?? '').map((name) => [name, readFileSync(join(backup ?? '', name), 'utf8')]))).toEqual({ 'journal.sqlite': 'rows', 'journal.sqlite-wal': 'newer rows', 'settings.json': '{}' })
  expect(readFileSync(join(dir, 'version.txt'), 'utf8').trim()).toBe(next)
})

test('a journal from before there were marks is copied too, and only the three newest stay', async () => {
  write('journal/journal.sqlite', 'rows')
  for (const [at, version] of ['1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.4.0'].entries()) await markVersion(dir, version, 100 + at)
  expect([...kept()].sort()).toEqual(['1.1.0-102', '1.2.0-103', '1.3.0-104'])
})

test('when the copy cannot be made, the mark stays as it was and the caller hears of it', async () => {
  write('version.txt', '1.0.0\n')
  write('journal/journal.sqlite', 'rows')
  write('backups', 'a file in the way')
  await expect(markVersion(dir, '2.0.0', 1)).rejects.toThrow()
  expect(readFileSync(join(dir, 'version.txt'), 'utf8').trim()).toBe('1.0.0')
})

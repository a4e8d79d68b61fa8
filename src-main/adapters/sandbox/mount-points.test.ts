import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createMountPoints } from './mount-points.ts'

let dir: string
beforeEach(() => { dir = mkdtempSync(join(tmpdir(), 'mp-')) })
afterEach(() => { rmSync(dir, { recursive: true, force: true }) })

test('makes what is missing and takes it away again', async () => {
  const held = await createMountPoints().hold(dir, ['packages/a/node_modules'])
  expect(readdirSync(dir).sort()).toEqual(['.opencode', 'opencode.json', 'opencode.jsonc', 'packages'])
  if (held.ok) await held.value.release()
  expect(readdirSync(dir)).toEqual([])
})

test('leaves what the owner had as it was', async () => {
  mkdirSync(join(dir, '.opencode'))
  writeFileSync(join(dir, '.opencode', 'plugin.js'), 'evil()')
  writeFileSync(join(dir, 'opencode.json'), '')
  const held = await createMountPoints().hold(dir, [])
  if (held.ok) await held.value.release()
  expect(readdirSync(dir).sort()).toEqual(['.opencode', 'opencode.json'])
  expect(readFileSync(join(dir, '.opencode', 'plugin.js'), 'utf8')).toBe('evil()')
})

test('keeps mount points until the last sandbox of the workspace has gone', async () => {
  const points = createMountPoints()
  const [first, second] = await Promise.all([points.hold(dir, []), points.hold(dir, ['vendor'])])
  if (!first.ok || !second.ok) throw new Error('refused')
  await first.value.release()
  await first.value.release()
  expect(existsSync(join(dir, 'opencode.json'))).toBe(true)
  await second.value.release()
  expect(readdirSync(dir)).toEqual([])
})

test('never removes what somebody put there meanwhile', async () => {
  const held = await createMountPoints().hold(dir, ['vendor'])
  writeFileSync(join(dir, 'vendor', 'file'), 'kept')
  writeFileSync(join(dir, 'opencode.json'), 'kept')
  if (held.ok) await held.value.release()
  expect(readdirSync(dir).sort()).toEqual(['opencode.json', 'vendor'])
})

test.each([['.opencode', []], ['opencode.json', []], ['opencode.jsonc', []], ['vendor', ['vendor']], ['packages', ['packages/a/node_modules']]] as const)('refuses a link at %s and leaves nothing behind', async (name, folders) => {
  const outside = mkdtempSync(join(tmpdir(), 'mp-out-'))
  symlinkSync(outside, join(dir, name))
  const held = await createMountPoints().hold(dir, folders)
  expect(held).toMatchObject({ ok: false, error: { code: 'sandbox-failed' } })
  expect(readdirSync(dir)).toEqual([name])
  expect(readdirSync(outside)).toEqual([])
  rmSync(outside, { recursive: true })
})

test('refuses a dangling link too', async () => {
  symlinkSync('/nowhere/at/all', join(dir, 'opencode.json'))
  expect((await createMountPoints().hold(dir, [])).ok).toBe(false)
})

test('covers a folder that stands where a file is expected', async () => {
  mkdirSync(join(dir, 'opencode.json'))
  const held = await createMountPoints().hold(dir, [])
  expect(held.ok && held.value.masks).toContainEqual({ path: 'opencode.json', kind: 'folder' })
})

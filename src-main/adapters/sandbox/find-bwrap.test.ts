import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findBwrap, isTooOld } from './find-bwrap.ts'

let dir: string
beforeEach(() => { dir = mkdtempSync(join(tmpdir(), 'fb-')) })
afterEach(() => { rmSync(dir, { recursive: true, force: true }) })

/** A program that answers `--version` with these words. */
function put(folder: string, says: string, mode = 0o755): string {
  mkdirSync(join(dir, folder), { recursive: true })
  const path = join(dir, folder, 'bwrap')
  writeFileSync(path, `#!/bin/sh\necho "${says}"\n`)
  chmodSync(path, mode)
  return path
}
const folders = (): readonly string[] => [join(dir, 'usr'), join(dir, 'local')]

test('the system\'s is taken before the one that ships, the first folder\'s before the next', async () => {
  const [bundledBwrapPath, second, first] = [put('app', 'bubblewrap 0.11.0'), put('local', 'bubblewrap 0.9.0'), put('usr', 'bubblewrap 0.8.0')]
  expect(await findBwrap({ bundledBwrapPath }, folders())).toEqual({ path: first, why: null })
  rmSync(first)
  expect(await findBwrap({ bundledBwrapPath }, folders())).toEqual({ path: second, why: null })
})

test('the one that ships is taken where the system has none, and it is said', async () => {
  const bundledBwrapPath = put('app', 'bubblewrap 0.8.0')
  expect(await findBwrap({ bundledBwrapPath }, folders())).toEqual({ path: bundledBwrapPath, why: 'it ships with the app; the system has none' })
})

test('and where the system\'s is too old, until that is replaced', async () => {
  const bundledBwrapPath = put('app', 'bubblewrap 0.8.0')
  const system = put('usr', 'bubblewrap 0.4.1')
  expect(await findBwrap({ bundledBwrapPath }, folders())).toEqual({ path: bundledBwrapPath, why: 'it ships with the app; the system\'s is too old (bubblewrap 0.4.1)' })
  put('usr', 'bubblewrap 0.10.0')
  expect(await findBwrap({ bundledBwrapPath }, folders())).toEqual({ path: system, why: null })
})

test('the system\'s stays, old as it is, where nothing ships that can be run', async () => {
  const system = put('usr', 'bubblewrap 0.4.1')
  expect(await findBwrap({}, folders())).toEqual({ path: system, why: null })
  expect(await findBwrap({ bundledBwrapPath: join(dir, 'missing') }, folders())).toEqual({ path: system, why: null })
  expect(await findBwrap({ bundledBwrapPath: put('app', 'bubblewrap 0.8.0', 0o644) }, folders())).toEqual({ path: system, why: null })
})

test('a given one is the only one, and where there is none at all that is the answer', async () => {
  put('usr', 'bubblewrap 0.8.0')
  expect(await findBwrap({ bwrapPath: join(dir, 'missing'), bundledBwrapPath: put('app', 'bubblewrap 0.8.0') }, folders())).toBe(null)
  rmSync(join(dir, 'usr/bwrap'))
  expect(await findBwrap({}, folders())).toBe(null)
})

test.each([['bubblewrap 0.8.0', false], ['bubblewrap 0.7.9', true], ['bubblewrap 0.10.1', false], ['bubblewrap 1.0.0', false], ['bubblewrap 0.4.1', true], ['nonsense', false], [null, false]])('%s is too old: %s', (version, tooOld) => {
  expect(isTooOld(version)).toBe(tooOld)
})

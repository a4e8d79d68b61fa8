import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Mount } from '../../../src-preload/contract/task.ts'
import { planMounts } from './chosen-mounts.ts'

let dir: string
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'cm-')))
  mkdirSync(join(dir, 'node_modules'))
  writeFileSync(join(dir, 'file'), '')
})
afterEach(() => { rmSync(dir, { recursive: true, force: true }) })

const dependency = (change: Partial<Mount> = {}): Mount => ({ id: 'm', kind: 'dependency', label: 'deps', hostPath: join(dir, 'node_modules'), into: 'node_modules', mode: 'read-only', pathEntry: null, ...change })
const toolchain = (change: Partial<Mount> = {}): Mount => dependency({ kind: 'toolchain', into: '/opt/node', pathEntry: '/opt/node/bin', ...change })

test('mounts dependencies below the workspace and toolchains where they want to be, read-only', async () => {
  symlinkSync(join(dir, 'node_modules'), join(dir, 'link'))
  expect(await planMounts([dependency({ hostPath: join(dir, 'link'), pathEntry: 'node_modules/.bin' }), toolchain()], [])).toEqual({
    ok: true,
    value: {
      dependencies: [{ from: join(dir, 'node_modules'), into: '/workspace/node_modules', write: false }], dependencyFolders: ['node_modules'],
      toolchains: [{ from: join(dir, 'node_modules'), into: '/opt/node', write: false }], pathEntries: ['/workspace/node_modules/.bin', '/opt/node/bin'],
    },
  })
})

test('finds the place inside of a PATH entry that was given as a host path', async () => {
  const planned = await planMounts([toolchain({ pathEntry: join(dir, 'node_modules', 'bin') })], [])
  expect(planned.ok && planned.value.pathEntries).toEqual(['/opt/node/bin'])
})

test('leaves out what was copied into the workspace, but not its PATH entry', async () => {
  const planned = await planMounts([dependency({ mode: 'copy', pathEntry: 'node_modules/.bin' })], [])
  expect(planned).toMatchObject({ ok: true, value: { dependencies: [], pathEntries: ['/workspace/node_modules/.bin'] } })
})

test.each<readonly [string, (at: string) => Mount]>([
  ['a place above the workspace', () => dependency({ into: '../out' })],
  ['an absolute place of a dependency', () => dependency({ into: '/usr/lib/x' })],
  ['the workspace itself', () => dependency({ into: '.' })],
  ['a place that is not normal', () => dependency({ into: 'a//b' })],
  ['a NUL in the place', () => dependency({ into: 'a\0b' })],
  ['a toolchain over the system', () => toolchain({ into: '/usr/local/node', pathEntry: null })],
  ['a toolchain in the workspace', () => toolchain({ into: '/workspace/x', pathEntry: null })],
  ['a toolchain over our scripts', () => toolchain({ into: '/opt/app', pathEntry: null })],
  ['a toolchain that covers our places', () => toolchain({ into: '/opt', pathEntry: null })],
  ['a toolchain over the agent\'s home', () => toolchain({ into: '/home', pathEntry: null })],
  ['a relative place of a toolchain', () => toolchain({ into: 'opt/node', pathEntry: null })],
  ['a PATH entry elsewhere', () => toolchain({ pathEntry: '/workspace/bin' })],
  ['a PATH entry that is two', () => toolchain({ pathEntry: '/opt/node/bin:/workspace' })],
  ['a PATH entry that climbs out', () => toolchain({ pathEntry: '/opt/node/../../workspace' })],
  ['a folder that does not exist', (at) => dependency({ hostPath: join(at, 'missing') })],
  ['a file', (at) => dependency({ hostPath: join(at, 'file') })],
  ['the root', () => dependency({ hostPath: '/' })],
  ['the owner\'s home', () => dependency({ hostPath: homedir() })],
  ['the folder that holds the app\'s sockets', (at) => dependency({ hostPath: at })],
  ['the host\'s processes', () => dependency({ hostPath: '/proc/self' })],
])('refuses %s', async (_what, mount) => {
  expect(await planMounts([mount(dir)], [join(dir, 'run')])).toMatchObject({ ok: false, error: { code: 'folder-refused' } })
})

test('refuses a link that leads to the owner\'s home', async () => {
  symlinkSync(homedir(), join(dir, 'innocent'))
  expect((await planMounts([dependency({ hostPath: join(dir, 'innocent') })], [])).ok).toBe(false)
})

import { extractFile, listPackage } from '@electron/asar'
import { FuseState, FuseV1Options, getCurrentFuseWire } from '@electron/fuses'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from '@playwright/test'
import { failpointNames } from '../../src-main/engine/failpoints.ts'

const unpacked = resolve(import.meta.dirname, '../../dist/linux-unpacked')
const inspectable = resolve(import.meta.dirname, '../../dist/inspectable/linux-unpacked')

/** All text of an unpacked app's bundles. */
function bundlesOf(folder: string): string {
  const archive = join(folder, 'resources/app.asar')
  const files = listPackage(archive, { isPack: false }).filter((file) => /^\/out\/.*\.(c?js|html)$/.test(file))
  expect(files.length).toBeGreaterThan(5)
  return files.map((file) => extractFile(archive, file.slice(1)).toString('utf8')).join('\n')
}

test('ships no failpoint; what tests steer has every one of them', () => {
  const traces = [...failpointNames, 'COUNTERSIGN_FAILPOINT']
  const shipped = bundlesOf(unpacked)
  expect(traces.filter((name) => shipped.includes(name))).toEqual([])
  const steered = bundlesOf(inspectable)
  expect(traces.filter((name) => !steered.includes(name))).toEqual([])
})

test('ships with every fuse that opens the app to others turned off', async () => {
  const wire = await getCurrentFuseWire(join(unpacked, 'countersign'))
  const off = [
    FuseV1Options.RunAsNode,
    FuseV1Options.EnableNodeOptionsEnvironmentVariable,
    FuseV1Options.EnableNodeCliInspectArguments,
    FuseV1Options.GrantFileProtocolExtraPrivileges,
  ]
  expect(off.map((fuse) => wire[fuse])).toEqual(off.map(() => FuseState.DISABLE))
  const on = [FuseV1Options.OnlyLoadAppFromAsar, FuseV1Options.EnableEmbeddedAsarIntegrityValidation, FuseV1Options.EnableCookieEncryption]
  expect(on.map((fuse) => wire[fuse])).toEqual(on.map(() => FuseState.ENABLE))
})

test('ships its own bundles and nothing else in the archive', () => {
  const files = listPackage(join(unpacked, 'resources/app.asar'), { isPack: false })
  expect(files).toContain('/out/main/index.cjs')
  expect(files.filter((file) => file !== '/package.json' && !/^\/out($|\/(main|preload|renderer)($|\/))/.test(file))).toEqual([])
})

test('ships the coder, the SQLite addon and the licences beside it, and no default app', () => {
  const shipped = ['opencode/opencode', 'native/better_sqlite3.node', 'verify-export.mjs', 'licences/LICENSE.txt', 'licences/THIRD-PARTY.txt']
  expect(shipped.filter((name) => !existsSync(join(unpacked, 'resources', name)))).toEqual([])
  expect(existsSync(join(unpacked, 'resources/default_app.asar'))).toBe(false)
})

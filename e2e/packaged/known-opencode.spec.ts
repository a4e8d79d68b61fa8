import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { give, newOwnerFolder } from '../owner-folder.ts'

let ownerFolder: string
test.beforeEach(() => { ownerFolder = newOwnerFolder() })
test.afterEach(() => { rmSync(ownerFolder, { recursive: true, force: true }) })
// Several starts, which a busy machine takes its time for.
test.setTimeout(240_000)

test('the OpenCode that comes with the app is known by its package, and not asked', async () => {
  const app = await App.launch({ ownerFolder })
  try {
    await expect.poll(async () => (await app.call('app.info', {})).versions.openCode, { timeout: 60_000 }).toBe('1.18.30')
    expect(existsSync(join(app.userData, 'opencode-versions.json')), 'nothing was asked that could be kept').toBe(false)
  } finally {
    await app.close()
  }
})

test('an OpenCode that told its version is known at the next start; another file, and a record that is not the app\'s, have it asked again', async () => {
  // Another one than the app's own.
  const copy = join(ownerFolder, 'opencode')
  copyFileSync(resolve(import.meta.dirname, '../../dist/inspectable/linux-unpacked/resources/opencode/opencode'), copy)
  give(copy)
  const recordPath = (app: App): string => join(app.userData, 'opencode-versions.json')
  /** The version that a start of the app knows, after the record was changed. */
  const versionAfter = async (change: (record: string) => string): Promise<string> => {
    const app = await App.launch({ ownerFolder, env: { COUNTERSIGN_OPENCODE_BIN: copy } })
    try {
      const known = async (): Promise<string | null> => (await app.call('app.info', {})).versions.openCode
      // A look that takes longer than its bound says nothing; it is made again.
      await expect.poll(known, { timeout: 90_000 }).not.toBeNull()
      const version = await known()
      await expect.poll(() => existsSync(recordPath(app)), 'it is written down').toBe(true)
      return version!
    } finally {
      await app.close()
      writeFileSync(recordPath(app), change(readFileSync(recordPath(app), 'utf8')))
      give(recordPath(app))
    }
  }
  const told = await versionAfter((record) => record.replace(/"version": "[^"]+"/, '"version": "1.18.999"'))
  expect(told).toMatch(/^1\.18\.\d+$/)
  // Nobody but the record says so: the binary was not run.
  expect(await versionAfter((record) => record.replace(/"inode": "\d+"/, '"inode": "1"'))).toBe('1.18.999')
  expect(await versionAfter(() => '{"format": 1, "files": ['), 'another file').toBe(told)
  expect(await versionAfter((record) => record), 'a broken record').toBe(told)
})

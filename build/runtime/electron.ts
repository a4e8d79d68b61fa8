import { downloadArtifact } from '@electron/get'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { cacheFolder } from './cache-folder.ts'
import { officialRetryMs, officialStallMs, standIn } from './pins.ts'
import { run } from './run-command.ts'
import { makeStandIn } from './stand-in.ts'

export interface ElectronRuntime {
  /** The unpacked distribution, as electron-builder's `electronDist` wants it. */
  readonly folder: string
  readonly executable: string
  readonly version: string
  /** True for the runtime that is only for tests and trials. */
  readonly standIn: boolean
}

const packageFolder = resolve(import.meta.dirname, '../../node_modules/electron')

/**
 * Electron for this machine: the official one of package.json's version where it can be had, else the stand-in.
 * A failed download is remembered for a day, so that a machine without it starts fast.
 */
export async function electronRuntime(): Promise<ElectronRuntime> {
  const version = officialVersion()
  if (officialIsUnpacked(version)) return official(version)
  if (!failedLately()) {
    const failure = await downloadOfficial(version)
    if (failure === null) return official(version)
    console.log(`set-up: Electron ${version} cannot be downloaded here (${failure})`)
    await mkdir(cacheFolder(), { recursive: true })
    writeFileSync(failureStamp(version), `${failure}\n`)
  }
  const folder = await makeStandIn()
  console.log(`set-up: using Electron ${standIn.electronVersion}, a stand-in for tests and trials only`)
  return { folder, executable: join(folder, 'electron'), version: standIn.electronVersion, standIn: true }
}

function officialVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'))
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest && typeof manifest.version === 'string') return manifest.version
  throw new Error('node_modules/electron/package.json names no version: run npm ci')
}

function officialIsUnpacked(version: string): boolean {
  const [stated, path] = [join(packageFolder, 'dist/version'), join(packageFolder, 'path.txt')]
  return existsSync(path) && existsSync(stated) && readFileSync(stated, 'utf8').trim().replace(/^v/, '') === version
}

function official(version: string): ElectronRuntime {
  const folder = join(packageFolder, 'dist')
  return { folder, executable: join(folder, readFileSync(join(packageFolder, 'path.txt'), 'utf8')), version, standIn: false }
}

function failureStamp(version: string): string {
  return join(cacheFolder(), `electron-${version}-unreachable`)
}

function failedLately(): boolean {
  const stamp = failureStamp(officialVersion())
  return existsSync(stamp) && Date.now() - statSync(stamp).mtimeMs < officialRetryMs
}

/** Downloads and unpacks; gives the reason when it fails or when no byte came for `officialStallMs`. */
async function downloadOfficial(version: string): Promise<string | null> {
  const stalled = new AbortController()
  const watch = setTimeout(() => {
    stalled.abort(new Error(`no byte for ${officialStallMs} ms`))
  }, officialStallMs)
  try {
    await downloadArtifact({
      version,
      artifactName: 'electron',
      platform: process.platform,
      arch: process.arch,
      checksums: knownChecksums(),
      downloadOptions: {
        signal: stalled.signal,
        getProgressCallback: () => {
          watch.refresh()
          return Promise.resolve()
        },
      },
    })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return causeOf(error)
  } finally {
    clearTimeout(watch)
  }
  // The package's own installer finds the archive in its cache, checks it again and unpacks it.
  await run(process.execPath, [join(packageFolder, 'install.js')])
  return null
}

function knownChecksums(): Record<string, string> {
  const parsed: unknown = JSON.parse(readFileSync(join(packageFolder, 'checksums.json'), 'utf8'))
  if (typeof parsed !== 'object' || parsed === null) throw new Error('node_modules/electron/checksums.json is no object')
  return Object.fromEntries(Object.entries(parsed).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

function causeOf(error: Error): string {
  const { cause } = error
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.message
}

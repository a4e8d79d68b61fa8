import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { openCodeVersion } from './pins.ts'

const root = resolve(import.meta.dirname, '../..')
const target = join(root, 'node_modules/.cache/THIRD-PARTY.txt')

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly dependencies: readonly string[]
}

/**
 * Writes the licence texts of everything that is bundled into the app: package.json's dependencies and all that they depend on.
 * Electron's and Chromium's own notices stand beside the executable. Gives the file's path.
 * @throws when a package names no licence
 */
export async function writeThirdPartyNotices(): Promise<string> {
  const sections = [openCodeNotice, ...[...shippedPackages()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([folder, manifest]) => notice(folder, manifest))]
  await mkdir(dirname(target), { recursive: true })
  await writeFile(target, sections.join(`\n${'-'.repeat(80)}\n\n`))
  return target
}

const openCodeNotice = `opencode ${openCodeVersion}\nLicence: MIT, Copyright (c) 2025 opencode. Shipped unchanged as a separate program.\n`

function shippedPackages(): Map<string, Manifest> {
  const found = new Map<string, Manifest>()
  const visit = (fromFolder: string, name: string): void => {
    const folder = locate(fromFolder, name)
    // A platform's optional or a peer that nobody installed ships with nothing.
    if (folder === null || found.has(folder)) return
    const manifest = readManifest(folder)
    found.set(folder, manifest)
    for (const dependency of manifest.dependencies) visit(folder, dependency)
  }
  for (const dependency of readManifest(root).dependencies) visit(root, dependency)
  return found
}

/** Finds a package the way Node does: in node_modules of this folder or of one above it. */
function locate(fromFolder: string, name: string): string | null {
  for (let folder = fromFolder; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name)
    if (existsSync(join(candidate, 'package.json'))) return candidate
    if (folder === root || folder === dirname(folder)) return null
  }
}

function readManifest(folder: string): Manifest {
  const parsed: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (!isRecord(parsed)) throw new Error(`${folder}/package.json is no object`)
  const { name, version, license, dependencies } = parsed
  if (typeof name !== 'string' || typeof version !== 'string' || typeof license !== 'string') {
    throw new Error(`${folder}/package.json lacks a name, a version or a licence`)
  }
  return { name, version, license, dependencies: isRecord(dependencies) ? Object.keys(dependencies) : [] }
}

function notice(folder: string, { name, version, license }: Manifest): string {
  const texts = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file)).toSorted()
  return [`${name} ${version}`, `Licence: ${license}`, '', ...texts.map((file) => readFileSync(join(folder, file), 'utf8').trim()), ''].join('\n')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

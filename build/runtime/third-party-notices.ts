import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { bubblewrap, openCodeVersion } from './pins.ts'

const root = resolve(import.meta.dirname, '../..')
const target = join(root, 'node_modules/.cache/THIRD-PARTY.txt')

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly author: string
  readonly dependencies: readonly string[]
}

/**
 * Writes the licence texts of everything that is bundled into the app: package.json's dependencies and all that they depend on.
 * Electron's and Chromium's own notices stand beside the executable. Gives the file's path.
 * @throws when a package names no licence
 */
export async function writeThirdPartyNotices(): Promise<string> {
  await mkdir(dirname(target), { recursive: true })
  await writeFile(target, thirdPartyNotices().join(sectionBreak))
  return target
}

const sectionBreak = `\n${'-'.repeat(80)}\n\n`

/** One section for each thing that ships: name and version, licence, and its texts. */
export function thirdPartyNotices(): readonly string[] {
  return [openCodeNotice, bubblewrapNotice, ...[...shippedPackages()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([folder, manifest]) => notice(folder, manifest))]
}

/** What every copy of something under this licence has to carry. `copyright`: one line. */
function mitText(copyright: string): string {
  return `${copyright}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`
}

// Its package on the registry brings no text along.
const openCodeNotice = `opencode ${openCodeVersion}\nLicence: MIT\n\nShipped unchanged as a separate program.\n\n${mitText('Copyright (c) 2025 opencode')}\n`

const bubblewrapNotice = `bubblewrap ${bubblewrap.version}\nLicence: LGPL-2.0-or-later\n\nLinux packages bring it along as a separate program, built unchanged, in resources/bwrap/: the program, the text of its licence (COPYING) and the whole source that it was made from (bubblewrap-${bubblewrap.version}.tar.xz).\n\nCopyright (C) 2016 Alexander Larsson\n`

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
  const { name, version, license, dependencies, author } = parsed
  if (typeof name !== 'string' || typeof version !== 'string' || typeof license !== 'string') {
    throw new Error(`${folder}/package.json lacks a name, a version or a licence`)
  }
  return { name, version, license, author: authorOf(author) ?? `The authors of ${name}`, dependencies: isRecord(dependencies) ? Object.keys(dependencies) : [] }
}

/** As npm has it: "Name <address> (site)", or an object with a name. */
function authorOf(author: unknown): string | null {
  const name = isRecord(author) ? author['name'] : author
  return typeof name === 'string' && name.trim() !== '' ? name.replace(/\s*[<(].*$/, '') : null
}

function notice(folder: string, { name, version, license, author }: Manifest): string {
  const texts = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file)).toSorted()
  // A few packages name their licence and bring no text of it.
  const own = texts.length === 0 && license === 'MIT' ? [mitText(`Copyright (c) ${author}`)] : texts.map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return [`${name} ${version}`, `Licence: ${license}`, '', ...own, ''].join('\n')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

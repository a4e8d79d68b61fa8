import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { cacheFolder } from './cache-folder.ts'
import { fetchTarball } from './npm-tarball.ts'
import { openCodeVersion } from './pins.ts'
import { run } from './run-command.ts'

const modules = resolve(import.meta.dirname, '../../node_modules')

interface System { readonly platform: NodeJS.Platform; readonly arch: string }

/** The file name of OpenCode's executable on `platform`. */
export function openCodeName(platform: NodeJS.Platform): string {
  return platform === 'win32' ? 'opencode.exe' : 'opencode'
}

/**
 * Path of a platform's OpenCode (default: this one's) in the pinned version: from node_modules where package-lock.json pins it (linux-x64),
 * else fetched once from the registry into the cache, under the registry's own integrity check.
 * @throws when the registry has none for that platform, or what it has holds no such program
 */
export async function openCodeBinary(target: System = process): Promise<string> {
  const installed = join(modules, packageName(target), executable(target))
  return existsSync(installed) ? installed : openCodeOf(openCodeVersion, null, target)
}

/**
 * Path of a platform's OpenCode (default: this one's) in any version, fetched once into the cache. `integrity`: what its tarball must have beside the registry's own
 * check; null where none is pinned for this platform. @throws when it cannot be fetched or is another one
 */
export async function openCodeOf(version: string, integrity: string | null, target: System = process): Promise<string> {
  const folder = join(cacheFolder(), `${packageName(target)}-${version}`)
  const path = join(folder, executable(target))
  if (!existsSync(path)) await fetchPackage(`${packageName(target)}@${version}`, folder, integrity)
  if (!existsSync(path)) throw new Error(`${packageName(target)}@${version} holds no ${executable(target)}`)
  return path
}

/** The npm package that holds a platform's OpenCode. */
export function packageName({ platform, arch }: System = process): string {
  return `opencode-${platform === 'win32' ? 'windows' : platform}-${arch}`
}

function executable({ platform }: System): string {
  return join('bin', openCodeName(platform))
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

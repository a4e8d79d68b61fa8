import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
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
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `opencode-${platform}-${process.arch}`
  const file = join('bin', openCodeName(process.platform))
  const installed = join(modules, name, file)
  if (existsSync(installed)) return installed
  const folder = join(cacheFolder(), `${name}-${openCodeVersion}`)
  if (!existsSync(join(folder, file))) await fetchPackage(`${name}@${openCodeVersion}`, folder)
  return join(folder, file)
}

async function fetchPackage(spec: string, folder: string): Promise<void> {
  console.log(`set-up: fetching ${spec}`)
  await mkdir(cacheFolder(), { recursive: true })
  const work = await mkdtemp(join(cacheFolder(), 'fetching-'))
  try {
    await run('tar', ['xzf', await fetchTarball(spec, work), '-C', work])
    await rm(folder, { recursive: true, force: true })
    await rename(join(work, 'package'), folder)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

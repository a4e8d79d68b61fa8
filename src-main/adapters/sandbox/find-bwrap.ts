import { execFile } from 'node:child_process'
import { access, constants, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sandboxLimits } from './sandbox-limits.ts'

const execute = promisify(execFile)

/** `bwrapPath`: this one and no other. `bundledBwrapPath`: when the system has none, or one that is too old. */
export interface BwrapChoice { readonly bwrapPath?: string; readonly bundledBwrapPath?: string }

/** `why`: for a reader, why it is not the system's. */
export interface FoundBwrap { readonly path: string; readonly why: string | null }

/** The first with `--disable-userns`, without which a sandbox could make namespaces of its own. */
const oldestUsable = [0, 8] as const

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(() => true, () => false)
}

/** The first of the folders' programs of that name. */
export async function firstProgram(name: string, folders: readonly string[]): Promise<string | null> {
  for (const folder of folders) {
    const path = join(folder, name)
    if (await isExecutable(path)) return path
  }
  return null
}

const versions = new Map<string, string>()

/** What a bwrap says of itself, such as `bubblewrap 0.8.0`; null when it says nothing in time. Asked once, until it is another file. Throws what the disk says. */
export async function bwrapVersion(path: string): Promise<string | null> {
  const { mtimeMs, size } = await stat(path)
  const key = `${path} ${String(mtimeMs)} ${String(size)}`
  const known = versions.get(key)
  if (known !== undefined) return known
  const said = await execute(path, ['--version'], { timeout: sandboxLimits.probeMs, env: {} }).catch(() => null)
  const version = said?.stdout.trim() ?? ''
  // Not having answered in time says something about the moment.
  if (version === '') return null
  versions.set(key, version)
  return version
}

/** Whether such a version is known to lack what the sandbox needs. One that cannot be read is tried. */
export function isTooOld(version: string | null): boolean {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(version ?? '') ?? []
  if (major === undefined || minor === undefined) return false
  return Number(major) < oldestUsable[0] || (Number(major) === oldestUsable[0] && Number(minor) < oldestUsable[1])
}

/**
 * Where bwrap is: the given path, else the first in `folders` (the system's own, then the PATH), which AppArmor may know by its path, else what
 * ships with the app. Null: there is none.
 */
export async function findBwrap({ bwrapPath, bundledBwrapPath }: BwrapChoice, folders: readonly string[]): Promise<FoundBwrap | null> {
  if (bwrapPath !== undefined) return (await isExecutable(bwrapPath)) ? { path: bwrapPath, why: null } : null
  const system = await firstProgram('bwrap', folders)
  const bundled = bundledBwrapPath !== undefined && (await isExecutable(bundledBwrapPath)) ? bundledBwrapPath : null
  if (bundled === null) return system === null ? null : { path: system, why: null }
  if (system === null) return { path: bundled, why: 'it ships with the app; the system has none' }
  const version = await bwrapVersion(system)
  return isTooOld(version) ? { path: bundled, why: `it ships with the app; the system's is too old (${version ?? ''})` } : { path: system, why: null }
}

import { stat, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { posix } from 'node:path'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { Mount } from '../../../src-preload/contract/task.ts'
import type { Bind } from './bubblewrap-arguments.ts'
import { insidePaths } from './inside-paths.ts'

/** What the owner's chosen folders come to. */
export interface MountPlan {
  /** Dependencies, mounted below the workspace in every sandbox. */
  readonly dependencies: readonly Bind[]
  /** Their places, relative to the workspace. */
  readonly dependencyFolders: readonly string[]
  /** Toolchains, mounted where they want to be, for commands only. */
  readonly toolchains: readonly Bind[]
  readonly pathEntries: readonly string[]
}

/** Places inside that belong to the sandbox; no chosen folder may cover, hold or lie in them. */
const ownPlaces = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/proc', '/sys', '/dev', '/run', '/tmp', insidePaths.workspace, insidePaths.home, insidePaths.app, insidePaths.tools, posix.dirname(insidePaths.openCode)] as const

/** Host folders that are never a dependency or a toolchain, whole or as a part of what is mounted. */
const neverWhole = ['/', '/proc', '/sys', '/dev', '/run', '/etc', '/var', '/home', '/root'] as const

const within = (path: string, folder: string): boolean => path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)
const isClean = (path: string): boolean => path.length > 0 && !path.includes('\0') && posix.normalize(path) === path && !path.split('/').includes('..')

const refuse = (mount: Mount, why: string): { readonly ok: false; readonly error: Failure } =>
  err(failure('folder-refused', `“${mount.label}” cannot be mounted: ${why}.`, 'Choose another folder for it, or start the task without it.'))

async function realFolder(path: string): Promise<string | null> {
  const real = await realpath(path).catch(() => null)
  const found = real === null ? null : await stat(real).catch(() => null)
  return found?.isDirectory() === true ? real : null
}

/** Where `pathEntry` is inside: relative to the workspace for dependencies; below `into` when it was given as a host path. */
function entryInside(mount: Mount, into: string): string | null {
  if (mount.pathEntry === null) return null
  const entry = mount.pathEntry
  if (!entry.startsWith('/')) return posix.join(mount.kind === 'dependency' ? insidePaths.workspace : into, entry)
  return within(entry, mount.hostPath) ? into + entry.slice(mount.hostPath.length) : entry
}

/** Whether an absolute place inside is free for a folder from outside. */
export function isFreePlace(into: string): boolean {
  return isClean(into) && into.startsWith('/') && into !== '/' && !ownPlaces.some((place) => within(into, place) || within(place, into))
}

function placeOf(mount: Mount): Result<string, Failure> {
  if (!isClean(mount.into)) return refuse(mount, 'its place inside is not a plain path')
  if (mount.kind === 'dependency') {
    if (mount.into.startsWith('/') || mount.into === '.' || mount.into.endsWith('/')) return refuse(mount, 'its place must be a folder below the workspace')
    return ok(`${insidePaths.workspace}/${mount.into}`)
  }
  if (!isFreePlace(mount.into)) return refuse(mount, 'its place inside must be an absolute path that does not belong to the sandbox')
  return ok(mount.into.replace(/\/$/, ''))
}

/** What a folder must not give away by being mounted whole: the owner's home and the app's own sockets. */
function givesAway(real: string, guarded: readonly string[]): boolean {
  return neverWhole.some((path) => path === real) || ['/proc', '/sys', '/dev'].some((path) => within(real, path)) || guarded.some((path) => within(path, real))
}

/**
 * Checks the owner's chosen folders and says how they are mounted, all read-only. Mounts of mode `copy` are files of the
 * workspace already and are left out. Fails with `folder-refused`. `guarded`: host folders that no mount may contain.
 */
export async function planMounts(mounts: readonly Mount[], guarded: readonly string[]): Promise<Result<MountPlan, Failure>> {
  const dependencies: Bind[] = []
  const toolchains: Bind[] = []
  const pathEntries: string[] = []
  for (const mount of mounts) {
    const place = placeOf(mount)
    if (!place.ok) return place
    const entry = entryInside(mount, place.value)
    if (entry !== null && (!isClean(entry) || entry.includes(':') || !within(entry, mount.kind === 'dependency' ? insidePaths.workspace : place.value))) return refuse(mount, 'its PATH entry lies outside of it')
    if (entry !== null) pathEntries.push(entry)
    if (mount.mode === 'copy') continue
    const real = await realFolder(mount.hostPath)
    if (real === null) return refuse(mount, 'its folder does not exist')
    if (givesAway(real, [homedir(), ...guarded])) return refuse(mount, 'that would show the owner\'s home or the app\'s own files')
    ;(mount.kind === 'dependency' ? dependencies : toolchains).push({ from: real, into: place.value, write: false })
  }
  return ok({ dependencies, toolchains, pathEntries, dependencyFolders: dependencies.map((bind) => bind.into.slice(insidePaths.workspace.length + 1)) })
}

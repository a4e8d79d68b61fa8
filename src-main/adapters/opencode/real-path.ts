import { closeSync, fstatSync, lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { join, posix } from 'node:path'
import { roomName, workspaceRoot } from '../../core/approval/path-pattern.ts'
import type { CoderSignal } from '../../engine/ports.ts'
import { openBelow } from './held-folder.ts'

const linksMax = 40
const workspaceName = workspaceRoot.slice(1)
/** Of a larger file an edit is not worked out a second time. */
export const baseBytesMax = 1024 * 1024

/** A workspace: its folder on the host, and what programs inside, and so the links that they make, call it. */
export interface WorkspacePlace { readonly workspaceDir: string; readonly workspaceInside: string }

/**
 * Where a path leads when each link on its way is followed. It is given and told as the room names it. Only names below the workspace are
 * looked at, and no link is followed by the operating system: one that leads elsewhere is told as where it points. Names that do not exist
 * stay as they are, and `..` is the folder above the one that was reached, not above the one that is written. Null when it cannot be told: too
 * many links, a folder that cannot be read, or a way back from where nothing is looked at.
 */
export function realPathInside({ workspaceDir, workspaceInside }: WorkspacePlace, path: string): string | null {
  let left = namesOf(path)
  let real: string[] = []
  let links = 0
  while (left.length > 0) {
    const [name = '', ...rest] = left
    if (name === '..') {
      if (real.length > 0 && real[0] !== workspaceName) return null
      real = real.slice(0, -1)
      left = rest
      continue
    }
    const at = [...real, name]
    const target = linkAt(workspaceDir, at)
    if (target === undefined) return null
    if (target === null) { real = at; left = rest; continue }
    links += 1
    if (links > linksMax) return null
    left = [...namesOf(target.startsWith('/') ? roomName(workspaceInside, target) : target), ...rest]
    if (target.startsWith('/')) real = []
  }
  return `/${real.join('/')}`
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.')
}

/** What the link at this path says; null when it is no link or lies outside the workspace; undefined when it cannot be read. */
function linkAt(workspaceDir: string, names: readonly string[]): string | null | undefined {
  const [root, ...below] = names
  if (root !== workspaceName || below.length === 0) return null
  const host = join(workspaceDir, ...below)
  try {
    return lstatSync(host).isSymbolicLink() ? readlinkSync(host) : null
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : null
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : undefined
  }
}

/** What a file of the workspace holds, opened where `real` says. */
function heldIn(workspaceDir: string, real: string, bytesMax: number): Pick<SeenFile, 'text' | 'pinned'> {
  const below = namesOf(real).slice(1)
  if (!real.startsWith(`${workspaceRoot}/`) || below.length === 0) return { text: undefined, pinned: true }
  const file = openBelow(workspaceDir, below)
  if (file === 'elsewhere') return { text: undefined, pinned: false }
  if (file === null || file === undefined) return { text: file, pinned: true }
  try {
    const found = fstatSync(file)
    if (!found.isFile() || found.size > bytesMax) return { text: undefined, pinned: true }
    return { text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(readFileSync(file)), pinned: true }
  } catch {
    // A disk that does not read: then nothing is told of the file.
    return { text: undefined, pinned: true }
  } finally {
    closeSync(file)
  }
}

/**
 * A file that an edit names, as it is found: where it leads, where the folder that it is written in leads, and what it holds (null: there is none;
 * undefined: that cannot be told). Not `pinned`: when it was opened, something was on the way that is not on the way to `real`. Either it was swapped
 * in between, or there can be no file.
 */
export interface SeenFile { readonly path: string; readonly real: string | null; readonly folder: string | null; readonly text: string | null | undefined; readonly pinned: boolean }

/** Looks at a file, as the room names it. A relative name is the runtime's own: nothing is looked at. */
export function lookAt(at: WorkspacePlace, path: string, bytesMax: number): SeenFile {
  if (!path.startsWith('/')) return { path, real: null, folder: null, text: undefined, pinned: true }
  const real = realPathInside(at, path)
  return { path, real, folder: realPathInside(at, posix.dirname(path)), ...(real === null ? { text: undefined, pinned: true } : heldIn(at.workspaceDir, real, bytesMax)) }
}

/** The signal with what was seen of the files that it names, in their order. A relative name is the runtime's own and stays without a real path. */
export function withSeenFiles(signal: Extract<CoderSignal, { is: 'permission-asked' }>, seen: readonly SeenFile[]): Extract<CoderSignal, { is: 'permission-asked' }> {
  const files = seen.map(({ path, real }) => ({ path, real }))
  if (signal.edit === undefined) return { ...signal, files }
  return { ...signal, files, edit: { ...signal.edit, bases: seen.flatMap(({ path, text }) => (text === undefined ? [] : [{ path, text }])) } }
}

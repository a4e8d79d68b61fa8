import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { CoderSignal } from '../../engine/ports.ts'
import { inside } from './launch-config.ts'

const linksMax = 40
const workspaceName = inside.workspace.slice(1)
/** Of a larger file an edit is not worked out a second time. */
const baseBytesMax = 1024 * 1024

/**
 * Where a path of the sandbox leads when each link on its way is followed, as a path of the sandbox again. Only names below the workspace are
 * looked at, and no link is followed by the operating system: one that leads elsewhere is told as where it points. Names that do not exist
 * stay as they are, and `..` is the folder above the one that was reached, not above the one that is written. Null when it cannot be told: too
 * many links, a folder that cannot be read, or a way back from where nothing is looked at.
 */
export function realPathInside(workspaceDir: string, path: string): string | null {
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
    left = [...namesOf(target), ...rest]
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

/** What a file of the workspace holds; null when there is none; undefined when it cannot be read whole, or when what was opened is not where its path says: a folder on the way became a link meanwhile. */
function textInside(workspaceDir: string, real: string): string | null | undefined {
  const below = namesOf(real).slice(1)
  if (!real.startsWith(`${inside.workspace}/`) || below.length === 0) return undefined
  let file: number
  try {
    file = openSync(join(workspaceDir, ...below), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (cause) {
    return cause instanceof Error && 'code' in cause && cause.code === 'ENOENT' ? null : undefined
  }
  try {
    const { size } = fstatSync(file)
    if (!fstatSync(file).isFile() || size > baseBytesMax || readlinkSync(`/proc/self/fd/${file}`) !== join(realpathSync(workspaceDir), ...below)) return undefined
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(readFileSync(file))
  } catch {
    // A system that does not say what was opened, or a disk that does not read: then nothing is told of the file.
    return undefined
  } finally {
    closeSync(file)
  }
}

/** The signal with the real paths of the files that it names, and what those hold. A relative name is the runtime's own and stays without one. */
export function withRealPaths(workspaceDir: string, signal: CoderSignal): CoderSignal {
  if (signal.is !== 'permission-asked') return signal
  const files = signal.files.map(({ path }) => ({ path, real: path.startsWith('/') ? realPathInside(workspaceDir, path) : null }))
  if (signal.edit === undefined) return { ...signal, files }
  const bases = files.flatMap(({ path, real }) => {
    const text = real === null ? undefined : textInside(workspaceDir, real)
    return text === undefined ? [] : [{ path, text }]
  })
  return { ...signal, files, edit: { ...signal.edit, bases } }
}

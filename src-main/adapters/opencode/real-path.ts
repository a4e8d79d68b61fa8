import { lstatSync, readlinkSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { CoderSignal } from '../../engine/ports.ts'
import { inside } from './launch-config.ts'

const linksMax = 40

/**
 * Where a path of the sandbox leads when each link on its way is followed, as a path of the sandbox again. Only names below the workspace are
 * looked at, and no link is followed by the operating system: one that leads elsewhere is told as where it points. Names that do not exist
 * stay as they are. Null when it cannot be told: too many links, or a folder that cannot be read.
 */
export function realPathInside(workspaceDir: string, path: string): string | null {
  let left = namesOf(path)
  let real: string[] = []
  let links = 0
  while (left.length > 0) {
    const [name = '', ...rest] = left
    const at = [...real, name]
    const target = linkAt(workspaceDir, at)
    if (target === undefined) return null
    if (target === null) { real = at; left = rest; continue }
    links += 1
    if (links > linksMax) return null
    left = [...namesOf(posix.resolve(`/${real.join('/')}`, target)), ...rest]
    real = []
  }
  return `/${real.join('/')}`
}

function namesOf(path: string): string[] {
  return posix.normalize(path).split('/').filter((name) => name !== '')
}

/** What the link at this path says; null when it is no link or lies outside the workspace; undefined when it cannot be read. */
function linkAt(workspaceDir: string, names: readonly string[]): string | null | undefined {
  const [root, ...below] = names
  if (`/${root ?? ''}` !== inside.workspace || below.length === 0) return null
  const host = join(workspaceDir, ...below)
  try {
    return lstatSync(host).isSymbolicLink() ? readlinkSync(host) : null
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : null
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : undefined
  }
}

/** The signal with the real paths of the files that it names. A relative name is the runtime's own and stays without one. */
export function withRealPaths(workspaceDir: string, signal: CoderSignal): CoderSignal {
  return signal.is === 'permission-asked' ? { ...signal, files: signal.files.map(({ path }) => ({ path, real: path.startsWith('/') ? realPathInside(workspaceDir, path) : null })) } : signal
}

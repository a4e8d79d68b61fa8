import { basename, join, posix } from 'node:path'
import { lstat } from 'node:fs/promises'
import type { Mount } from '../../../src-preload/contract/task.ts'
import { unless } from './fault.ts'

/** Folders that tests need and git ignores. `copy` where tools write into them; else they are shared read-only. */
const known: Readonly<Record<string, { readonly mode: Mount['mode']; readonly what: string }>> = {
  node_modules: { mode: 'read-only', what: 'npm packages' }, bower_components: { mode: 'read-only', what: 'bower packages' },
  '.venv': { mode: 'read-only', what: 'Python environment' }, venv: { mode: 'read-only', what: 'Python environment' }, env: { mode: 'read-only', what: 'Python environment' },
  vendor: { mode: 'read-only', what: 'vendored packages' }, Pods: { mode: 'read-only', what: 'CocoaPods' }, deps: { mode: 'read-only', what: 'packages' },
  target: { mode: 'copy', what: 'build output' }, build: { mode: 'copy', what: 'build output' }, _build: { mode: 'copy', what: 'build output' }, dist: { mode: 'copy', what: 'build output' }, '.gradle': { mode: 'copy', what: 'Gradle cache' },
}
const dependenciesMax = 16

/** Proposes mounts for the ignored folders that the walker met. `into` is the same path inside the workspace; the owner chooses. */
export async function proposeDependencies(root: string, ignoredFolders: readonly string[]): Promise<readonly Mount[]> {
  const proposals: Mount[] = []
  const near = [...ignoredFolders].sort((a, b) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1))
  for (const path of near) {
    const kind = known[basename(path)]
    if (kind === undefined || proposals.length >= dependenciesMax) continue
    const pathEntry = await binFolder(root, path)
    proposals.push({ id: `dependency:${path}`.slice(0, 100), kind: 'dependency', label: `${path} (${kind.what})`.slice(0, 200), hostPath: join(root, path), into: path, mode: kind.mode, pathEntry })
  }
  return proposals
}

/** Where a dependency folder keeps its commands, below the workspace; null when it has none. */
async function binFolder(root: string, path: string): Promise<string | null> {
  for (const bin of ['.bin', 'bin']) {
    const found = await unless(['ENOENT', 'ENOTDIR', 'EACCES'], lstat(join(root, path, bin)))
    // A colon cannot be part of a PATH entry.
    if (found?.isDirectory() === true && !path.includes(':') && (bin === '.bin' || basename(path) !== 'vendor')) return posix.join('/workspace', path, bin)
  }
  return null
}

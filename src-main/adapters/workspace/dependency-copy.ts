import { mkdir, realpath } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import type { Mount, TaskSource } from '../../../src-preload/contract/task.ts'
import { copyFound } from './copy-file.ts'
import { CountRules } from './count-rules.ts'
import { fault, unless } from './fault.ts'
import { walkTree, writesAtOnce } from './walk.ts'
import { failure } from '../../../src-preload/contract/failure.ts'

const filesMax = 200_000
const bytesMax = 4 * 2 ** 30

/** The dependency mounts of a source. Throws a WorkspaceFault when one does not name a place inside the workspace. */
export function dependencyMounts(source: TaskSource): readonly Mount[] {
  const mounts = source.kind === 'folder' ? source.mounts.filter((mount) => mount.kind === 'dependency') : []
  for (const mount of mounts) {
    if (mount.into !== posix.normalize(mount.into) || mount.into.startsWith('/') || mount.into.startsWith('..') || mount.into === '.' || mount.into.endsWith('/')) fault('invalid-input', `${mount.into} is no place inside the workspace.`, 'Choose the dependency again.')
  }
  return mounts
}

/**
 * Copies the dependencies that are to be copied into a workspace or clean copy, afresh from the owner's folder, so that nothing a coder did to
 * them reaches a verification. Links inside a dependency stay links; those that lead out of it are left out. Returns notes for the owner.
 */
export async function copyDependencies(source: TaskSource, workspace: string, signal: AbortSignal): Promise<readonly string[]> {
  const notes: string[] = []
  for (const mount of dependencyMounts(source)) {
    if (mount.mode !== 'copy') continue
    const from = await unless(['ENOENT', 'ENOTDIR', 'EACCES'], realpath(mount.hostPath))
    if (from === null) return fault('workspace-failed', `${mount.label} is not there any more.`, 'Install the dependencies again, or start the task without them.')
    const to = join(workspace, mount.into)
    await mkdir(dirname(to), { recursive: true })
    const everything = new CountRules({ prefix: '', sources: [], always: [], mountPoints: [], learns: false })
    const walked = await walkTree(from, everything, (found) => copyFound(found, [to]), {
      signal, atOnce: writesAtOnce, filesMax, bytesMax, tooLarge: () => failure('folder-refused', `${mount.label} is too large to copy.`, 'Share it read-only instead.'),
      onFolder: async (path) => { await mkdir(join(to, path), { recursive: true }) },
    })
    const out = walked.leftOut.length
    if (out > 0) notes.push(`${mount.label}: ${out} links that lead out, or special files, were left out.`)
  }
  return notes
}

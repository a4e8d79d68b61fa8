import { randomBytes } from 'node:crypto'
import { mkdir, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import type { Digest } from '../../../src-preload/contract/ids.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { Change } from './changes.ts'
import { copyFound } from './copy-file.ts'
import { copyDependencies } from './dependency-copy.ts'
import { compareWorkspace, readTree } from './diff.ts'
import { fault, unless } from './fault.ts'
import { staysInside, walkTree, writesAtOnce, type Found } from './walk.ts'
import { inFolderOf } from './pinned-folder.ts'
import { readlink } from 'node:fs/promises'
import { removeTree } from './remove-tree.ts'
import { sameEntry } from './tree.ts'
import type { Meta, TaskPaths } from './task-folder.ts'

export interface CleanCopy { readonly dir: string; readonly treeDigest: Digest; release(): Promise<void> }

/** Clean copies in use, so that leftovers of a crash can be told from them. */
const inUse = new Set<string>()

/**
 * Makes a fresh folder from the base and the changed files of the workspace, and proves by its digest that it is the tree that was shown.
 * Nothing else of the workspace gets into it: no ignored file, no dependency that a coder may have altered.
 */
export async function makeCleanCopy(paths: TaskPaths, meta: Meta, expected: Digest, signal: AbortSignal): Promise<Result<CleanCopy, Failure>> {
  const comparison = await compareWorkspace(paths, meta, signal)
  if (comparison.now.digest !== expected) return err(failure('digest-mismatch', 'The workspace is not any more the tree that the result names.', 'Let Bot B run again, or reject the result.'))
  await clearLeftovers(paths)
  const own = join(paths.verify, randomBytes(12).toString('hex'))
  const dir = join(own, 'workspace')
  inUse.add(own)
  const release = async (): Promise<void> => {
    await removeTree(own)
    inUse.delete(own)
  }
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 })
    const changed = new Set(comparison.changes.map((change) => change.path))
    await walkTree(paths.base, comparison.rules, async (found) => {
      if (!changed.has(found.path)) await copyFound(found, [dir])
    }, { signal, atOnce: writesAtOnce, filesMax: Number.MAX_SAFE_INTEGER, bytesMax: Number.MAX_SAFE_INTEGER, tooLarge: () => failure('internal', 'The base copy grew.', 'Report this.'), onFolder: async (path) => {
      // A folder of the base in whose place the coder put a file is not made.
      if (path !== '' && !changed.has(path)) await mkdir(join(dir, path), { recursive: true })
    } })
    for (const change of comparison.changes) await copyChange(change, paths.workspace, [dir])
    const made = await readTree(dir, comparison.rules, signal)
    if (made.digest !== expected) {
      await release()
      return err(failure('digest-mismatch', 'The clean copy is not the tree that the result names: the workspace changed meanwhile.', 'Verify again when nothing writes to the workspace.'))
    }
    await copyDependencies(meta.source, dir, signal)
    return ok({ dir, treeDigest: made.digest, release })
  } catch (error) {
    await release()
    throw error
  }
}

/** Copies what a change leaves at its path from the workspace to each of `roots`, and checks that it is what the change says. */
export async function copyChange(change: Change, workspace: string, roots: readonly string[]): Promise<void> {
  const { after, path } = change
  if (after === null) return
  for (const root of roots) await mkdir(dirname(join(root, path)), { recursive: true })
  const entry = await inFolderOf(workspace, path, async (folder, name) => {
    const stat = await folder.stat(name)
    if (stat === null) return null
    const target = stat.isSymbolicLink() ? await readlink(folder.at(name)) : null
    if (target !== null && !staysInside(path, target)) return null
    const found: Found = target === null ? { is: 'file', path, name, folder, stat } : { is: 'link', path, name, folder, stat, target }
    return copyFound(found, roots)
  })
  if (entry === null || !sameEntry(entry, after)) fault('workspace-failed', `${path} changed while it was being copied.`, 'Wait until nothing writes to the workspace and try again.')
}

async function clearLeftovers(paths: TaskPaths): Promise<void> {
  for (const name of (await unless(['ENOENT'], readdir(paths.verify))) ?? []) {
    const own = join(paths.verify, name)
    if (!inUse.has(own)) await removeTree(own)
  }
}

import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { digestSchema } from '../../../src-preload/contract/ids.ts'
import { fileChangeSchema } from '../../../src-preload/contract/task.ts'
import { failpoint, type Failing } from '../../engine/failpoints.ts'
import type { Clock, WorkspaceDiff } from '../../engine/ports.ts'
import { copyChange } from './clean-copy.ts'
import { diffDigestOf } from './changes.ts'
import { changedFilesMax, compareWorkspace, shownDiff, wholePatch, type Comparison } from './diff.ts'
import { fault, unless } from './fault.ts'
import { fitsPatch } from './patch-of-change.ts'
import { removeTree } from './remove-tree.ts'
import { readMeta, replaceFile, syncFolder, type Meta, type TaskPaths } from './task-folder.ts'
import { parseJson } from './tree.ts'

/**
 * Keeps what a task changed, then removes base, workspace, state and clean copies. The snapshot is complete on disk before anything is removed:
 * `changes.patch`, `files/` with every changed file whole, `review.json` for Review, and `summary.json`. A second call finds it done. An interrupted `prepare` (no record) is just removed.
 */
export async function disposeTask(paths: TaskPaths, clock: Clock, life: Failing = {}): Promise<void> {
  const meta = await readMeta(paths)
  if (meta === null) {
    await removeTree(paths.dir)
    return
  }
  if (meta.disposedAt === null) {
    await failpoint(life, 'dispose:before')
    await takeSnapshot(paths, meta)
    await failpoint(life, 'dispose:snapshot-kept')
    await replaceFile(paths.meta, JSON.stringify({ ...meta, disposedAt: clock.now() } satisfies Meta))
  }
  await failpoint(life, 'dispose:recorded')
  for (const dir of [paths.verify, paths.workspace, paths.state, paths.base]) await removeTree(dir)
  await removeTree(paths.manifest)
  await failpoint(life, 'dispose:after')
}

async function takeSnapshot(paths: TaskPaths, meta: Meta): Promise<void> {
  const signal = new AbortController().signal
  const comparison = await compareWorkspace(paths, meta, signal)
  const temp = `${paths.snapshot}.new`
  await removeTree(temp)
  await removeTree(paths.snapshot)
  try {
    await mkdir(join(temp, 'files'), { recursive: true, mode: 0o700 })
    await writeFile(join(temp, 'changes.patch'), await fittingPatch(comparison, paths, signal))
    for (const change of comparison.changes) await copyChange(change, paths.workspace, [join(temp, 'files')])
    if (comparison.changes.length <= changedFilesMax) await replaceFile(join(temp, 'review.json'), JSON.stringify(await shownDiff(comparison, paths, signal)))
    const changes = comparison.changes.map((change) => ({ path: change.path, status: change.is }))
    await replaceFile(join(temp, 'summary.json'), JSON.stringify({ version: 1, taskId: meta.taskId, baseDigest: meta.baseDigest, treeDigest: comparison.now.digest, diffDigest: diffDigestOf(comparison.changes), changes }, null, 2))
    await rename(temp, paths.snapshot)
    await syncFolder(paths.dir)
  } catch (error) {
    await removeTree(temp)
    throw error
  }
}

/** Files too large for a patch are in `files/` only. */
function fittingPatch(comparison: Comparison, paths: TaskPaths, signal: AbortSignal): Promise<string> {
  return wholePatch({ ...comparison, changes: comparison.changes.filter((change) => fitsPatch(change)) }, paths, signal)
}

/** What Review shows of a task whose workspace is gone; null where no snapshot holds it. Throws a WorkspaceFault when the file was damaged. */
export async function snapshotDiff(paths: TaskPaths): Promise<WorkspaceDiff | null> {
  const text = await unless(['ENOENT', 'ENOTDIR'], readFile(join(paths.snapshot, 'review.json'), 'utf8'))
  if (text === null) return null
  const parsed = diffSchema.safeParse(parseJson(text))
  return parsed.success ? { ...parsed.data, notes: parsed.data.notes ?? [] } : fault('workspace-failed', 'The snapshot of this task is damaged.', `Look into ${paths.snapshot}: changes.patch has the changes.`)
}

const diffSchema = z.object({ treeDigest: digestSchema, diffDigest: digestSchema, files: z.array(z.object({ change: fileChangeSchema, patch: z.string().nullable() })), notes: z.array(z.string()).optional() })

/** The patch that a disposed task left, or null. */
export async function snapshotPatch(paths: TaskPaths): Promise<string | null> {
  return unless(['ENOENT', 'ENOTDIR'], readFile(join(paths.snapshot, 'changes.patch'), 'utf8'))
}

import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { realpath, stat, writeFile } from 'node:fs/promises'
import { z } from 'zod'
import type { Failing } from '../../engine/failpoints.ts'
import type { Clock, Workspace } from '../../engine/ports.ts'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import type { TaskId } from '../../../src-preload/contract/ids.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import { applyResult, recoverApply, type ApplyDeps } from './apply.ts'
import { makeCleanCopy } from './clean-copy.ts'
import { compareWorkspace, diffWorkspace, wholePatch } from './diff.ts'
import { asResult, fault, unless } from './fault.ts'
import { prepareTask, type PrepareDeps } from './prepare.ts'
import { excerptOf } from './reading-list.ts'
import { readSmallText } from './small-file.ts'
import { removeTree } from './remove-tree.ts'
import { disposeTask, snapshotDiff, snapshotPatch } from './snapshot.ts'
import { surveyFolder } from './survey.ts'
import { needMeta, readMeta, replaceFile, taskPaths, type Meta } from './task-folder.ts'
import { parseJson } from './tree.ts'
import { usageOf } from './usage.ts'

export interface WorkspaceDeps extends Failing {
  /** Folder of all tasks, `<data folder>/tasks`. Its parent is taken for the app's own data, which no task may work on. */
  readonly root: string
  /** `resources/sample`, as real files (not inside an archive), or a link to it. */
  readonly sampleDir: string
  readonly clock: Clock
  /** Bytes on disk that all workspaces together may take. */
  readonly quotaBytes: () => number
  /** Where the sample's patch file is left, as `<task id>.patch`. */
  readonly patchDir: string
  /** The owner's home; for tests. */
  readonly homeDir?: string
}

const inspectMs = 120_000

/** Builds the Workspace port on real folders. Calls about one task run one after the other; different tasks run side by side. */
export function createWorkspace(deps: WorkspaceDeps): Workspace {
  const places = { homeDir: deps.homeDir ?? homedir(), dataDir: dirname(deps.root) }
  const prepareDeps: PrepareDeps = { root: deps.root, sampleDir: deps.sampleDir, clock: deps.clock, quotaBytes: deps.quotaBytes, places }
  const inTurn = oneAtATime()
  const life: Failing = deps.failpoint === undefined ? {} : { failpoint: deps.failpoint }
  const paths = (taskId: TaskId): ReturnType<typeof taskPaths> => taskPaths(deps.root, taskId)
  const applyDeps = (taskId: TaskId, meta: Meta): ApplyDeps => ({ paths: paths(taskId), meta, patchPath: join(deps.patchDir, `${taskId}.patch`), ...life })
  return {
    inspect: async (folder) => {
      const facts = await asResult('inspecting the folder', async () => ok((await surveyFolder(folder, places, AbortSignal.timeout(inspectMs))).facts))
      if (facts.ok) return facts.value
      const refusal = facts.error.code === 'cancelled' ? failure('folder-refused', 'Looking through the folder took longer than two minutes.', 'Choose a smaller folder, or one on a faster disk.') : facts.error
      return { path: folder, label: folder, git: null, files: 0, bytes: 0, notes: [], proposals: [], testCommands: [], refusal }
    },
    prepare: (taskId, source, signal) => inTurn(taskId, () => asResult('copying the folder', () => prepareTask(prepareDeps, taskId, source, signal))),
    locate: async (taskId) => {
      const { workspace: workspaceDir, state: stateDir } = paths(taskId)
      // A damaged record is no workspace that could be used; every other call says that it is damaged.
      const meta = await asResult('looking for the workspace', async () => ok(await readMeta(paths(taskId))))
      if (!meta.ok || meta.value?.disposedAt !== null) return null
      return (await unless(['ENOENT'], stat(workspaceDir))) === null ? null : { workspaceDir, stateDir }
    },
    readExcerpt: (taskId, path, charsMax) => asResult('reading an excerpt', async () => {
      await needMeta(paths(taskId))
      return excerptOf(paths(taskId).base, path, charsMax)
    }),
    diff: (taskId, signal) => inTurn(taskId, () => asResult('comparing the workspace', async () => {
      // After its disposal a task can still be looked at: its snapshot is what was reviewed.
      const meta = await readMeta(paths(taskId))
      const kept = meta !== null && meta.disposedAt !== null ? await snapshotDiff(paths(taskId)) : null
      return ok(kept ?? await diffWorkspace(paths(taskId), await needMeta(paths(taskId)), signal))
    })),
    cleanCopy: (taskId, expected, signal) => inTurn(taskId, () => asResult('making a clean copy', async () => {
      const meta = await needMeta(paths(taskId))
      const oracle = meta.source.kind === 'sample' ? await sampleOracle(deps.sampleDir) : { oracleDir: null, oracleCommand: null }
      const copy = await makeCleanCopy(paths(taskId), meta, expected, signal)
      return copy.ok ? ok({ ...copy.value, ...oracle }) : copy
    })),
    apply: (taskId, expected) => inTurn(taskId, () => asResult('applying the result', async () => applyResult(applyDeps(taskId, await needMeta(paths(taskId))), expected))),
    observeApply: (taskId, expected) => inTurn(taskId, async () => {
      const seen = await asResult('looking at an apply', async () => {
        const meta = await readMeta(paths(taskId))
        return ok(meta === null ? 'not-applied' : await recoverApply(applyDeps(taskId, meta), expected))
      })
      return seen.ok ? seen.value : 'unclear'
    }),
    writePatch: (taskId, toPath) => inTurn(taskId, () => asResult('writing the patch', () => writePatchTo(deps.root, taskId, toPath))),
    dispose: (taskId) => inTurn(taskId, () => asResult('disposing of the workspace', async () => {
      await disposeTask(paths(taskId), deps.clock, life)
      return ok(null)
    })),
    remove: (taskId) => inTurn(taskId, () => asResult('removing what is left of the task', async () => {
      await removeTree(paths(taskId).dir)
      return ok(null)
    })),
    usage: () => usageOf(deps.root),
  }
}

async function writePatchTo(root: string, taskId: TaskId, toPath: string): Promise<Result<null, Failure>> {
  const paths = taskPaths(root, taskId)
  const meta = await readMeta(paths)
  const signal = new AbortController().signal
  const patch = meta?.disposedAt === null ? await wholePatch(await compareWorkspace(paths, meta, signal), paths, signal) : await snapshotPatch(paths)
  if (patch === null) return err(failure('workspace-failed', 'Nothing of this task is on disk any more.', 'Look at its history in the room and in Audit, or start the task again.'))
  const existing = await unless(['ENOENT'], stat(toPath))
  if (existing !== null && !existing.isFile()) return err(failure('invalid-input', `${toPath} is not a file.`, 'Choose another name.'))
  // A link that the owner chose is written through; any other file is replaced in one go.
  if (existing !== null) await writeFile(toPath, patch)
  else await replaceFile(toPath, patch, 0o644)
  return ok(null)
}

const sampleSchema = z.object({ oracleCommand: z.string().min(1) })

/** The sample's held tests and their command. The folder itself is the app's own and may be a link: a start from the source tree hands over links. */
async function sampleOracle(sampleDir: string): Promise<{ readonly oracleDir: string; readonly oracleCommand: string }> {
  const real = await realpath(sampleDir)
  const sample = sampleSchema.safeParse(parseJson((await readSmallText(real, 'task.json', 64 * 1024)) ?? ''))
  return sample.success ? { oracleDir: join(real, 'oracle'), oracleCommand: sample.data.oracleCommand } : fault('workspace-failed', 'The sample task is damaged.', 'Install the app again.')
}

/** Chains work by key. The chain of a key lives only while something waits in it. */
function oneAtATime(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>()
  return async (key, work) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(work, work)
    last.set(key, turn)
    try {
      return await turn
    } finally {
      if (last.get(key) === turn) last.delete(key)
    }
  }
}

import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import type { Digest, TaskId } from '../../../src-preload/contract/ids.ts'
import { isolationLimits } from '../../../src-preload/contract/limits.ts'
import { ok, type Result } from '../../../src-preload/contract/result.ts'
import type { Mount, TestRun, Verification } from '../../../src-preload/contract/task.ts'
import type { HostCommand } from '../../core/task/commands.ts'
import type { TaskState } from '../../core/task/model.ts'
import type { Dispatcher } from '../dispatch.ts'
import type { EffectHandlers } from '../outbox.ts'
import type { CommandRun, CommandSpec, Sandbox, Workspace } from '../ports.ts'
import type { Runs } from '../runs.ts'
import { stateOf } from './models.ts'

export interface WorkspaceEffectDeps { readonly dispatcher: Dispatcher; readonly workspace: Workspace; readonly sandbox: Sandbox; readonly runs: Runs }

/** Effects on the task's own folders, the clean copy and, after acceptance, the owner's folder. */
export function workspaceEffects(deps: WorkspaceEffectDeps): Pick<EffectHandlers, 'workspace.prepare' | 'evidence.collect' | 'verify.run' | 'workspace.apply' | 'workspace.observe' | 'workspace.dispose'> {
  return {
    'workspace.prepare': async (taskId) => {
      const state = stateOf(deps.dispatcher, taskId)
      const prepared = await deps.workspace.prepare(taskId, state.source, deps.runs.of(taskId).lifetime.signal)
      if (!prepared.ok) return prepared
      const { baseDigest, baseCommit, files, bytes, notes, listing } = prepared.value
      return ok({ is: 'workspace-prepared', baseDigest, baseCommit, files, bytes, notes: [...notes], listing: [...listing] })
    },
    'evidence.collect': async (taskId, effect) => {
      const state = stateOf(deps.dispatcher, taskId)
      const diff = await deps.workspace.diff(taskId, deps.runs.of(taskId).lifetime.signal)
      if (!diff.ok) return diff
      if (state.base === null) throw new Error('evidence without a base')
      return ok({ is: 'evidence-collected', evidence: { turnId: effect.turnId, baseDigest: state.base.digest, treeDigest: diff.value.treeDigest, diffDigest: diff.value.diffDigest, files: diff.value.files.map((file) => file.change), testRun: state.lastTestRun } })
    },
    'verify.run': async (taskId) => {
      const state = stateOf(deps.dispatcher, taskId)
      return ok({ is: 'verified', verification: await verify(deps, taskId, state) })
    },
    'workspace.apply': async (taskId, effect) => {
      const applied = await deps.workspace.apply(taskId, effect.treeDigest)
      return ok(applied.ok ? { is: 'applied', ...applied.value } : { is: 'apply-refused', failure: applied.error })
    },
    'workspace.observe': async (taskId, effect) => {
      const state = stateOf(deps.dispatcher, taskId)
      if (state.phase === 'acceptance-waits') return ok(await compareResult(deps.workspace, taskId, effect.treeDigest, true, deps.runs.of(taskId).lifetime.signal))
      const seen = await deps.workspace.observeApply(taskId, effect.treeDigest)
      return ok(seen === 'applied' ? foundApplied(state) : seen === 'unclear' ? { is: 'apply-unclear' } : { is: 'apply-refused', failure: failure('apply-failed', 'The result was not applied; your folder is as it was.', 'Accept again, reject, or save the patch.') })
    },
    'workspace.dispose': async (taskId) => {
      await deps.runs.peek(taskId)?.coder?.stop()
      const disposed = await deps.workspace.dispose(taskId)
      return disposed.ok ? ok({ is: 'workspace-disposed' }) : disposed
    },
  }
}

/** What a look at the folder says of an apply whose end was not seen. */
export function foundApplied(state: TaskState): Extract<HostCommand, { is: 'applied' }> {
  return { is: 'applied', how: state.source.kind === 'folder' ? 'folder' : 'patch-file', detail: 'Found applied when the folder was looked at again.', patchPath: null }
}

/** Whether a result's files are still those that were recorded. Null: the look was broken off, which says nothing. */
export async function compareResult(workspace: Workspace, taskId: TaskId, expected: Digest, asked: boolean, signal: AbortSignal): Promise<Extract<HostCommand, { is: 'result-compared' }> | null> {
  const diff = await workspace.diff(taskId, signal)
  if (!diff.ok && diff.error.code === 'cancelled') return null
  return { is: 'result-compared', expected, found: diff.ok ? diff.value.treeDigest : null, why: diff.ok ? null : diff.error.message, asked }
}

/** V2. Bot A's own run: base + diff in a fresh folder, tree digest compared, tests and held tests run there, and only then words. */
async function verify(deps: WorkspaceEffectDeps, taskId: TaskId, state: TaskState): Promise<Verification> {
  const { evidence, brief } = state
  if (evidence === null || brief === null) throw new Error('verification without evidence')
  const { signal } = deps.runs.of(taskId).lifetime
  const failed = (failure: Failure): Verification => ({ passed: false, treeDigest: evidence.treeDigest, treeMatches: false, testRun: null, oracle: null, failure })
  const copy = await deps.workspace.cleanCopy(taskId, evidence.treeDigest, signal)
  if (!copy.ok) return failed(copy.error)
  try {
    const mounts = state.source.kind === 'folder' ? state.source.mounts : []
    const test = await run(deps, copy.value.dir, brief.brief.testCommand, mounts, [], signal)
    if (!test.ok) return failed(test.error)
    const oracle = copy.value.oracleDir === null || copy.value.oracleCommand === null ? null : await run(deps, copy.value.dir, copy.value.oracleCommand, mounts, [{ hostPath: copy.value.oracleDir, into: '/oracle', variable: 'HELD_TESTS' }], signal)
    if (oracle !== null && !oracle.ok) return failed(oracle.error)
    const treeMatches = copy.value.treeDigest === evidence.treeDigest
    const oracleRun = oracle?.value ?? null
    return { passed: treeMatches && test.value.exitCode === 0 && (oracleRun === null || oracleRun.exitCode === 0), treeDigest: copy.value.treeDigest, treeMatches, testRun: test.value, oracle: oracleRun, failure: null }
  } finally {
    await copy.value.release()
  }
}

async function run(deps: WorkspaceEffectDeps, dir: string, text: string, mounts: readonly Mount[], readOnly: CommandSpec['readOnly'], signal: AbortSignal): Promise<Result<TestRun, Failure>> {
  const ended = await deps.sandbox.run({ workspaceDir: dir, text, cwd: '/workspace', mounts, timeoutMs: isolationLimits.commandMsMax, outputBytesMax: isolationLimits.commandOutputBytesMax, readOnly }, signal)
  return ended.ok ? ok(testRun(ended.value)) : ended
}

function testRun(command: CommandRun): TestRun {
  return {
    ...(command.limits === undefined ? {} : { limits: command.limits }), command: command.text, exitCode: command.exitCode, logDigest: command.logDigest, logTail: `${command.logTail}${command.limitHit === null ? '' : `\n(The sandbox: this command ${command.limitHit}.)\n`}`.slice(-20_000), durationMs: command.durationMs,
  }
}

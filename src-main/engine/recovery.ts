import type { TaskId } from '../../src-preload/contract/ids.ts'
import type { StopProof } from '../../src-preload/contract/task.ts'
import type { HostCommand } from '../core/task/commands.ts'
import { afterRestart, type EffectKind } from '../core/task/effects.ts'
import { isFinished, type TaskState } from '../core/task/model.ts'
import type { Dispatcher, EffectPayload } from './dispatch.ts'
import { stateOf } from './effects/models.ts'
import { foundApplied } from './effects/workspace.ts'
import type { Lanes } from './lanes.ts'
import type { Outbox } from './outbox.ts'
import type { Clock, EffectRecord, Journal, Sandbox, Workspace } from './ports.ts'

export interface RecoveryDeps { readonly journal: Journal; readonly dispatcher: Dispatcher; readonly lanes: Lanes; readonly outbox: Outbox; readonly sandbox: Sandbox; readonly workspace: Workspace; readonly clock: Clock; readonly bootId: string; readonly breathe?: () => Promise<void>; readonly log: (level: 'info' | 'error', msg: string, fields: Record<string, unknown>) => void }

/**
 * What a start does with what an earlier life left. R3. Orphans are ended first, by recorded pid and start time.
 * R4. Each task then hears that the app was restarted and decides; effects are replayed, retired or observed by their kind.
 * R5. All of it goes through the task's lane: with a journal that refuses, nothing of the task goes on before it has heard.
 */
export async function recover(deps: RecoveryDeps): Promise<void> {
  const tasks: TaskId[] = []
  for (const stream of deps.journal.streams()) {
    if (deps.dispatcher.load(stream)) tasks.push(stream as TaskId)
    await deps.breathe?.()
  }
  const states = tasks.map((taskId) => deps.dispatcher.state(taskId)).filter((state) => state !== undefined)
  const recorded = states.flatMap((state) => (state.coder.is === 'running' ? [{ pid: state.coder.pid, startTime: state.coder.startTime }] : []))
  // Also with nothing on record: what an earlier life left on disk is swept up.
  const proof: StopProof = await deps.sandbox.endOrphans(recorded)
  const before = deps.journal.openEffects()
  for (const state of states) if (needsHearing(state, before)) tell(deps, state.taskId, { is: 'app-restarted', proof }, `${deps.bootId}:restart:${state.taskId}`)
  const looks: Promise<void>[] = []
  for (const record of before) {
    deps.lanes.take(record.stream as TaskId, () => {
      // What the task decided meanwhile may have retired it.
      if (deps.journal.openEffects().some((open) => open.id === record.id)) looks.push(takeUp(deps, record))
      return null
    })
  }
  await Promise.all(looks)
}

function tell(deps: RecoveryDeps, taskId: TaskId, command: HostCommand, commandId: string, settles: readonly string[] = []): void {
  deps.lanes.take(taskId, () => {
    const recorded = deps.dispatcher.record(taskId, command, { commandId, actor: 'host', settles })
    if (recorded.is === 'journal-refused') return recorded.failure
    if (!recorded.result.ok) deps.log('error', 'a recovery was refused', { taskId, is: command.is, code: recorded.result.error.code })
    return null
  })
}

function needsHearing(state: TaskState, open: readonly EffectRecord[]): boolean {
  return state.coder.is === 'running' || state.coder.is === 'starting' || state.openTools.size > 0 || state.phase === 'stopping' || state.turns.some((turn) => turn.state !== 'ended')
    || state.calls.some((call) => !call.settled) || (isFinished(state.status) && !state.workspaceDisposed) || open.some((effect) => effect.stream === state.taskId)
}

async function takeUp(deps: RecoveryDeps, record: EffectRecord): Promise<void> {
  const taskId = record.stream as TaskId
  switch (afterRestart[record.kind as EffectKind]) {
    case 'retire': deps.lanes.take(taskId, () => { deps.journal.endEffect(record.id, 'retired', deps.clock.now()); return null }); return
    case 'replay': deps.outbox.takeAgain(record); return
    case 'observe': {
      const { effect } = record.payload as EffectPayload
      if (effect.kind !== 'workspace.apply') throw new Error(`nothing is known of how to observe ${effect.kind}`)
      const seen = record.state === 'pending' ? 'not-applied' : await look(deps, taskId, effect.treeDigest)
      if (seen === 'not-applied') deps.outbox.takeAgain(record)
      else tell(deps, taskId, seen === 'applied' ? foundApplied(stateOf(deps.dispatcher, taskId)) : { is: 'apply-unclear' }, `${deps.bootId}:observed:${record.id}`, [record.id])
    }
  }
}

/** A look that breaks says nothing: the owner decides. */
async function look(deps: RecoveryDeps, taskId: TaskId, treeDigest: Parameters<Workspace['observeApply']>[1]): Promise<'applied' | 'not-applied' | 'unclear'> {
  try {
    return await deps.workspace.observeApply(taskId, treeDigest)
  } catch (error) {
    deps.log('error', 'the folder could not be looked at', { taskId, error: String(error) })
    return 'unclear'
  }
}

import type { TaskId } from '../../src-preload/contract/ids.ts'
import type { StopProof } from '../../src-preload/contract/task.ts'
import { afterRestart, type EffectKind } from '../core/task/effects.ts'
import type { TaskState } from '../core/task/model.ts'
import type { Dispatcher, EffectPayload } from './dispatch.ts'
import { stateOf } from './effects/models.ts'
import { foundApplied } from './effects/workspace.ts'
import type { Outbox } from './outbox.ts'
import type { Clock, EffectRecord, Journal, Sandbox, Workspace } from './ports.ts'

export interface RecoveryDeps { readonly journal: Journal; readonly dispatcher: Dispatcher; readonly outbox: Outbox; readonly sandbox: Sandbox; readonly workspace: Workspace; readonly clock: Clock; readonly bootId: string }

/**
 * What a start does with what an earlier life left. R3. Orphans are ended first, by recorded pid and start time.
 * R4. Each task then hears that the app was restarted and decides; effects are replayed, retired or observed by their kind.
 */
export async function recover(deps: RecoveryDeps): Promise<void> {
  const tasks = deps.journal.streams().filter((stream) => deps.dispatcher.load(stream)) as TaskId[]
  const states = tasks.map((taskId) => deps.dispatcher.state(taskId)).filter((state) => state !== undefined)
  const recorded = states.flatMap((state) => (state.coder.is === 'running' ? [{ pid: state.coder.pid, startTime: state.coder.startTime }] : []))
  // Also with nothing on record: what an earlier life left on disk is swept up.
  const proof: StopProof = await deps.sandbox.endOrphans(recorded)
  const before = deps.journal.openEffects()
  for (const state of states) if (needsHearing(state, before)) deps.dispatcher.dispatch(state.taskId, { is: 'app-restarted', proof }, { commandId: `${deps.bootId}:restart:${state.taskId}`, actor: 'host' })
  const open = new Map(deps.journal.openEffects().map((effect) => [effect.id, effect]))
  for (const effect of before) {
    const still = open.get(effect.id)
    if (still !== undefined) await takeUp(deps, still)
  }
}

function needsHearing(state: TaskState, open: readonly EffectRecord[]): boolean {
  return state.coder.is === 'running' || state.coder.is === 'starting' || state.openTools.size > 0 || state.phase === 'stopping' || state.turns.some((turn) => turn.state !== 'ended') || open.some((effect) => effect.stream === state.taskId)
}

async function takeUp(deps: RecoveryDeps, record: EffectRecord): Promise<void> {
  const { journal, outbox, dispatcher, workspace, clock, bootId } = deps
  const taskId = record.stream as TaskId
  switch (afterRestart[record.kind as EffectKind]) {
    case 'retire': journal.endEffect(record.id, 'retired', clock.now()); return
    case 'replay': outbox.takeAgain(record); return
    case 'observe': {
      const { effect } = record.payload as EffectPayload
      if (effect.kind !== 'workspace.apply') throw new Error(`nothing is known of how to observe ${effect.kind}`)
      if (record.state === 'pending') { outbox.takeAgain(record); return }
      const seen = await workspace.observeApply(taskId, effect.treeDigest)
      if (seen === 'not-applied') { outbox.takeAgain(record); return }
      const command = seen === 'applied' ? foundApplied(stateOf(dispatcher, taskId)) : { is: 'apply-unclear' as const }
      dispatcher.dispatch(taskId, command, { commandId: `${bootId}:observed:${record.id}`, actor: 'host', settles: [record.id] })
    }
  }
}

import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import type { Recovery } from '../../../src-preload/contract/task.ts'
import type { HostCommand } from './commands.ts'
import { decided, ignored, interruptTools, refuseAsks, withdrawHolds, withdrawQuestions, wrongState, type Decided } from './decision.ts'
import type { Effect } from './effects.ts'
import type { TaskEvent } from './events.ts'
import { activeTurn, isFinished, openQuestions, uncertain, waitingHolds, type TaskState } from './model.ts'

type Host<K extends HostCommand['is']> = Extract<HostCommand, { is: K }>

/**
 * C1. A stop raises the generation, tombstones the turn and turns dispatch off in one transaction, before anything is sent.
 * C2. It is observed only with proof that the sandbox's process tree is empty.
 */
export function requestStop(state: TaskState, cause: string, then: 'cancelled' | 'failed', why: Failure | null, waiting = [...withdrawHolds(state, cause), ...withdrawQuestions(state)]): Decided {
  // A finished task whose process could not be proven to have ended still has something to stop.
  if (isFinished(state.status)) return state.coder.is === 'running' ? decided([], [{ kind: 'coder.stop' }]) : ignored
  if (state.phase === 'applying') return wrongState(state, 'Stopping while the accepted result is being applied')
  // A second stop tries again where the first could not prove that nothing is left.
  if (state.cancel !== null) return decided([], [{ kind: 'coder.stop' }])
  const turn = activeTurn(state)
  const tombstone: TaskEvent[] = turn === null ? [] : [{ type: 'turn-ended', turnId: turn.turnId, outcome: 'aborted', text: '', failure: null }]
  return decided([
    ...waiting, ...tombstone,
    { type: 'cancel-requested', generation: state.generation + 1, cause, then, failure: why },
  ], [{ kind: 'coder.stop' }], 'all')
}

/**
 * Time is up: what runs is stopped, with proof, and the task fails. A result that waits for the owner has no deadline, nor has one that came out of
 * an uncertain turn after it: what the bots did in time is looked at, however late that is.
 */
export function deadlinePassed(state: TaskState): Decided {
  const resultOnly = state.phase === 'collecting' || state.phase === 'verifying' || state.phase === 'reviewing'
  if (resultOnly && state.phaseSince >= state.deadlineAt) return ignored
  if (isFinished(state.status) || state.status === 'result-ready' || state.cancel !== null) return ignored
  if (state.recovery !== null) return lateWhileUncertain(state, state.recovery)
  return requestStop(state, 'the deadline passed', 'failed', deadlineFailure, expired(state, 'the deadline passed'))
}

/** Why a task that is out of time fails. */
export const deadlineFailure = failure('deadline-passed', 'The task\'s deadline passed.', 'Start it again with a longer deadline, or make the task smaller.')

/**
 * C3. The deadline binds an uncertain task as well: what may still run is stopped with proof, what waited expires, and nothing is sent any more. What it
 * did before that is not thrown away: it stays uncertain, the owner is told, and every exit but a resend stays open.
 */
function lateWhileUncertain(state: TaskState, { what, late, resending }: Recovery): Decided {
  if (late === true) return ignored
  const told: TaskEvent = { type: 'recovery-needed', what: uncertain(`The deadline passed, so nothing is sent again. ${resending === true ? 'What may still run is stopped.' : what}`), late: true }
  return decided([...expired(state, 'the deadline passed'), told], state.coder.is === 'running' ? [...refuseAsks(state, 'the deadline passed'), { kind: 'coder.stop' }] : [], ['coder.submit', 'coder.answerQuestion', 'lead.answer'])
}

/** What waited until time was up: it was neither refused nor withdrawn, and a hold that nobody could see is told apart from one that was left. */
export function expired(state: TaskState, cause: string): TaskEvent[] {
  return [
    ...waitingHolds(state).map(({ hold, shownAt }): TaskEvent => ({ type: 'hold-settled', approvalId: hold.approvalId, outcome: shownAt === null ? 'never-shown' : 'expired', digest: hold.digest, cause })),
    ...openQuestions(state).map(({ questionId }): TaskEvent => ({ type: 'question-closed', questionId, how: 'expired' })),
  ]
}

/** The sandbox is empty: every open row ends, and a requested stop is observed. */
export function coderStopped(state: TaskState, command: Host<'coder-stopped'>): Decided {
  const ended = interruptTools(state, 'Stopped.')
  const gone: TaskEvent[] = state.coder.is === 'none' || state.coder.is === 'gone' ? [] : [{ type: 'coder-gone', how: 'stopped', proof: command.proof }]
  if (state.cancel?.state !== 'requested') return decided([...ended, ...gone], goesOn(state, gone.length > 0))
  const last: TaskEvent = state.cancelThen?.then === 'failed' && state.cancelThen.failure !== null ? { type: 'task-failed', failure: state.cancelThen.failure } : { type: 'task-cancelled' }
  return decided([...ended, ...gone, { type: 'cancel-observed', proof: command.proof }, last], [{ kind: 'workspace.dispose' }])
}

/** What waited for the process to be gone: the clean-up of a finished task, or the files that the owner took as they are. */
function goesOn(state: TaskState, isGone: boolean): Effect[] {
  const turn = state.turns.at(-1)
  if (state.phase === 'collecting' && turn !== undefined) return [{ kind: 'evidence.collect', turnId: turn.turnId }]
  return isFinished(state.status) && isGone && !state.workspaceDisposed ? [{ kind: 'workspace.dispose' }] : []
}

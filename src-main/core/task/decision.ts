import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { HoldSubject } from '../approval/hold.ts'
import type { Effect, EffectKind } from './effects.ts'
import type { TaskEvent } from './events.ts'
import { openQuestions, waitingHolds, type TaskState } from './model.ts'

/** What a command leads to: facts to record and effects to run after the commit. `retire`: open effects that must not run any more. */
export interface Decision { readonly events: readonly TaskEvent[]; readonly effects: readonly Effect[]; readonly retire: readonly EffectKind[] | 'all' }
export type Decided = Result<Decision, Failure>

/** A decision of events and effects. */
export function decided(events: readonly TaskEvent[], effects: readonly Effect[] = [], retire: Decision['retire'] = []): Decided {
  return ok({ events, effects, retire })
}

/** Nothing to record: late, doubled or of no consequence. */
export const ignored: Decided = ok({ events: [], effects: [], retire: [] })

/** The command does not fit what the task is doing. */
export function wrongState(state: TaskState, what: string): Decided {
  return err(failure('wrong-state', `${what} is not possible while the task is ${state.status}.`, 'Look at the task for what it waits for now.'))
}

/** Everything that waits ends, told apart from the owner's refusal. */
export function withdrawHolds(state: TaskState, cause: string, only: (subject: HoldSubject, callId: string | null) => boolean = () => true): TaskEvent[] {
  return waitingHolds(state).filter((record) => only(record.hold.subject, record.hold.callId))
    .map((record) => ({ type: 'hold-settled', approvalId: record.hold.approvalId, outcome: 'withdrawn', digest: record.hold.digest, cause }))
}

/** Every open question ends without an answer: two may be asked at once. */
export function withdrawQuestions(state: TaskState): TaskEvent[] {
  return openQuestions(state).map(({ questionId }) => ({ type: 'question-closed', questionId, how: 'withdrawn' }))
}

/** Every open tool row gets its one final record. */
export function interruptTools(state: TaskState, reason: string): TaskEvent[] {
  return [...state.openTools].map(([callId, { tool }]) => ({ type: 'tool-ended', callId, tool, state: 'interrupted', output: '', outputTruncated: false, exitCode: null, title: null, reason }))
}

/** Whether it is about something that only a running turn can use: its permissions, its commands, a question that the budget keeps back. */
export function hangsOnTurn(subject: HoldSubject): boolean {
  return subject.for === 'permission' || subject.for === 'command' || (subject.for === 'budget' && subject.then?.do === 'question')
}

/** What hung on a turn ends with it: open calls, holds of its permissions and commands, its questions; and, once it is done, the ask for more budget to do it. */
export function endOfTurn(state: TaskState, reason: string, done: boolean): TaskEvent[] {
  return [...interruptTools(state, reason), ...withdrawHolds(state, reason, (subject) => hangsOnTurn(subject) || (subject.for === 'budget' && done)), ...withdrawQuestions(state)]
}

/** Commands that wait at the broker are told no; who asked must not wait for a card that is gone. */
export function refuseAsks(state: TaskState, reason: string): Effect[] {
  return waitingHolds(state).flatMap(({ hold: { subject } }) => (subject.for === 'command' ? [{ kind: 'coder.answerCommand' as const, askId: subject.askId, allow: false, message: reason }] : []))
}

/** What an event ends for good, so that it is not ended a second time in the same decision. */
function endedBy(event: TaskEvent): string | null {
  switch (event.type) {
    case 'hold-settled': return event.approvalId
    case 'question-answered': case 'question-closed': return event.questionId
    case 'turn-ended': return event.turnId
    default: return null
  }
}

/** What a task's end leads to: a process that is on record is ended with proof, and the workspace goes once nothing can write to it. */
export function closing(state: TaskState): Effect[] {
  return state.coder.is === 'running' || state.coder.is === 'starting' ? [{ kind: 'coder.stop' }] : [{ kind: 'workspace.dispose' }]
}

/** The task ends as failed: everything that waits or runs ends with it, what still runs is stopped, and the workspace is disposed of after a snapshot. */
export function failTask(state: TaskState, why: Failure, before: readonly TaskEvent[] = []): Decided {
  const ended = new Set(before.map(endedBy))
  const turns = [...state.turns.filter((turn) => turn.state !== 'ended').map((turn) => turn.turnId), ...before.flatMap((event) => (event.type === 'turn-intended' ? [event.turnId] : []))]
  const rest: TaskEvent[] = [...withdrawHolds(state, 'The task failed.'), ...withdrawQuestions(state), ...turns.map((turnId): TaskEvent => ({ type: 'turn-ended', turnId, outcome: 'aborted', text: '', failure: null }))]
  const events: TaskEvent[] = [...before, ...rest.filter((event) => !ended.has(endedBy(event))), { type: 'task-failed', failure: why }]
  return decided(events, closing(state), 'all')
}

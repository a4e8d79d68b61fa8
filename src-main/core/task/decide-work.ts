import { failure } from '../../../src-preload/contract/failure.ts'
import type { DecideContext, HostCommand } from './commands.ts'
import { decided, endOfTurn, failTask, ignored, refuseAsks, withdrawHolds, type Decided } from './decision.ts'
import { goOn } from './decide-budget.ts'
import { editDiffers, editUnderUsedId, endOf, startOf } from './decide-edit.ts'
import type { TaskEvent } from './events.ts'
import { activeTurn, isFinished, uncertain, type TaskState } from './model.ts'
import { outOfBudget, toppedUpMeanwhile, topUpWaits } from './top-up.ts'
import { startTurn } from './turns.ts'
import { requestText } from './turn-text.ts'

type Host<K extends HostCommand['is']> = Extract<HostCommand, { is: K }>

/** The process runs: its pid is on record before anything is asked of it. */
export function coderStarted(state: TaskState, command: Host<'coder-started'>): Decided {
  // One process a task: what was not being started, or has ended since, does not become the task's process.
  if (state.coder.is !== 'starting') return ignored
  const { is: _, notes = [], ...facts } = command
  const started: readonly TaskEvent[] = [{ type: 'coder-started', ...facts }, ...notes.map((text): TaskEvent => ({ type: 'noted', level: 'warning', text, todo: null }))]
  if (state.cancel !== null) return decided(started, [{ kind: 'coder.stop' }])
  const turn = activeTurn(state)
  if (state.sessionId === null) return decided(started, [{ kind: 'coder.session' }])
  if (state.recovery !== null && turn !== null) return decided(started, [{ kind: 'coder.reconcile', turnId: turn.turnId }])
  if (turn?.state === 'intended') return decided(started, [{ kind: 'coder.submit', turnId: turn.turnId }])
  return decided(started)
}

/** The task's one session is bound: the approved brief goes out as the first turn. */
export function sessionBound(state: TaskState, command: Host<'session-bound'>, ctx: DecideContext): Decided {
  const bound: TaskEvent = { type: 'session-bound', sessionId: command.sessionId }
  if (state.brief === null || state.turns.length > 0 || state.phase !== 'starting-coder') return decided([bound])
  return startTurn({ ...state, sessionId: command.sessionId }, ctx, { kind: 'request', text: requestText(state.title, state.requirement, state.brief.brief) }, [bound])
}

/** The turn's loop ended, as history says. */
export function turnEnded(state: TaskState, command: Host<'turn-ended'>, ctx: DecideContext): Decided {
  const turn = activeTurn(state)
  // T3. A result is taken only for the active turn; a late end of an older message changes nothing.
  if (turn?.messageId !== command.messageId || state.phase !== 'coding') return ignored
  // The owner has given it up for a new one, which begins once its process is gone.
  if (state.recovery?.resending === true) return ignored
  const completed = command.outcome === 'completed'
  if (state.recovery !== null && !completed) return decided([{ type: 'recovery-needed', what: uncertain(`Checked: turn ${String(turn.index)} arrived and ended without a result. ${command.failure?.message ?? ''}`) }])
  // The end of an uncertain turn, read from history, is the answer to what was uncertain about it.
  const resolved: TaskEvent[] = state.recovery === null ? [] : [{ type: 'recovery-resolved', exit: 're-check', detail: 'The session\'s history has the turn, completed.' }]
  const leftovers = endOfTurn(state, 'The turn ended.', completed)
  if (completed) return decided([...resolved, ...leftovers, { type: 'turn-ended', turnId: turn.turnId, outcome: 'completed', text: command.text, failure: null }], [...refuseAsks(state, 'the turn ended'), { kind: 'evidence.collect', turnId: turn.turnId }], ['lead.answer'])
  const why = command.failure ?? failure('opencode-failed', 'Bot B\'s turn ended without a result.', 'Look at the last rows for the reason, then start the task again.')
  const ended: TaskEvent = { type: 'turn-ended', turnId: turn.turnId, outcome: command.outcome, text: command.text, failure: why }
  // B6. Out of budget, the task waits for the owner's word on the cap; where that has come already, it goes on.
  if (topUpWaits(state)) return decided([...leftovers, { ...ended, failure: { ...why, todo: 'Decide on the budget card: the task waits for it.' } }], refuseAsks(state, 'the turn ended'), ['lead.answer'])
  if (toppedUpMeanwhile(state) && outOfBudget.has(why.code)) return goOn(state, ctx, [...leftovers, ended])
  return failTask(state, why, [...leftovers, ended])
}

/** A tool call is complete and runs. One that no process of ours can be running opens no row: nothing would end it. */
export function toolStarted(state: TaskState, command: Host<'tool-started'>): Decided {
  if (state.coder.is !== 'running' || state.openTools.has(command.callId) || state.endedTools.has(command.callId)) return ignored
  const { is: _, parentCallId = null, ...facts } = command
  return decided([{ type: 'tool-started', ...facts, parentCallId }])
}

/** P1. Exactly one final record a call: doubles and late ones are dropped. A finished task opens no new row. */
export function toolEnded(state: TaskState, command: Host<'tool-ended'>): Decided {
  if (state.endedTools.has(command.callId)) return editUnderUsedId(state, command)
  const open = state.openTools.has(command.callId)
  if (!open && isFinished(state.status)) return ignored
  const events: TaskEvent[] = []
  if (!open) events.push(startOf(command))
  events.push(endOf(command))
  // The runtime may have taken it together with another ask: nobody waits for its answer any more.
  events.push(...withdrawHolds(state, 'Its call has ended.', (subject, callId) => subject.for === 'permission' && callId === command.callId))
  return editDiffers(state, command, events) ?? decided(events)
}

/** Of two calls under one id the runtime keeps one: what becomes of the other one is on nobody's record, and the owner is told. */
export function callIdUsedTwice({ callId, tool }: Host<'call-id-used-twice'>): Decided {
  return decided([{ type: 'noted', level: 'warning', text: `Bot B's model gave two calls of one reply the same id (${callId.slice(0, 100)}${tool === null ? '' : `, ${tool}`}). OpenCode takes them for one, so one of them may have no row and no record.`, todo: 'Look at the commands that ran and at the diff rather than at the rows. If it happens again, the provider breaks its own protocol.' }])
}

import { failure } from '../../../src-preload/contract/failure.ts'
import type { HoldSubject, PausedStep } from '../approval/hold.ts'
import type { DecideContext } from './commands.ts'
import { questionAsked } from './decide-question.ts'
import { afterVerification, withoutCorrection } from './decide-verified.ts'
import { decided, failTask, type Decided } from './decision.ts'
import type { TaskEvent } from './events.ts'
import { activeTurn, type TaskState } from './model.ts'
import { budgetAfter } from './top-up.ts'
import { continueText } from './turn-text.ts'
import { startTurn } from './turns.ts'

type Settled = Extract<TaskEvent, { type: 'hold-settled' }>

/** The owner raised the cap: what paused goes on. */
export function topUpApproved(state: TaskState, ctx: DecideContext, settled: Settled, subject: Extract<HoldSubject, { for: 'budget' }>): Decided {
  const budget = budgetAfter(state.budget, subject, settled.chosen?.to)
  const events: TaskEvent[] = [settled, { type: 'budget-raised', budget, acceptsUnknown: subject.acceptsUnknown }]
  const record = state.holds.get(settled.approvalId)
  const after: TaskState = { ...state, budget, holds: record === undefined ? state.holds : new Map(state.holds).set(settled.approvalId, { ...record, outcome: 'approved' }) }
  if (state.phase === 'briefing') return decided([...events, { type: 'lead-asked', purpose: 'brief' }], [{ kind: 'lead.brief' }])
  if (state.phase === 'verifying' && state.verification !== null) return afterVerification(after, ctx, state.verification, events)
  if (state.phase !== 'coding' || state.recovery !== null) return decided(events)
  if (subject.then?.do === 'question') return askNow(after, ctx, subject.then, events)
  if (activeTurn(state) !== null) return decided(events)
  return subject.then === undefined ? goOn(after, ctx, events) : startTurn(after, ctx, subject.then, events)
}

/** The question that was kept back goes to Bot A, as if Bot B asked it now. */
function askNow(state: TaskState, ctx: DecideContext, { upstreamId, text, options }: Extract<PausedStep, { do: 'question' }>, before: readonly TaskEvent[]): Decided {
  const asked = questionAsked(state, { is: 'question-asked', upstreamId, text, options }, ctx)
  return asked.ok ? decided([...before, ...asked.value.events], asked.value.effects, asked.value.retire) : asked
}

/** A new turn goes on where the paused one stopped; it costs one of the task's turns. */
export function goOn(state: TaskState, ctx: DecideContext, before: readonly TaskEvent[]): Decided {
  return startTurn(state, ctx, { kind: 'continue', text: continueText(state.turns.at(-1)?.text ?? '') }, before)
}

/** The owner did not raise it: the task ends, or its result comes to the owner as it is. */
export function topUpDenied(state: TaskState, ctx: DecideContext, settled: TaskEvent): Decided {
  return withoutCorrection(state, ctx, [settled]) ?? failTask(state, failure('budget-exhausted', 'The budget was used up, and the owner did not raise it.', 'Start a new task with a larger budget.'), [settled])
}

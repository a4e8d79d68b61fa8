import { failure } from '../../../src-preload/contract/failure.ts'
import type { ApprovalId, Bot } from '../../../src-preload/contract/ids.ts'
import type { BudgetLimits } from '../../../src-preload/contract/task.ts'
import { makeHold } from '../approval/hold.ts'
import { committedOf, exhaustedFailure, type Charge, type Exhausted } from '../budget/budget.ts'
import { canonicalJson } from '../digest.ts'
import type { DecideContext } from './commands.ts'
import { decided, failTask, type Decided } from './decision.ts'
import type { TaskEvent } from './events.ts'
import { activeTurn, waitingHolds, type TaskState } from './model.ts'
import { continueText } from './turn-text.ts'
import { startTurn } from './turns.ts'

/** What an approved top-up makes of the budget. `acceptsUnknown`: the owner has looked at what unknown calls may have cost. */
interface TopUp { readonly cap: string; readonly from: number; readonly to: number; readonly raised: BudgetLimits; readonly acceptsUnknown: boolean }

/** Codes of failures that more budget mends. */
export const outOfBudget: ReadonlySet<string> = new Set(['budget-exhausted', 'usage-unknown'])

const requestsMax = 10_000
const tokensMax = 100_000_000

const money = 'micro-USD'

function amount(value: number, cap: string): string {
  return cap === money ? `${(value / 1e6).toFixed(2)} USD` : `${String(value)} ${cap}`
}

/** Twice the cap, or what the refused call needs, whichever is more; null where the cap is at its hard maximum or is not one that can be raised here. */
function topUpOf(state: TaskState, { reason }: Exhausted, needed: Charge): TopUp | null {
  const { budget, spending } = state
  const committed = committedOf(spending)
  const make = (cap: string, from: number, to: number, raised: Partial<BudgetLimits>, acceptsUnknown = false): TopUp | null => (to <= from && !acceptsUnknown ? null : { cap, from, to, raised: { ...budget, ...raised }, acceptsUnknown })
  switch (reason) {
    case 'requests': { const to = Math.min(requestsMax, budget.requestsMax * 2); return make('model requests', budget.requestsMax, to, { requestsMax: to }) }
    case 'tokens': { const to = Math.min(tokensMax, Math.max(budget.tokensMax * 2, committed.tokens + needed.tokens)); return make('tokens', budget.tokensMax, to, { tokensMax: to }) }
    case 'money': { const from = budget.moneyMicroUsdMax ?? 0; const to = Math.max(from * 2, committed.moneyMicroUsd + (needed.moneyMicroUsd ?? 0)); return make(money, from, to, { moneyMicroUsdMax: to }) }
    case 'usage-unknown': { const from = budget.moneyMicroUsdMax ?? 0; return make(money, from, from, {}, true) }
    default: return null
  }
}

/**
 * B6. Exhausted: work pauses, and the owner alone may raise the cap. One hold at a time, only where something waits for it: Bot B's turn, or the
 * lead's brief. Null: nothing can be raised, and the refusal stands.
 */
export function topUpHold(state: TaskState, ctx: DecideContext, bot: Bot, why: Exhausted, needed: Charge): TaskEvent | null {
  const waits = bot === 'coder' ? state.phase === 'coding' : state.phase === 'briefing'
  const topUp = waits && !topUpWaits(state) ? topUpOf(state, why, needed) : null
  if (topUp === null) return null
  const hold = makeHold(state.taskId, ctx.mint('apr') as ApprovalId, {
    kind: 'budget', bot, generation: state.generation, turnId: activeTurn(state)?.turnId ?? null, callId: null,
    subject: { for: 'budget', raised: topUp.raised, acceptsUnknown: topUp.acceptsUnknown },
    title: topUp.acceptsUnknown ? 'What earlier model calls cost is not known' : `${bot === 'lead' ? 'Bot A' : 'Bot B'} has used up its ${topUp.cap === money ? 'money' : topUp.cap}`,
    exact: { label: topUp.acceptsUnknown ? 'Go on with an unknown cost' : 'Raised cap', text: canonicalJson({ cap: topUp.cap, from: topUp.from, to: topUp.to, acceptsUnknown: topUp.acceptsUnknown }), authoredBy: 'host' },
    facts: [
      { label: 'Why', value: exhaustedFailure(why, state.budget).message, exact: false, authoredBy: 'host' },
      { label: 'Cap now', value: amount(topUp.from, topUp.cap), exact: false, authoredBy: 'host' }, { label: 'Cap after', value: amount(topUp.to, topUp.cap), exact: false, authoredBy: 'host' },
      { label: 'If you deny', value: 'the task ends, and a snapshot of its workspace is kept', exact: false, authoredBy: 'host' },
    ],
    isolation: 'No model call is made for this task until you decide.', reaskReason: null,
  })
  return { type: 'hold-opened', hold }
}

/** Whether the owner is being asked for more budget. */
export function topUpWaits(state: TaskState): boolean {
  return waitingHolds(state).some((record) => record.hold.subject.for === 'budget')
}

/** Whether the budget was raised in this very turn, so that a call refused before that ends nothing. */
export function toppedUpMeanwhile(state: TaskState): boolean {
  return state.raisedInTurn === state.turns.length
}

/** The owner raised the cap: what paused goes on. */
export function topUpApproved(state: TaskState, ctx: DecideContext, settled: TaskEvent, subject: { readonly raised: BudgetLimits; readonly acceptsUnknown: boolean }): Decided {
  const raised: TaskEvent = { type: 'budget-raised', budget: subject.raised, acceptsUnknown: subject.acceptsUnknown }
  const events = [settled, raised]
  if (state.phase === 'briefing') return decided([...events, { type: 'lead-asked', purpose: 'brief' }], [{ kind: 'lead.brief' }])
  if (state.phase !== 'coding' || activeTurn(state) !== null || state.recovery !== null) return decided(events)
  return goOn({ ...state, budget: subject.raised }, ctx, events)
}

/** A new turn goes on where the paused one stopped; it costs one of the task's turns. */
export function goOn(state: TaskState, ctx: DecideContext, before: readonly TaskEvent[]): Decided {
  return startTurn(state, ctx, { kind: 'continue', text: continueText(state.turns.at(-1)?.text ?? '') }, before)
}

/** The owner did not raise it: the task ends. */
export function topUpDenied(state: TaskState, settled: TaskEvent): Decided {
  return failTask(state, failure('budget-exhausted', 'The budget was used up, and the owner did not raise it.', 'Request a revision with a larger budget, or start a new task.'), [settled])
}

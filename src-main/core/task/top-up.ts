import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import type { ApprovalId, Bot } from '../../../src-preload/contract/ids.ts'
import { budgetMaxima } from '../../../src-preload/contract/limits.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { BudgetLimits, RaiseOffer } from '../../../src-preload/contract/task.ts'
import { makeHold, type Hold, type HoldSubject, type PausedStep } from '../approval/hold.ts'
import { committedOf, exhaustedFailure, type Charge, type Exhausted, type ExhaustedReason } from '../budget/budget.ts'
import { canonicalJson, digestOf } from '../digest.ts'
import type { DecideContext } from './commands.ts'
import type { ChosenAmount, TaskEvent } from './events.ts'
import { activeTurn, waitingHolds, type TaskState } from './model.ts'

type BudgetSubject = Extract<HoldSubject, { for: 'budget' }>

/** Codes of failures that more budget mends. */
export const outOfBudget: ReadonlySet<string> = new Set(['budget-exhausted', 'usage-unknown'])

const limitOf = { turns: 'turnsMax', messages: 'messagesMax', requests: 'requestsMax', tokens: 'tokensMax', money: 'moneyMicroUsdMax' } as const satisfies Record<RaiseOffer['cap'], keyof BudgetLimits>
const words = { turns: 'turns', messages: 'messages', requests: 'model requests', tokens: 'tokens', money: 'money' } as const satisfies Record<RaiseOffer['cap'], string>

function amount(value: number, cap: RaiseOffer['cap']): string {
  return cap === 'money' ? `${(value / 1e6).toFixed(2)} USD` : `${String(value)} ${words[cap]}`
}

function isCap(reason: ExhaustedReason): reason is RaiseOffer['cap'] {
  return reason in limitOf
}

/**
 * What the owner may raise the cap to that ran out: from what lets the refused step go on (turns, messages), or one more, up to the hard maximum.
 * Suggested is twice the cap, or what the step needs, whichever is more. Null where the hard maximum does not suffice.
 */
function offerOf(state: TaskState, cap: RaiseOffer['cap'], needed: Charge): RaiseOffer | null {
  const from = state.budget[limitOf[cap]] ?? 0
  const max = budgetMaxima[limitOf[cap]]
  const wanted = committedOf(state.spending)[cap === 'money' ? 'moneyMicroUsd' : cap] + ((cap === 'money' ? needed.moneyMicroUsd : needed[cap]) ?? 0)
  const min = Math.max(from + 1, cap === 'turns' || cap === 'messages' ? wanted : 0)
  return min > max ? null : { cap, from, min, max, suggested: Math.min(max, Math.max(min, from * 2, wanted)) }
}

/**
 * B6. Exhausted: work pauses, and the owner alone may raise the cap, to an amount of the owner's choice. The hold's digest covers the cap, the bounds of
 * the choice and what goes on after it. Null: nothing can be raised or the owner is being asked, and the refusal stands.
 */
export function topUpHold(state: TaskState, ctx: DecideContext, bot: Bot, why: Exhausted, needed: Charge, then?: PausedStep): TaskEvent | null {
  const waits = bot === 'lead' ? state.phase === 'briefing' : state.phase === (isCorrection(then) ? 'verifying' : 'coding')
  if (!waits || stepWaits(state, then)) return null
  const acceptsUnknown = why.reason === 'usage-unknown'
  const offer = isCap(why.reason) ? offerOf(state, why.reason, needed) : null
  if (offer === null && !acceptsUnknown) return null
  const subject: BudgetSubject = { for: 'budget', raised: offer === null ? state.budget : raisedTo(state.budget, offer, offer.suggested), acceptsUnknown, ...(offer === null ? {} : { offer }), ...(then === undefined ? {} : { then }) }
  return { type: 'hold-opened', hold: makeHold(state.taskId, ctx.mint('apr') as ApprovalId, { ...cardOf(state, bot, why, offer, then), subject, generation: state.generation, turnId: activeTurn(state)?.turnId ?? null }) }
}

/** What the owner reads. */
function cardOf(state: TaskState, bot: Bot, why: Exhausted, offer: RaiseOffer | null, then: PausedStep | undefined): Omit<Hold, 'digest' | 'approvalId' | 'subject' | 'generation' | 'turnId'> {
  const money = state.budget.moneyMicroUsdMax ?? 0
  return {
    kind: 'budget', bot, callId: null,
    title: offer === null ? 'What earlier model calls cost is not known' : `${bot === 'lead' ? 'Bot A' : 'Bot B'} has used up its ${words[offer.cap]}`,
    exact: offer === null
      ? { label: 'Go on with an unknown cost', text: canonicalJson({ cap: 'money', from: money, to: money, acceptsUnknown: true }), authoredBy: 'host' }
      : { label: 'Cap that may be raised', text: canonicalJson({ cap: offer.cap, from: offer.from, atLeast: offer.min, atMost: offer.max, suggested: offer.suggested }), authoredBy: 'host' },
    facts: [
      { label: 'Why', value: exhaustedFailure(why, state.budget).message, exact: false, authoredBy: 'host' },
      ...(offer === null ? [] : [{ label: 'Cap now', value: amount(offer.from, offer.cap), exact: false, authoredBy: 'host' as const }, { label: 'At most', value: amount(offer.max, offer.cap), exact: false, authoredBy: 'host' as const }]),
      ...(then === undefined ? [] : [{ label: 'Then', value: thenWords(then), exact: false, authoredBy: 'host' as const }]),
      ...(then?.do === 'question' ? [{ label: 'Its question', value: then.text, exact: true, authoredBy: 'coder' as const }] : []),
      { label: 'Until you decide', value: 'nothing that costs is done for this step', exact: false, authoredBy: 'host' },
      { label: 'If you deny', value: isCorrection(then) ? 'the result comes to you as it is, with the check that did not pass' : 'the task ends, and a snapshot of its workspace is kept', exact: false, authoredBy: 'host' },
    ],
    isolation: 'The app raises the cap itself; the sandboxes stay as they are.', reaskReason: null,
  }
}

function thenWords(then: PausedStep): string {
  if (then.do === 'question') return 'Bot B\'s question is handed to Bot A'
  return isCorrection(then) ? 'the result goes back to Bot B, which mends it in a new turn' : 'Bot B goes on in a new turn'
}

function isCorrection(then: PausedStep | undefined): boolean {
  return then?.do === 'turn' && then.kind === 'correction'
}

/** Whether the owner is being asked for the budget to send a result back. */
export function correctionWaits(state: TaskState): boolean {
  return waitingHolds(state).some(({ hold: { subject } }) => subject.for === 'budget' && isCorrection(subject.then))
}

/** Whether the owner is being asked for the budget of this very step. One hold at a time for model calls, one for a turn, and one for each question that waits for it. */
export function stepWaits(state: TaskState, then: PausedStep | undefined): boolean {
  return waitingHolds(state).some(({ hold: { subject } }) => subject.for === 'budget' && subject.then?.do === then?.do && (then?.do !== 'question' || (subject.then?.do === 'question' && subject.then.upstreamId === then.upstreamId)))
}

/** Whether the owner is being asked for more budget for model calls. */
export function topUpWaits(state: TaskState): boolean {
  return stepWaits(state, undefined)
}

/** Whether the budget was raised in this very turn, so that a call refused before that ends nothing. */
export function toppedUpMeanwhile(state: TaskState): boolean {
  return state.raisedInTurn === state.turns.length
}

/** What an approval makes of the budget as it is now. It never lowers a cap: another one may have been raised since the card was made. */
export function budgetAfter(budget: BudgetLimits, subject: BudgetSubject, chosen: number | undefined): BudgetLimits {
  return subject.offer === undefined ? subject.raised : raisedTo(budget, subject.offer, chosen ?? subject.offer.suggested)
}

function raisedTo(budget: BudgetLimits, { cap }: RaiseOffer, to: number): BudgetLimits {
  return { ...budget, [limitOf[cap]]: Math.max(budget[limitOf[cap]] ?? 0, to) }
}

/** The owner's amount, bound to the hold that it answers; null where the card offers none or none was named. Refuses what the card does not offer. */
export function chooseAmount(hold: Hold, to: number | undefined): Result<ChosenAmount | null, Failure> {
  if (to === undefined) return ok(null)
  const offer = hold.subject.for === 'budget' ? hold.subject.offer : undefined
  if (offer === undefined) return err(failure('invalid-input', 'This approval has no amount to choose.', 'Look at the card again, then decide. It still waits.'))
  if (!Number.isSafeInteger(to) || to < offer.min || to > offer.max) return err(failure('invalid-input', `The cap can be raised to between ${amount(offer.min, offer.cap)} and ${amount(offer.max, offer.cap)}.`, 'Choose an amount between these. The approval still waits.'))
  return ok({ to, digest: chosenDigest(hold, to) })
}

/** A1, with a choice: covers the hold and the amount. */
export function chosenDigest(hold: Pick<Hold, 'digest'>, to: number): ChosenAmount['digest'] {
  return digestOf({ approved: hold.digest, to })
}

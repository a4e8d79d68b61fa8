import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { BudgetLimits, Meter } from '../../../src-preload/contract/task.ts'

/** What one step takes at most. `moneyMicroUsd` null: its price is not known. */
export interface Charge { readonly turns: number; readonly messages: number; readonly requests: number; readonly tokens: number; readonly moneyMicroUsd: number | null }
/** What a call took as its vendor reported it. Null: not reported; never read as zero. */
export interface Usage { readonly tokens: number | null; readonly moneyMicroUsd: number | null }

// B1. Reserve before, settle after: open reservations count as spent until their outcome is known.
// B2. Unknown is unknown: a settlement without numbers keeps its whole reservation spent and marks the meter.
// B3. With a money cap, nothing is bought at an unknown price or after an unknown cost.
// B4. A reservation buys once: asking again under its id changes nothing, and a settled id buys nothing.
export interface BudgetState {
  readonly open: ReadonlyMap<string, Charge>
  readonly settled: ReadonlySet<string>
  readonly spent: { readonly turns: number; readonly messages: number; readonly requests: number; readonly tokens: number; readonly moneyMicroUsd: number }
  readonly unknown: { readonly tokens: boolean; readonly money: boolean }
  /** The owner has accepted that what was spent so far is not known; an unknown cost after that is another one. */
  readonly moneyAccepted: boolean
}

export const emptyBudget: BudgetState = { open: new Map(), settled: new Set(), spent: { turns: 0, messages: 0, requests: 0, tokens: 0, moneyMicroUsd: 0 }, unknown: { tokens: false, money: false }, moneyAccepted: false }

export const exhaustedReasons = ['turns', 'messages', 'requests', 'tokens', 'money', 'price-unknown', 'usage-unknown', 'already-settled', 'other-charge'] as const
export type ExhaustedReason = (typeof exhaustedReasons)[number]
/** `passing`: only what other calls hold until they end is in the way; what is spent would leave room. */
export interface Exhausted { readonly reason: ExhaustedReason; readonly passing?: true }

type Counted = 'turns' | 'messages' | 'requests' | 'tokens'
const counted: readonly Counted[] = ['turns', 'messages', 'requests', 'tokens']

/** Reserves `charge` under `id`, or says what does not suffice. Reserving the same charge again under an open id changes nothing. */
export function reserve(state: BudgetState, limits: BudgetLimits, id: string, charge: Charge): Result<BudgetState, Exhausted> {
  if (state.settled.has(id)) return err({ reason: 'already-settled' })
  const held = state.open.get(id)
  if (held !== undefined) return sameCharge(held, charge) ? ok(state) : err({ reason: 'other-charge' })
  const committed = committedOf(state)
  if (charge.turns > 0 && committed.turns + charge.turns > limits.turnsMax) return err({ reason: 'turns' })
  if (charge.messages > 0 && committed.messages + charge.messages > limits.messagesMax) return err({ reason: 'messages' })
  if (charge.requests > 0 && committed.requests + charge.requests > limits.requestsMax) return err({ reason: 'requests' })
  if (charge.tokens > 0 && committed.tokens + charge.tokens > limits.tokensMax) return err({ reason: 'tokens' })
  const cap = limits.moneyMicroUsdMax
  if (cap !== null && charge.requests > 0) {
    if (charge.moneyMicroUsd === null) return err({ reason: 'price-unknown' })
    if ((state.unknown.money && !state.moneyAccepted) || [...state.open.values()].some((open) => open.moneyMicroUsd === null)) return err({ reason: 'usage-unknown' })
    if (committed.moneyMicroUsd + charge.moneyMicroUsd > cap) return err({ reason: 'money' })
  }
  return ok({ open: new Map(state.open).set(id, charge), settled: state.settled, spent: state.spent, unknown: state.unknown, moneyAccepted: state.moneyAccepted })
}

/** Settles an open reservation with what was reported. An id that is not open (settled before, never reserved) changes nothing. */
export function settle(state: BudgetState, id: string, usage: Usage): BudgetState {
  return state.open.has(id) ? { ...settleOnce(state, id, usage), settled: new Set(state.settled).add(id) } : state
}

/** `settle` for ids that are never used again: it is not remembered that this one bought something. */
export function settleOnce(state: BudgetState, id: string, usage: Usage): BudgetState {
  const charge = state.open.get(id)
  if (charge === undefined) return state
  return {
    open: without(state.open, id), settled: state.settled,
    spent: {
      turns: state.spent.turns + charge.turns, messages: state.spent.messages + charge.messages, requests: state.spent.requests + charge.requests,
      tokens: state.spent.tokens + (usage.tokens ?? charge.tokens), moneyMicroUsd: state.spent.moneyMicroUsd + (usage.moneyMicroUsd ?? charge.moneyMicroUsd ?? 0),
    },
    unknown: { tokens: state.unknown.tokens || usage.tokens === null, money: state.unknown.money || usage.moneyMicroUsd === null },
    moneyAccepted: state.moneyAccepted && usage.moneyMicroUsd !== null,
  }
}

/** Gives an open reservation back, only for what provably never left. An outcome that is merely unknown is `settle`d or stays open. */
export function release(state: BudgetState, id: string): BudgetState {
  return state.open.has(id) ? { ...state, open: without(state.open, id) } : state
}

function without(open: BudgetState['open'], id: string): BudgetState['open'] {
  if (open.size === 1) return emptyBudget.open
  const left = new Map(open)
  left.delete(id)
  return left
}

/** The inspector's meters. `unknown`: some of it was not reported, so `used` holds the reservation in its place. */
export function meters(state: BudgetState, limits: BudgetLimits): Meter[] {
  const reserved = sumOf(state.open)
  const { spent, unknown } = state
  const priceless = [...state.open.values()].some((charge) => charge.requests > 0 && charge.moneyMicroUsd === null)
  return [
    { name: 'turns', used: spent.turns, reserved: reserved.turns, limit: limits.turnsMax, unknown: false },
    { name: 'messages', used: spent.messages, reserved: reserved.messages, limit: limits.messagesMax, unknown: false },
    { name: 'requests', used: spent.requests, reserved: reserved.requests, limit: limits.requestsMax, unknown: false },
    { name: 'tokens', used: spent.tokens, reserved: reserved.tokens, limit: limits.tokensMax, unknown: unknown.tokens },
    { name: 'money', used: spent.moneyMicroUsd, reserved: reserved.moneyMicroUsd, limit: limits.moneyMicroUsdMax, unknown: unknown.money || priceless },
  ]
}

/** What the owner reads when a step was not allowed. */
export function exhaustedFailure({ reason }: Exhausted, limits: BudgetLimits): Failure {
  const topUp = 'Raise the budget of the task, or start a new one. Stopping it stays possible.'
  switch (reason) {
    case 'turns': return failure('budget-exhausted', `All ${limits.turnsMax} turns of this task are used.`, topUp)
    case 'messages': return failure('budget-exhausted', `All ${limits.messagesMax} messages between the bots are used.`, topUp)
    case 'requests': return failure('budget-exhausted', `All ${limits.requestsMax} model requests of this task are used or reserved.`, topUp)
    case 'tokens': return failure('budget-exhausted', `The task's ${limits.tokensMax} tokens are used or reserved.`, topUp)
    case 'money': return failure('budget-exhausted', `The task's ${((limits.moneyMicroUsdMax ?? 0) / 1e6).toFixed(2)} USD are used or reserved.`, topUp)
    case 'price-unknown': return failure('usage-unknown', 'This task has a money cap, and the price of this model is not known.', 'Enter the model\'s price in Settings, or take the money cap away.')
    case 'usage-unknown': return failure('usage-unknown', 'This task has a money cap, and what an earlier call cost is not known.', 'Look at the provider\'s bill, then raise the budget or take the money cap away.')
    case 'already-settled': return failure('conflict', 'This step was paid for and settled before.', 'Nothing to do: it was not run again.')
    case 'other-charge': return failure('conflict', 'This step was reserved before with other content.', 'Nothing to do: it was not run again.')
  }
}

function sameCharge(a: Charge, b: Charge): boolean {
  return counted.every((name) => a[name] === b[name]) && a.moneyMicroUsd === b.moneyMicroUsd
}

function sumOf(charges: ReadonlyMap<string, Charge>): BudgetState['spent'] {
  const sum = { turns: 0, messages: 0, requests: 0, tokens: 0, moneyMicroUsd: 0 }
  for (const charge of charges.values()) {
    for (const name of counted) sum[name] += charge[name]
    sum.moneyMicroUsd += charge.moneyMicroUsd ?? 0
  }
  return sum
}

/** Spent and reserved together. */
export function committedOf(state: BudgetState): BudgetState['spent'] {
  const { spent } = state
  if (state.open.size === 0) return spent
  const open = sumOf(state.open)
  return { turns: spent.turns + open.turns, messages: spent.messages + open.messages, requests: spent.requests + open.requests, tokens: spent.tokens + open.tokens, moneyMicroUsd: spent.moneyMicroUsd + open.moneyMicroUsd }
}

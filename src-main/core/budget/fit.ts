import type { BudgetLimits } from '../../../src-preload/contract/task.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import { committedOf, emptyBudget, reserve, type BudgetState, type Charge, type Exhausted } from './budget.ts'
import { bytesPerToken, requestCharge, type Price } from './charge.ts'

/**
 * What a model request may take. `outputTokensMax`: what the model puts out at most; `outputTokensAsked`: what the request asks for at most, null if
 * it says nothing of it; `choices`: how many answers it asks for, each of which may be as long; one where it is not said.
 */
export interface WantedRequest { readonly bodyBytes: number; readonly outputTokensMax: number; readonly outputTokensAsked: number | null; readonly choices?: number | undefined; readonly streams: boolean; readonly price: Price | null }

/** Where a stream is to be cut; nothing in it: nowhere. `outputWhole`: all that was wanted was reserved, so only a stream that keeps to no limit passes it. */
export interface OutputBound { readonly outputTokensMax?: number | undefined; readonly outputWhole?: true | undefined }

/** What was reserved, and where its stream is to be cut. */
export interface Fit { readonly state: BudgetState; readonly charge: Charge; readonly bound: OutputBound }

/** Less output than this is not worth a request. */
const outputTokensMin = 256

/** A cap on tokens from here on is none: nothing is cut for its sake. */
export const tokensUncapped = 1_000_000_000

/** More than any request can take; sums with it stay exact. */
const outputTokensMost = 1_000_000_000_000

/**
 * B5. Reserves a request whole where it fits. Where only its output is too much for what is left of tokens or money, a request that streams gets
 * what is left, and the proxy cuts its stream there: the last of a budget can be used, and parallel requests cannot spend it twice. Under a cap on
 * tokens or money a whole reservation bounds its stream as well, since a vendor may not keep to what was asked of it. A reply that is no stream is
 * bounded by its vendor alone, and settled with what it took.
 */
export function fitRequest(state: BudgetState, limits: BudgetLimits, id: string, wanted: WantedRequest): Result<Fit, Exhausted> {
  const fit = fitBeside(state, limits, id, wanted)
  if (fit.ok || state.open.size === 0 || state.open.has(id)) return fit
  return fitBeside({ ...state, open: emptyBudget.open }, limits, id, wanted).ok ? err({ ...fit.error, passing: true }) : fit
}

/** All the output that a request may have, over all of its answers. */
export function outputWanted({ outputTokensMax, outputTokensAsked, choices }: Pick<WantedRequest, 'outputTokensMax' | 'choices'> & { readonly outputTokensAsked?: number | null | undefined }): number {
  return Math.min((outputTokensAsked ?? outputTokensMax) * (choices ?? 1), outputTokensMost)
}

function fitBeside(state: BudgetState, limits: BudgetLimits, id: string, wanted: WantedRequest): Result<Fit, Exhausted> {
  const output = outputWanted(wanted)
  const whole = requestCharge({ bodyBytes: wanted.bodyBytes, outputTokensMax: output, price: wanted.price })
  const reserved = reserve(state, limits, id, whole)
  if (reserved.ok) return ok({ state: reserved.value, charge: whole, bound: isCapped(limits) ? { outputTokensMax: output, outputWhole: true } : {} })
  const room = wanted.streams ? Math.min(output, outputRoom(state, limits, wanted)) : 0
  if (room < outputTokensMin) return reserved
  // What less output does not mend is refused again, and for the same reason.
  const part = requestCharge({ ...wanted, outputTokensMax: room })
  const second = reserve(state, limits, id, part)
  return second.ok ? ok({ state: second.value, charge: part, bound: { outputTokensMax: room } }) : reserved
}

function isCapped({ tokensMax, moneyMicroUsdMax }: BudgetLimits): boolean {
  return tokensMax < tokensUncapped || moneyMicroUsdMax !== null
}

/** Tokens of output that are left beside the request's own input, by tokens and by money. */
function outputRoom(state: BudgetState, limits: BudgetLimits, { bodyBytes, price }: WantedRequest): number {
  const committed = committedOf(state)
  const inputTokens = Math.ceil(bodyBytes / bytesPerToken)
  const byTokens = limits.tokensMax - committed.tokens - inputTokens
  if (limits.moneyMicroUsdMax === null || price === null || price.outputMicroUsd === 0) return byTokens
  const moneyLeft = limits.moneyMicroUsdMax - committed.moneyMicroUsd - Math.ceil((inputTokens * price.inputMicroUsd) / 1_000_000) - 1
  return Math.min(byTokens, Math.floor((moneyLeft * 1_000_000) / price.outputMicroUsd))
}

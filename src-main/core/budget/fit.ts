import type { BudgetLimits } from '../../../src-preload/contract/task.ts'
import { ok, type Result } from '../../../src-preload/contract/result.ts'
import { committedOf, reserve, type BudgetState, type Charge, type Exhausted } from './budget.ts'
import { bytesPerToken, requestCharge, type Price } from './charge.ts'

/** What a model request may take. `outputTokensMax`: what the model puts out at most; `outputTokensAsked`: what the request asks for at most, null if it says nothing of it. */
export interface WantedRequest { readonly bodyBytes: number; readonly outputTokensMax: number; readonly outputTokensAsked: number | null; readonly streams: boolean; readonly price: Price | null }

/** What was reserved. `outputTokensMax` set: less output than wanted, so the stream is to be cut there. */
export interface Fit { readonly state: BudgetState; readonly charge: Charge; readonly outputTokensMax: number | null }

/** Less output than this is not worth a request. */
const outputTokensMin = 256

/**
 * B5. Reserves a request whole where it fits. Where only its output is too much for what is left of tokens or money, a request that streams gets
 * what is left, and the proxy cuts its stream there: the last of a budget can be used, and parallel requests cannot spend it twice.
 */
export function fitRequest(state: BudgetState, limits: BudgetLimits, id: string, wanted: WantedRequest): Result<Fit, Exhausted> {
  const output = wanted.outputTokensAsked ?? wanted.outputTokensMax
  const whole = requestCharge({ bodyBytes: wanted.bodyBytes, outputTokensMax: output, price: wanted.price })
  const reserved = reserve(state, limits, id, whole)
  if (reserved.ok) return ok({ state: reserved.value, charge: whole, outputTokensMax: null })
  const room = wanted.streams ? Math.min(output, outputRoom(state, limits, wanted)) : 0
  if (room < outputTokensMin) return reserved
  // What less output does not mend is refused again, and for the same reason.
  const part = requestCharge({ ...wanted, outputTokensMax: room })
  const second = reserve(state, limits, id, part)
  return second.ok ? ok({ state: second.value, charge: part, outputTokensMax: room }) : reserved
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

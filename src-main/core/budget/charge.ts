import type { Charge } from './budget.ts'

/** Micro-USD per million tokens. Null members do not exist: a price is known whole or not at all. */
export interface Price { readonly inputMicroUsd: number; readonly outputMicroUsd: number }

/** UTF-8 bytes of a request body that a token takes at least, so that a reservation errs on the high side for text and code. */
export const bytesPerToken = 2

/**
 * What a model request takes at most: the body's bytes as tokens, the output up to the model's limit, and both at `price`.
 * `price` null: not known, and the charge says so.
 */
export function requestCharge(request: { readonly bodyBytes: number; readonly outputTokensMax: number; readonly price: Price | null }): Charge {
  const inputTokens = Math.ceil(request.bodyBytes / bytesPerToken)
  return {
    turns: 0, messages: 0, requests: 1, tokens: inputTokens + request.outputTokensMax,
    moneyMicroUsd: request.price === null ? null : costMicroUsd(request.price, inputTokens, request.outputTokensMax),
  }
}

export const turnCharge: Charge = { turns: 1, messages: 0, requests: 0, tokens: 0, moneyMicroUsd: 0 }
export const messageCharge: Charge = { turns: 0, messages: 1, requests: 0, tokens: 0, moneyMicroUsd: 0 }

/** Price of a call, rounded up to a whole micro-USD. Exact: whole numbers up to 9 · 10^15 before the division. */
export function costMicroUsd(price: Price, inputTokens: number, outputTokens: number): number {
  const perMillion = BigInt(inputTokens) * BigInt(price.inputMicroUsd) + BigInt(outputTokens) * BigInt(price.outputMicroUsd)
  return Number((perMillion + 999_999n) / 1_000_000n)
}

/** What a finished call used: known only where the vendor reported both numbers; money only where the price is known too. */
export function usageOf(reported: { readonly inputTokens: number | null; readonly outputTokens: number | null }, price: Price | null): { readonly tokens: number | null; readonly moneyMicroUsd: number | null } {
  const { inputTokens, outputTokens } = reported
  if (inputTokens === null || outputTokens === null) return { tokens: null, moneyMicroUsd: null }
  return { tokens: inputTokens + outputTokens, moneyMicroUsd: price === null ? null : costMicroUsd(price, inputTokens, outputTokens) }
}

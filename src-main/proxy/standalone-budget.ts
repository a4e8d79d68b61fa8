import type { BudgetLimits } from '../../src-preload/contract/task.ts'
import { emptyBudget, exhaustedFailure, settleOnce, type BudgetState } from '../core/budget/budget.ts'
import { costMicroUsd, usageOf, type Price } from '../core/budget/charge.ts'
import { fitRequest } from '../core/budget/fit.ts'
import type { Admission } from './admission.ts'

interface Wanted { readonly callNumber: number; readonly bodyBytes: number; readonly streams: boolean; readonly outputTokensAsked: number | null; readonly choices?: number | undefined; readonly outputTokensMax: number; readonly price: Price | null }
interface Ended { readonly callNumber: number; readonly inputTokens: number | null; readonly outputTokens: number | null }

/** The caps of one client, for as long as the proxy runs: reserved before a call leaves, settled with what the vendor reports. */
export class ClientBudget {
  #limits: BudgetLimits
  #state: BudgetState = emptyBudget
  readonly #prices = new Map<number, Price | null>()

  constructor(caps: Pick<BudgetLimits, 'requestsMax' | 'tokensMax' | 'moneyMicroUsdMax'>) {
    this.#limits = limitsOf(caps)
  }

  /** Other caps from now on; what was spent stays spent. */
  limit(caps: Pick<BudgetLimits, 'requestsMax' | 'tokensMax' | 'moneyMicroUsdMax'>): void {
    this.#limits = limitsOf(caps)
  }

  admit(wanted: Wanted): Admission {
    const fit = fitRequest(this.#state, this.#limits, String(wanted.callNumber), wanted)
    if (!fit.ok) {
      const { code, message } = exhaustedFailure(fit.error, this.#limits)
      return { admit: false, code: code === 'usage-unknown' ? 'usage_unknown' : 'budget_exhausted', message: message.replaceAll('task', 'client'), ...(fit.error.passing === true ? { passing: true } : {}) }
    }
    this.#state = fit.value.state
    this.#prices.set(wanted.callNumber, wanted.price)
    return { admit: true, ...fit.value.bound }
  }

  /** Settles a call; what it cost, null if that is not known. */
  ended({ callNumber, inputTokens, outputTokens }: Ended): number | null {
    const price = this.#prices.get(callNumber) ?? null
    this.#prices.delete(callNumber)
    // A call number is never used again.
    this.#state = settleOnce(this.#state, String(callNumber), usageOf({ inputTokens, outputTokens }, price))
    return price === null || inputTokens === null || outputTokens === null ? null : costMicroUsd(price, inputTokens, outputTokens)
  }
}

function limitsOf(caps: Pick<BudgetLimits, 'requestsMax' | 'tokensMax' | 'moneyMicroUsdMax'>): BudgetLimits {
  return { profile: 'standalone', turnsMax: 1, messagesMax: 1, deadlineMs: 10_000, ...caps }
}

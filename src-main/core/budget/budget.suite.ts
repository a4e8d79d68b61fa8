import type { BudgetLimits } from '../../../src-preload/contract/task.ts'
import { reserve, type BudgetState, type Charge } from './budget.ts'

export const pilot: BudgetLimits = { profile: 'pilot', turnsMax: 4, messagesMax: 8, requestsMax: 10, tokensMax: 1_000, moneyMicroUsdMax: 2_500_000, deadlineMs: 600_000 }

/** What a model call may take. */
export function request(tokens: number, moneyMicroUsd: number | null): Charge {
  return { turns: 0, messages: 0, requests: 1, tokens, moneyMicroUsd }
}

/** A reservation that must be taken. */
export function reserved(state: BudgetState, id: string, charge: Charge, caps = pilot): BudgetState {
  const result = reserve(state, caps, id, charge)
  if (!result.ok) throw new Error(result.error.reason)
  return result.value
}

import { limits } from './limits.ts'
import type { BudgetLimits } from './task.ts'

/** Profile `pilot` of contracts 1, with caps at the proxy that two bots on one small task stay well within. What a new installation begins with. */
export const pilotBudget: BudgetLimits = {
  profile: 'pilot', turnsMax: limits.turnsMax, messagesMax: limits.contentMessagesMax, requestsMax: limits.turnsMax * limits.requestsPerTurnMax,
  tokensMax: 5_000_000, moneyMicroUsdMax: null, deadlineMs: limits.taskDeadlineMs,
}

/** Four times of all that, for work that takes an hour. */
export const longBudget: BudgetLimits = {
  profile: 'long', turnsMax: 4 * pilotBudget.turnsMax, messagesMax: 4 * pilotBudget.messagesMax, requestsMax: 4 * pilotBudget.requestsMax,
  tokensMax: 4 * pilotBudget.tokensMax, moneyMicroUsdMax: null, deadlineMs: 60 * 60_000,
}

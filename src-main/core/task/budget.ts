import type { Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { Meter } from '../../../src-preload/contract/task.ts'
import { exhaustedFailure, meters, reserve, settle, type BudgetState, type Charge } from '../budget/budget.ts'
import { messageCharge, turnCharge } from '../budget/charge.ts'
import type { TaskEvent } from './events.ts'
import type { TaskState } from './model.ts'

/** What happened is counted, also beyond a cap: caps are checked where it is decided. */
const uncapped = { profile: 'counted', turnsMax: Infinity, messagesMax: Infinity, requestsMax: Infinity, tokensMax: Infinity, moneyMicroUsdMax: null, deadlineMs: Infinity }
const nothing = { tokens: 0, moneyMicroUsd: 0 }

function counted(state: BudgetState, id: string, charge: Charge): BudgetState {
  const reserved = reserve(state, uncapped, id, charge)
  return reserved.ok ? reserved.value : state
}

/** The budget after an event that reserves or settles some of it. */
export function spendOn(state: TaskState, event: Extract<TaskEvent, { type: 'turn-intended' | 'turn-ended' | 'envelope-posted' | 'call-reserved' | 'call-settled' }>): BudgetState {
  const { spending } = state
  switch (event.type) {
    case 'turn-intended': return counted(spending, event.turnId, turnCharge)
    case 'turn-ended': return settle(spending, event.turnId, nothing)
    case 'envelope-posted': return settle(counted(spending, event.eventId, messageCharge), event.eventId, nothing)
    case 'call-reserved': return counted(spending, callKey(event.call), { turns: 0, messages: 0, requests: 1, tokens: event.tokens, moneyMicroUsd: event.moneyMicroUsd })
    case 'call-settled': return settle(spending, callKey(event.call), { tokens: event.inputTokens === null || event.outputTokens === null ? null : event.inputTokens + event.outputTokens, moneyMicroUsd: event.costMicroUsd })
  }
}

/** Whether a charge fits the task's budget now; else why not, in words for the owner. */
export function affordable(state: TaskState, id: string, charge: Charge): Result<null, Failure> {
  const reserved = reserve(state.spending, state.budget, id, charge)
  return reserved.ok ? ok(null) : err(exhaustedFailure(reserved.error, state.budget))
}

/** Under which id a model call is reserved. */
export function callKey(call: number): string {
  return `call-${call}`
}

/** What the inspector shows of the budget. */
export function budgetMeters(state: TaskState): Meter[] {
  return meters(state.spending, state.budget)
}

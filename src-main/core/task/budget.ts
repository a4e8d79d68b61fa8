import type { Meter } from '../../../src-preload/contract/task.ts'
import type { TaskState } from './model.ts'

/** What the inspector shows of the budget. */
export function budgetMeters(state: TaskState): Meter[] {
  const open = state.calls.filter((call) => !call.settled)
  const settled = state.calls.filter((call) => call.settled)
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
  return [
    { name: 'turns', used: state.turns.filter((turn) => turn.state === 'ended').length, reserved: state.turns.filter((turn) => turn.state !== 'ended').length, limit: state.budget.turnsMax, unknown: false },
    { name: 'messages', used: state.envelopeSeq.lead + state.envelopeSeq.coder, reserved: 0, limit: state.budget.messagesMax, unknown: false },
    { name: 'requests', used: settled.length, reserved: open.length, limit: state.budget.requestsMax, unknown: false },
    { name: 'tokens', used: sum(settled.map((call) => (call.inputTokens ?? 0) + (call.outputTokens ?? 0))), reserved: sum(open.map((call) => call.tokensReserved)), limit: state.budget.tokensMax, unknown: settled.some((call) => call.ok && call.inputTokens === null) },
    { name: 'money', used: sum(settled.map((call) => call.costMicroUsd ?? 0)), reserved: sum(open.map((call) => call.moneyReserved ?? 0)), limit: state.budget.moneyMicroUsdMax, unknown: settled.some((call) => call.ok && call.costMicroUsd === null) },
  ]
}

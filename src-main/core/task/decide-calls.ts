import type { HostCommand } from './commands.ts'
import { budgetMeters } from './budget.ts'
import { decided, ignored, type Decided } from './decision.ts'
import type { TaskState } from './model.ts'

type Host<K extends HostCommand['is']> = Extract<HostCommand, { is: K }>

/** Bytes of request body that make a token at least: errs on the side of reserving too much. */
const bytesPerToken = 3

/** B2. Reserves before a call leaves, or refuses with the reason. */
export function callWanted(state: TaskState, command: Host<'call-wanted'>): Decided {
  const refuse = (code: string, message: string): Decided => decided([{ type: 'call-refused', bot: command.bot, code, message }])
  if (state.cancel !== null || state.phase === 'ended') return refuse('stopped', 'The task was stopped.')
  const tokens = Math.ceil(command.bodyBytes / bytesPerToken)
  const money = command.price === null ? null : Math.ceil((tokens * command.price.inputMicroUsd + command.outputTokensMax * command.price.outputMicroUsd) / 1e6)
  for (const meter of budgetMeters(state)) {
    if (meter.limit === null) continue
    if (meter.name === 'requests' && meter.used + meter.reserved + 1 > meter.limit) return refuse('budget_exhausted', `All ${String(meter.limit)} model requests of this task are used.`)
    if (meter.name === 'tokens' && meter.used + meter.reserved + tokens > meter.limit) return refuse('budget_exhausted', `The task's ${String(meter.limit)} tokens are used or reserved.`)
    if (meter.name !== 'money') continue
    if (money === null) return refuse('usage_unknown', 'This task has a money cap, and the price of this model is not known.')
    if (meter.unknown) return refuse('usage_unknown', 'This task has a money cap, and what an earlier call cost is not known.')
    if (meter.used + meter.reserved + money > meter.limit) return refuse('budget_exhausted', 'The task\'s money cap is used or reserved.')
  }
  return decided([{ type: 'call-reserved', call: state.calls.length + 1, bot: command.bot, model: command.model, bodyBytes: command.bodyBytes, tokens, moneyMicroUsd: money }])
}

/** Settles a reservation, once. */
export function callEnded(state: TaskState, command: Host<'call-ended'>): Decided {
  const call = state.calls[command.call - 1]
  if (call === undefined || call.settled) return ignored
  const { is: _, ...facts } = command
  return decided([{ type: 'call-settled', ...facts }])
}

import { requestCharge } from '../budget/charge.ts'
import { affordable, callKey } from './budget.ts'
import { needsProviderHold } from './decide-brief.ts'
import type { HostCommand } from './commands.ts'
import { decided, ignored, type Decided } from './decision.ts'
import type { TaskState } from './model.ts'

type Host<K extends HostCommand['is']> = Extract<HostCommand, { is: K }>

/** B2. Reserves before a call leaves, or refuses with the reason. */
export function callWanted(state: TaskState, command: Host<'call-wanted'>): Decided {
  const refuse = (code: string, message: string): Decided => decided([{ type: 'call-refused', bot: command.bot, code, message }])
  if (state.cancel !== null || state.phase === 'ended') return refuse('stopped', 'The task was stopped.')
  // A2, at the door: nothing leaves for a provider that the owner has not approved.
  if (needsProviderHold(state, command.bot)) return refuse('provider_not_approved', 'The owner has not approved this provider for this bot.')
  const charge = requestCharge(command)
  const call = state.calls.length + 1
  const fits = affordable(state, callKey(call), charge)
  if (!fits.ok) return refuse(fits.error.code === 'usage-unknown' ? 'usage_unknown' : 'budget_exhausted', `${fits.error.message} ${fits.error.todo}`)
  return decided([{ type: 'call-reserved', call, bot: command.bot, model: command.model, bodyBytes: command.bodyBytes, tokens: charge.tokens, moneyMicroUsd: charge.moneyMicroUsd }])
}

/** Settles a reservation, once. */
export function callEnded(state: TaskState, command: Host<'call-ended'>): Decided {
  const call = state.calls[command.call - 1]
  if (call === undefined || call.settled) return ignored
  const { is: _, ...facts } = command
  return decided([{ type: 'call-settled', ...facts }])
}

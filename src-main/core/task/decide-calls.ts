import { limits } from '../../../src-preload/contract/limits.ts'
import { sameModel } from '../../../src-preload/contract/model-name.ts'
import { exhaustedFailure } from '../budget/budget.ts'
import { requestCharge } from '../budget/charge.ts'
import { fitRequest, outputWanted } from '../budget/fit.ts'
import { callKey } from './budget.ts'
import { needsProviderHold } from './decide-brief.ts'
import type { DecideContext, HostCommand } from './commands.ts'
import { deadlineFailure } from './decide-stop.ts'
import { decided, failTask, ignored, interruptTools, type Decided } from './decision.ts'
import type { TaskEvent } from './events.ts'
import { activeTurn, type ModelCallRecord, type TaskState } from './model.ts'
import { topUpHold } from './top-up.ts'

type Host<K extends HostCommand['is']> = Extract<HostCommand, { is: K }>

/** B2. Reserves before a call leaves, or refuses with the reason. */
export function callWanted(state: TaskState, command: Host<'call-wanted'>, ctx: DecideContext): Decided {
  const refuse = (code: string, message: string, also: readonly TaskEvent[] = [], passing = false): Decided => decided([{ type: 'call-refused', bot: command.bot, code, message, ...(passing ? { passing } : {}) }, ...also])
  if (state.cancel !== null || state.phase === 'ended') return refuse('stopped', 'The task was stopped.')
  // C3. What the bots did in time may still be reviewed.
  if (ctx.now >= state.deadlineAt && state.phase !== 'reviewing') return refuse('deadline_passed', deadlineFailure.message)
  // A2, at the door: nothing leaves for a provider that the owner has not approved.
  if (needsProviderHold(state, command.bot)) return refuse('provider_not_approved', 'The owner has not approved this provider for this bot.')
  // A model that goes round in circles is stopped, whatever the task's budget still has.
  if (command.bot === 'coder' && state.calls.filter(({ bot, turn }) => bot === 'coder' && turn === state.turns.length).length >= limits.requestsPerTurnMax) {
    return refuse('requests_per_turn', `Bot B has made ${String(limits.requestsPerTurnMax)} model requests in this turn, which is the most that one may take.`)
  }
  const call = state.calls.length + 1
  const fit = fitRequest(state.spending, state.budget, callKey(call), { ...command, streams: command.streams ?? false, outputTokensAsked: command.outputTokensAsked ?? null })
  if (!fit.ok) {
    const failed = exhaustedFailure(fit.error, state.budget)
    const topUp = topUpHold(state, ctx, command.bot, fit.error, requestCharge({ ...command, outputTokensMax: outputWanted(command) }))
    return refuse(failed.code === 'usage-unknown' ? 'usage_unknown' : 'budget_exhausted', `${failed.message} ${failed.todo}`, topUp === null ? [] : [topUp], fit.error.passing === true)
  }
  const { charge: { tokens, moneyMicroUsd }, bound } = fit.value
  return decided([{ type: 'call-reserved', call, bot: command.bot, model: command.model, bodyBytes: command.bodyBytes, tokens, moneyMicroUsd, ...bound }])
}

/** Settles a reservation, once. */
export function callEnded(state: TaskState, command: Host<'call-ended'>): Decided {
  const call = state.calls[command.call - 1]
  if (call === undefined || call.settled) return ignored
  const { is: _, ...facts } = command
  return decided([{ type: 'call-settled', ...facts }, ...modelAlarm(state, call, command.modelAnswered)])
}

/** A call of Bot B cannot be served, now or again: its turn ends with the reason, and what runs is stopped. */
export function callUnservable(state: TaskState, command: Host<'call-unservable'>): Decided {
  const turn = activeTurn(state)
  if (turn === null || state.phase !== 'coding' || state.cancel !== null || state.recovery !== null) return ignored
  return failTask(state, command.failure, [...interruptTools(state, 'The model call could not be served.'), { type: 'turn-ended', turnId: turn.turnId, outcome: 'failed', text: '', failure: command.failure }])
}

/** A model that was swapped quietly is told aloud, once for each that answers. */
function modelAlarm(state: TaskState, call: ModelCallRecord, answered: string | null): TaskEvent[] {
  const asked = state.targets[call.bot].ref.modelId
  if (answered === null || sameModel(asked, answered) || state.calls.some((other) => other.bot === call.bot && other.answered === answered)) return []
  const bot = call.bot === 'lead' ? 'Bot A' : 'Bot B'
  return [{ type: 'noted', level: 'error', text: `A call of ${bot} was answered by the model “${answered}”, not by “${asked}”, to which the task is pinned.`, todo: 'If you did not expect this, stop the task and look at the provider: a gateway may have swapped the model.' }]
}

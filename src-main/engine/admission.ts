import type { Failure } from '../../src-preload/contract/failure.ts'
import type { Bot, TaskId } from '../../src-preload/contract/ids.ts'
import { costMicroUsd } from '../core/budget/charge.ts'
import type { OutputBound } from '../core/budget/fit.ts'
import type { Dispatcher } from './dispatch.ts'
import type { Lanes } from './lanes.ts'
import type { Admission, AdmissionAsk, GatewayCallEnd, ModelDirectory } from './ports.ts'

export interface AdmissionDeps { readonly dispatcher: Dispatcher; readonly lanes: Lanes; readonly directory: ModelDirectory; readonly bootId: string }

/** What could not be reserved does not leave; it may once the journal takes it, so whoever asked asks again. */
function notRecorded({ code, message }: Failure): Admission {
  return { admit: false, code, message, again: true }
}

function boundOf({ outputTokensMax, outputWhole }: OutputBound): OutputBound {
  return outputTokensMax === undefined ? {} : { outputTokensMax, ...(outputWhole === true ? { outputWhole } : {}) }
}

/**
 * The budget at the proxy's door. B1. A call is reserved in the journal before its first byte leaves, and settled after;
 * one that never settles counts as spent.
 */
export class Admissions {
  readonly #deps: AdmissionDeps
  /** Gateway call number → the task's own call number. */
  readonly #calls = new Map<number, { readonly taskId: TaskId; readonly bot: Bot; readonly call: number }>()

  constructor(deps: AdmissionDeps) {
    this.#deps = deps
  }

  /** Reserves, or says why not. */
  admit(ask: AdmissionAsk): Admission {
    const state = this.#deps.dispatcher.state(ask.taskId)
    if (state === undefined) return { admit: false, code: 'unknown_task', message: 'This task is not known.' }
    const refused = this.#deps.lanes.ready(ask.taskId)
    if (refused !== null) return notRecorded(refused)
    const target = this.#deps.directory.resolve(state.targets[ask.bot].ref)
    const sent = this.#deps.dispatcher.dispatch(ask.taskId, {
      is: 'call-wanted', bot: ask.bot, model: ask.model, bodyBytes: ask.bodyBytes, price: target.ok ? target.value.price : null, outputTokensMax: target.ok ? target.value.outputTokens : 32_000, streams: ask.streams ?? false, outputTokensAsked: ask.outputTokensAsked ?? null, ...(ask.choices === undefined ? {} : { choices: ask.choices }),
    }, { commandId: `${this.#deps.bootId}:call:${String(ask.callNumber)}`, actor: 'host' })
    if (!sent.ok) return notRecorded(sent.error)
    for (const event of sent.value.events) {
      if (event.type === 'call-reserved') { this.#calls.set(ask.callNumber, { taskId: ask.taskId, bot: ask.bot, call: event.call }); return { admit: true, ...boundOf(event) } }
      if (event.type === 'call-refused') return { admit: false, code: event.code, message: event.message, ...(event.passing === true ? { passing: true } : {}) }
    }
    return { admit: false, code: 'stopped', message: 'The task does not take model calls any more.' }
  }

  /** The task's own number of a call that was admitted and has not ended. */
  callOf(callNumber: number): { readonly taskId: TaskId; readonly call: number } | null {
    return this.#calls.get(callNumber) ?? null
  }

  /** Settles with what the vendor reported; unknown stays unknown. */
  ended(end: GatewayCallEnd): void {
    const known = this.#calls.get(end.callNumber)
    this.#calls.delete(end.callNumber)
    if (known !== undefined) this.#settle(end, known)
    // Bot B's runtime would ask five times more, over a minute: its turn ends now, with the reason.
    if (end.final === true && end.failure !== null && end.bot === 'coder' && this.#deps.dispatcher.state(end.taskId) !== undefined) this.#unservable(end.taskId, end.callNumber, end.failure)
  }

  #unservable(taskId: TaskId, callNumber: number, why: Failure): void {
    this.#deps.lanes.take(taskId, () => {
      const recorded = this.#deps.dispatcher.record(taskId, { is: 'call-unservable', failure: why }, { commandId: `${this.#deps.bootId}:call-unservable:${String(callNumber)}`, actor: 'host' })
      return recorded.is === 'journal-refused' ? recorded.failure : null
    })
  }

  #settle(end: GatewayCallEnd, known: { readonly taskId: TaskId; readonly bot: Bot; readonly call: number }): void {
    const state = this.#deps.dispatcher.state(known.taskId)
    const target = state === undefined ? null : this.#deps.directory.resolve(state.targets[known.bot].ref)
    const price = target?.ok === true ? target.value.price : null
    const cost = price === null || end.inputTokens === null || end.outputTokens === null ? null : costMicroUsd(price, end.inputTokens, end.outputTokens)
    this.#deps.lanes.take(known.taskId, () => {
      const recorded = this.#deps.dispatcher.record(known.taskId, {
        is: 'call-ended', call: known.call, path: end.path, status: end.status, modelAnswered: end.modelAnswered, inputTokens: end.inputTokens, outputTokens: end.outputTokens, costMicroUsd: cost, latencyMs: end.latencyMs, failure: end.failure, ...(end.directLeft === true ? { directLeft: true } : {}),
      }, { commandId: `${this.#deps.bootId}:call-ended:${String(end.callNumber)}`, actor: 'host' })
      return recorded.is === 'journal-refused' ? recorded.failure : null
    })
  }
}

import type { TaskId } from '../../src-preload/contract/ids.ts'
import { rowKey } from '../../src-preload/contract/rows.ts'
import type { Dispatcher } from './dispatch.ts'
import type { AdmissionAsk, CallProgress, Clock, GatewayCallEnd } from './ports.ts'
import type { Room } from './room.ts'
import type { Runs } from './runs.ts'

export interface CallWaitsDeps {
  readonly clock: Clock; readonly room: Room; readonly runs: Runs; readonly dispatcher: Dispatcher
  /** The task's own number of a call that was admitted; null once it has ended. */
  readonly callOf: (callNumber: number) => { readonly taskId: TaskId; readonly call: number } | null
}

/**
 * What the proxy knows of waits, drawn and never journaled: what an open call waits for, on its row; and after a call that its provider
 * failed, that Bot B's runtime asks again, in the header. M1. Not every way to drive the runtime tells of that; where it does, its own word stands.
 */
export class CallWaitsDesk {
  readonly #deps: CallWaitsDeps

  constructor(deps: CallWaitsDeps) {
    this.#deps = deps
  }

  /** A call leaves: whatever was waited for before the next try is over. */
  started({ taskId, bot }: AdmissionAsk): void {
    const run = this.#deps.runs.peek(taskId)
    if (bot !== 'coder' || run?.waiting == null) return
    run.waiting = null
    this.#deps.dispatcher.touch(taskId)
  }

  progress({ callNumber, waits }: CallProgress): void {
    const known = this.#deps.callOf(callNumber)
    if (known === null) return
    const row = this.#deps.room.get(known.taskId, rowKey.entry(known.taskId, `call:${String(known.call)}`))
    if (row?.kind === 'entry' && row.body.is === 'call' && row.body.call.state === 'open') this.#deps.room.put(known.taskId, [{ ...row, body: { is: 'call', call: { ...row.body.call, waits } } }])
  }

  ended(end: GatewayCallEnd): void {
    const { runs, dispatcher, clock } = this.#deps
    const run = runs.peek(end.taskId)
    if (end.bot !== 'coder' || run === undefined) return
    if (end.failure === null) { run.failedCalls = 0; return }
    const state = dispatcher.state(end.taskId)
    if (!asksAgain(end) || state?.phase !== 'coding' || state.coder.is !== 'running') return
    run.failedCalls += 1
    if (run.waiting !== null) return
    const now = clock.now()
    run.waiting = { for: `the model: OpenCode tries again; attempt ${String(run.failedCalls)} failed: ${end.failure.message.slice(0, 200)}`, since: now, nextTryAt: end.retryAfterMs === undefined ? null : Math.round(now + end.retryAfterMs) }
    dispatcher.touch(end.taskId)
  }
}

/** Measured on OpenCode 1.17 and 1.18: 409, 429, 5xx and whatever breaks off are tried again; every other refusal ends the turn. */
function asksAgain({ status, failure, final }: GatewayCallEnd): boolean {
  if (final === true || failure?.code === 'cancelled' || failure?.code === 'budget-exhausted') return false
  return status === null || status < 400 || status === 409 || status === 429 || status >= 500
}

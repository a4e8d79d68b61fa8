import type { CallId, Millis, TaskId } from '../../src-preload/contract/ids.ts'
import { rowKey, type EntryRow, type ToolBody } from '../../src-preload/contract/rows.ts'
import { isFinished, type TaskState } from '../core/task/model.ts'
import { liveOrderFrom } from '../core/task/rows/entry-rows.ts'
import { rowOfCommand, toolRows } from './command-row.ts'
import type { Dispatcher } from './dispatch.ts'
import { KeptBack } from './kept-back.ts'
import type { Clock, CoderSignal, ToolPreview } from './ports.ts'
import type { Room } from './room.ts'
import type { Run, Runs } from './runs.ts'

export interface PreviewDeps {
  readonly room: Room; readonly runs: Runs; readonly dispatcher: Dispatcher; readonly clock: Clock
  /** The wire has two calls of one reply under one id. */
  readonly idUsedTwice: (taskId: TaskId, callId: CallId, tool: string | null) => void
}

/** Said on the row of a call whose id another call of the same reply has. */
const idUsedTwiceWords = 'The model gave this id to two calls of one reply. OpenCode takes them for one: only what it makes of them becomes a record.'

/**
 * Tool rows before their call is complete, from two sources: the runtime's pending part (type) and the wire tap (file, bytes, tail).
 * P2. Display only: never journaled, never the basis of an approval. P3. Nothing is drawn over a call's journaled row.
 * P4. A preview of a session that is not known yet waits, and is drawn only when that session is the task's own or a descendant.
 * P6. A vendor may use a call id again in a later reply: the runtime then names the call anew, and the wire's preview follows that name.
 */
export class Previews {
  readonly #deps: PreviewDeps
  readonly #keptBack = new KeptBack()
  #order = 0

  constructor(deps: PreviewDeps) {
    this.#deps = deps
  }

  /** A place in the transcript for a row that is not in the journal: after all that is. */
  next(): { readonly order: number; readonly at: Millis } {
    this.#order += 1
    return { order: liveOrderFrom + this.#order, at: this.#deps.clock.now() }
  }

  /** The runtime says that a call of this tool is being written, or that it runs already though its arguments are told only at its end. */
  pending(taskId: TaskId, { callId, tool, wireCallId, sessionId, target = null, begun = false }: Extract<CoderSignal, { is: 'tool-pending' }>): void {
    this.#release(taskId)
    const parentCallId = this.#deps.runs.peek(taskId)?.parentCalls.get(sessionId) ?? null
    this.#draw(taskId, callId, this.#deps.clock.now(), (body) => ({ ...body, tool, parentCallId, target: target ?? body.target, state: begun ? 'running' : body.state }))
    if (wireCallId === undefined) return
    const earlier = this.#keptBack.rename(taskId, wireCallId, callId)
    if (earlier !== null) this.#show(earlier)
  }

  /** The wire tap says how a call's arguments grow. */
  seen(preview: ToolPreview): void {
    const run = this.#deps.runs.peek(preview.taskId)
    if (run === undefined) return
    if (!isConfirmed(run, preview)) { this.#keptBack.untilSession(preview); return }
    this.#release(preview.taskId)
    this.#show(preview)
  }

  /**
   * A command waits for the owner at the broker, which knows its text and not its call: the live row that is most likely
   * the command's (`command-row.ts`) says so. Gives the way back, for when it has been answered. Display only, like all here.
   */
  asksOwner(taskId: TaskId, text: string): () => void {
    const asks = rowOfCommand(toolRows(this.#deps.room.rows(taskId)).filter(({ body }) => this.#isLive(taskId, body) && body.state !== 'awaiting-approval'), text)
    if (asks === undefined) return () => undefined
    const become = (change: Pick<ToolBody, 'state' | 'waitsSince'>): void => {
      const row = this.#deps.room.get(taskId, asks.key)
      if (row?.kind === 'entry' && row.body.is === 'tool' && this.#isLive(taskId, row.body)) this.#deps.room.put(taskId, [{ ...row, body: { ...row.body, ...change } }])
    }
    become({ state: 'awaiting-approval', waitsSince: this.#deps.clock.now() })
    return () => { become({ state: 'running', waitsSince: null }) }
  }

  /** P5. What still grows will not end: each such row settles, calls as interrupted, words as far as they came. Nothing spins for ever. */
  settle(taskId: TaskId, reason: string): void {
    const endedAt = this.#deps.clock.now()
    for (const row of this.#deps.room.rows(taskId)) {
      if (row.kind !== 'entry') continue
      if (row.body.is === 'tool' && this.#isLive(taskId, row.body)) this.#deps.room.put(taskId, [{ ...row, body: { ...row.body, state: 'interrupted', reason, endedAt, waitsSince: null, waits: null } }])
      if (row.body.is === 'message' && row.body.streaming) this.#deps.room.put(taskId, [{ ...row, body: { ...row.body, streaming: false } }])
    }
    this.#keptBack.forget(taskId)
  }

  /** Whether a row is drawn from words before the record: it is in no journal, so nothing else would end it. */
  #isLive(taskId: TaskId, body: ToolBody): boolean {
    if (body.state === 'preview') return true
    return (body.state === 'running' || body.state === 'awaiting-approval') && this.#deps.dispatcher.state(taskId)?.openTools.has(body.callId) === false
  }

  #release(taskId: TaskId): void {
    const run = this.#deps.runs.peek(taskId)
    if (run === undefined) return
    for (const preview of this.#keptBack.confirmed(taskId, (held) => isConfirmed(run, held))) this.#show(preview)
  }

  #show(preview: ToolPreview): void {
    const { taskId } = preview
    const callId = this.#keptBack.nameOf(preview)
    const state = this.#deps.dispatcher.state(taskId)
    if (state !== undefined && hasRecord(state, callId)) { this.#keptBack.untilRenamed(preview); return }
    const parentCallId = preview.sessionId === null ? null : (this.#deps.runs.peek(taskId)?.parentCalls.get(preview.sessionId) ?? null)
    const drawn = this.#draw(taskId, callId, preview.seenAt, (body) => ({
      ...body, tool: preview.tool ?? body.tool, target: preview.target ?? body.target, argumentBytes: preview.idUsedTwice ? preview.argumentBytes : Math.max(preview.argumentBytes, body.argumentBytes), contentLines: preview.contentLines ?? body.contentLines,
      tail: preview.tail, tailOf: preview.tailOf, before: preview.before, fields: preview.fields, parentCallId: body.parentCallId ?? parentCallId, reason: preview.idUsedTwice ? idUsedTwiceWords : body.reason,
      ...(preview.state === 'interrupted' ? { state: 'interrupted' as const, reason: 'The stream ended before the call was complete.', endedAt: this.#deps.clock.now() } : {}),
    }))
    if (drawn && preview.idUsedTwice) this.#deps.idUsedTwice(taskId, callId, preview.tool)
  }

  /** Whether it was drawn. `begunAt`: when its first byte was seen, by whoever saw it. */
  #draw(taskId: TaskId, callId: CallId, begunAt: Millis, edit: (body: ToolBody) => ToolBody): boolean {
    const state = this.#deps.dispatcher.state(taskId)
    // A process that is gone, or not yet ours, has nothing growing.
    if (state?.coder.is !== 'running' || isFinished(state.status) || hasRecord(state, callId)) return false
    const key = rowKey.tool(taskId, callId)
    const before = this.#deps.room.get(taskId, key)
    const row: EntryRow = before?.kind === 'entry' && before.body.is === 'tool' ? before : this.#blank(taskId, key, callId, begunAt)
    if (row.body.is !== 'tool' || row.body.state !== 'preview') return false
    const body = edit(row.body)
    // What a call is about is told once, and is what one looks for: it waits for no frame.
    this.#deps.room.put(taskId, [{ ...row, body }], body.target !== row.body.target)
    return true
  }

  #blank(taskId: TaskId, key: string, callId: CallId, startedAt: Millis): EntryRow {
    const { order, at } = this.next()
    return { kind: 'entry', key, taskId, order, at, author: 'coder', turnId: null, body: { is: 'tool', callId, tool: '', state: 'preview', target: null, argumentBytes: 0, contentLines: null, tail: '', tailOf: null, input: null, output: null, outputTruncated: false, exitCode: null, title: null, startedAt, endedAt: null, reason: null, parentCallId: null } }
  }
}

function isConfirmed(run: Run, { sessionId }: ToolPreview): boolean {
  return sessionId === null || run.sessions.has(sessionId)
}

function hasRecord(state: TaskState, callId: CallId): boolean {
  return state.openTools.has(callId) || state.endedTools.has(callId)
}

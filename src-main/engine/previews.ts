import type { CallId, Millis, TaskId } from '../../src-preload/contract/ids.ts'
import { rowKey, type EntryRow, type ToolBody } from '../../src-preload/contract/rows.ts'
import { isFinished } from '../core/task/model.ts'
import { liveOrderFrom } from '../core/task/rows/entry-rows.ts'
import type { Dispatcher } from './dispatch.ts'
import type { Clock, ToolPreview } from './ports.ts'
import type { Room } from './room.ts'
import type { Runs } from './runs.ts'

export interface PreviewDeps { readonly room: Room; readonly runs: Runs; readonly dispatcher: Dispatcher; readonly clock: Clock }

/** Per task: previews whose session is not known yet. */
const waitingMax = 64

/**
 * Tool rows before their call is complete, from two sources: the runtime's pending part (type) and the wire tap (file, bytes, tail).
 * P2. Display only: never journaled, never the basis of an approval. P3. Nothing is drawn over a call's journaled row.
 * P4. A preview of a session that is not known yet waits, and is drawn only when that session is the task's own or a descendant.
 */
export class Previews {
  readonly #deps: PreviewDeps
  readonly #waiting = new Map<TaskId, ToolPreview[]>()
  #order = 0

  constructor(deps: PreviewDeps) {
    this.#deps = deps
  }

  /** A place in the transcript for a row that is not in the journal: after all that is. */
  next(): { readonly order: number; readonly at: Millis } {
    this.#order += 1
    return { order: liveOrderFrom + this.#order, at: this.#deps.clock.now() }
  }

  /** The runtime says that a call of this tool has begun. */
  pending(taskId: TaskId, callId: CallId, tool: string): void {
    this.#release(taskId)
    this.#draw(taskId, callId, (body) => ({ ...body, tool }))
  }

  /** The wire tap says how a call's arguments grow. */
  seen(preview: ToolPreview): void {
    const run = this.#deps.runs.peek(preview.taskId)
    if (run === undefined) return
    if (preview.sessionId !== null && !run.sessions.has(preview.sessionId)) {
      const waiting = this.#waiting.get(preview.taskId) ?? []
      this.#waiting.set(preview.taskId, [...waiting.filter((held) => held.callId !== preview.callId), preview].slice(-waitingMax))
      return
    }
    this.#release(preview.taskId)
    this.#show(preview)
  }

  /** P5. What still grows will not end: each such row settles, calls as interrupted, words as far as they came. Nothing spins for ever. */
  settle(taskId: TaskId, reason: string): void {
    const endedAt = this.#deps.clock.now()
    for (const row of this.#deps.room.rows(taskId)) {
      if (row.kind !== 'entry') continue
      if (row.body.is === 'tool' && row.body.state === 'preview') this.#deps.room.put(taskId, [{ ...row, body: { ...row.body, state: 'interrupted', reason, endedAt } }])
      if (row.body.is === 'message' && row.body.streaming) this.#deps.room.put(taskId, [{ ...row, body: { ...row.body, streaming: false } }])
    }
    this.#waiting.delete(taskId)
  }

  #release(taskId: TaskId): void {
    const waiting = this.#waiting.get(taskId)
    const run = this.#deps.runs.peek(taskId)
    if (waiting === undefined || run === undefined) return
    const known = waiting.filter((preview) => preview.sessionId !== null && run.sessions.has(preview.sessionId))
    if (known.length === 0) return
    this.#waiting.set(taskId, waiting.filter((preview) => !known.includes(preview)))
    for (const preview of known) this.#show(preview)
  }

  #show(preview: ToolPreview): void {
    this.#draw(preview.taskId, preview.callId, (body) => ({
      ...body, tool: preview.tool ?? body.tool, target: preview.target ?? body.target, argumentBytes: Math.max(preview.argumentBytes, body.argumentBytes), contentLines: preview.contentLines ?? body.contentLines,
      tail: preview.tail, tailOf: preview.tailOf,
      ...(preview.state === 'interrupted' ? { state: 'interrupted' as const, reason: 'The stream ended before the call was complete.', endedAt: this.#deps.clock.now() } : {}),
    }))
  }

  #draw(taskId: TaskId, callId: CallId, edit: (body: ToolBody) => ToolBody): void {
    const state = this.#deps.dispatcher.state(taskId)
    // A process that is gone, or not yet ours, has nothing growing.
    if (state?.coder.is !== 'running' || isFinished(state.status) || state.openTools.has(callId) || state.endedTools.has(callId)) return
    const key = rowKey.tool(taskId, callId)
    const before = this.#deps.room.get(taskId, key)
    const row: EntryRow = before?.kind === 'entry' && before.body.is === 'tool' ? before : this.#blank(taskId, key, callId)
    if (row.body.is !== 'tool' || row.body.state !== 'preview') return
    this.#deps.room.put(taskId, [{ ...row, body: edit(row.body) }])
  }

  #blank(taskId: TaskId, key: string, callId: CallId): EntryRow {
    const { order, at } = this.next()
    return { kind: 'entry', key, taskId, order, at, author: 'coder', turnId: null, body: { is: 'tool', callId, tool: '', state: 'preview', target: null, argumentBytes: 0, contentLines: null, tail: '', tailOf: null, input: null, output: null, outputTruncated: false, exitCode: null, title: null, startedAt: at, endedAt: null, reason: null, parentCallId: null } }
  }
}

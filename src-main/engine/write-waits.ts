import type { TaskId } from '../../src-preload/contract/ids.ts'
import { rowKey } from '../../src-preload/contract/rows.ts'
import { rowOfCommand, toolRows, type ToolRow } from './command-row.ts'
import type { Clock, WriteWait } from './ports.ts'
import type { Room } from './room.ts'

/**
 * Says on the row of a call that may write what it still waits for, and since when: commands and edits keep each other away, a command for as
 * long as it runs. One wait keeps its beginning, whatever else it goes on to wait for. Display only: never journaled, and gone with the call.
 */
export class WriteWaits {
  readonly #deps: { readonly room: Room; readonly clock: Clock }
  /** The broker knows a command's text and not its call: by its ask, the row that was told. */
  readonly #rows = new Map<string, string>()

  constructor(deps: { readonly room: Room; readonly clock: Clock }) {
    this.#deps = deps
  }

  /** A write has to wait, or waits no longer. */
  tell(taskId: TaskId, { of, for: waitsFor }: WriteWait): void {
    const key = of.is === 'edit' ? rowKey.tool(taskId, of.callId) : this.#rowOf(taskId, of.askId, of.text)
    if (of.is === 'command') {
      if (key === undefined || waitsFor === null) this.#rows.delete(of.askId)
      else this.#rows.set(of.askId, key)
    }
    const row = key === undefined ? undefined : this.#tools(taskId).find((tool) => tool.key === key)
    if (row === undefined || (waitsFor === null && row.body.waits == null)) return
    const waits = waitsFor === null ? null : { for: waitsFor, since: row.body.waits?.since ?? this.#deps.clock.now() }
    this.#deps.room.put(taskId, [{ ...row, body: { ...row.body, waits } }])
  }

  /** Of the running commands that are told of no wait yet. */
  #rowOf(taskId: TaskId, askId: string, text: string): string | undefined {
    return this.#rows.get(askId) ?? rowOfCommand(this.#tools(taskId).filter(({ body }) => body.state === 'running' && body.waits == null), text)?.key
  }

  #tools(taskId: TaskId): readonly ToolRow[] {
    return toolRows(this.#deps.room.rows(taskId)).filter(({ body }) => body.endedAt === null)
  }
}

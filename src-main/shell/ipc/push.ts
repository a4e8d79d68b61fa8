import type { WebContents } from 'electron'
import { patchChannel, signalChannel } from '../../../src-preload/contract/channels.ts'
import type { TaskId } from '../../../src-preload/contract/ids.ts'
import type { BridgeSignal } from '../../../src-preload/contract/methods.ts'
import type { RowPatch } from '../../../src-preload/contract/rows.ts'
import type { Room } from '../../engine/room.ts'

/** Which task a page shows: it gets that task's entries, and everybody's tasks and holds. */
export class Push {
  readonly #room: Room
  readonly #shown = new Map<WebContents, TaskId | null>()
  #handedOut: () => void = () => undefined

  constructor(room: Room) {
    this.#room = room
    room.follow((patch) => {
      for (const [page, taskId] of this.#shown) this.#send(page, patch, taskId)
    })
  }

  /** A page asks for everything: from now on it gets patches that follow this snapshot. */
  snapshot(page: WebContents, taskId: TaskId | null): RowPatch {
    if (!this.#shown.has(page)) page.once('destroyed', () => this.#shown.delete(page))
    const patch = this.#room.snapshot(taskId)
    this.#shown.set(page, taskId)
    this.#handedOut()
    return patch
  }

  /** Calls back whenever a page got the room. */
  onSnapshot(listener: () => void): void {
    this.#handedOut = listener
  }

  /** Tells every page something that is no row. */
  signal(signal: BridgeSignal): void {
    for (const page of this.#shown.keys()) if (!page.isDestroyed()) page.send(signalChannel, signal)
  }

  #send(page: WebContents, patch: RowPatch, taskId: TaskId | null): void {
    if (page.isDestroyed()) return
    // The patch goes out even when nothing of it is for this page: its `seq` must not leave a gap.
    page.send(patchChannel, { ...patch, put: patch.put.filter((row) => row.kind !== 'entry' || row.taskId === taskId) } satisfies RowPatch)
  }
}

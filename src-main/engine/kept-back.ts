import type { CallId, TaskId } from '../../src-preload/contract/ids.ts'
import type { ToolPreview } from './ports.ts'

/** Per task, of each kind. The oldest goes first. */
const heldMax = 64

interface Held {
  /** Their session is not known yet; the newest of each call. */
  unconfirmed: ToolPreview[]
  /** Their id has a record already: late ones, or the first of a call that the runtime is about to name anew. */
  readonly unplaced: Map<string, ToolPreview>
  /** The wire's id of a call → what the runtime calls it. */
  readonly names: Map<string, CallId>
}

/** Previews that cannot be drawn yet, and under which name a call's previews are drawn. Bounded; forgotten with the turn. */
export class KeptBack {
  readonly #tasks = new Map<TaskId, Held>()

  untilSession(preview: ToolPreview): void {
    const held = this.#of(preview.taskId)
    held.unconfirmed = [...held.unconfirmed.filter(({ callId }) => callId !== preview.callId), preview].slice(-heldMax)
  }

  /** Takes out those whose session is known by now, oldest first. */
  confirmed(taskId: TaskId, isConfirmed: (preview: ToolPreview) => boolean): readonly ToolPreview[] {
    const held = this.#tasks.get(taskId)
    if (held === undefined || held.unconfirmed.length === 0) return []
    const known = held.unconfirmed.filter(isConfirmed)
    if (known.length > 0) held.unconfirmed = held.unconfirmed.filter((preview) => !known.includes(preview))
    return known
  }

  untilRenamed(preview: ToolPreview): void {
    const { unplaced } = this.#of(preview.taskId)
    // What has ended under this id is not the beginning of another call.
    if (preview.state !== 'growing') { unplaced.delete(preview.callId); return }
    if (!unplaced.has(preview.callId) && unplaced.size >= heldMax) return
    unplaced.set(preview.callId, preview)
  }

  /** The runtime names a call anew. Gives what came of it under the wire's name meanwhile. */
  rename(taskId: TaskId, wireCallId: string, callId: CallId): ToolPreview | null {
    const { names, unplaced } = this.#of(taskId)
    if (names.has(wireCallId) || names.size < heldMax) names.set(wireCallId, callId)
    const earlier = unplaced.get(wireCallId) ?? null
    unplaced.delete(wireCallId)
    return earlier
  }

  nameOf({ taskId, callId }: ToolPreview): CallId {
    return this.#tasks.get(taskId)?.names.get(callId) ?? callId
  }

  forget(taskId: TaskId): void {
    this.#tasks.delete(taskId)
  }

  #of(taskId: TaskId): Held {
    const known = this.#tasks.get(taskId)
    if (known !== undefined) return known
    const held: Held = { unconfirmed: [], unplaced: new Map(), names: new Map() }
    this.#tasks.set(taskId, held)
    return held
  }
}

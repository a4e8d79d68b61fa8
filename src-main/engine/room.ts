import type { TaskId } from '../../src-preload/contract/ids.ts'
import type { Row, RowPatch } from '../../src-preload/contract/rows.ts'
import type { Clock, Timers } from './ports.ts'

/** Rows put since the last flush, for everybody who looks. `entries` of other tasks than the one shown are left out by the listener. */
export type PatchListener = (patch: RowPatch) => void

const frameMs = 16

/**
 * The rows of the room, derived from the journal, and live rows (previews, streaming text) that never enter it.
 * W1. Changes of a row are coalesced: at most one patch a frame. A row that is new, or whose change is called urgent, goes out at once,
 * with all that has gathered: what begins to happen waits for no frame. `seq` rises by one a patch.
 */
export class Room {
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #rows = new Map<TaskId, Map<string, Row>>()
  /** Entries that are still where they came from, by task. */
  readonly #left = new Map<TaskId, () => readonly Row[]>()
  readonly #listeners = new Set<PatchListener>()
  readonly #lifetime = new AbortController()
  #seq = 0
  #put = new Map<string, Row>()
  #drop = new Set<string>()
  #lastFlushAt = 0
  #scheduled = false
  #atOnce = false

  constructor(clock: Clock, timers: Timers) {
    this.#clock = clock
    this.#timers = timers
  }

  /**
   * W2. Leaves a task's entries where they are until somebody needs them: the window shows one task, and a journal holds hundreds. `read`
   * gives them all, and throws what a refusing journal throws; then the next need reads again.
   */
  leave(taskId: TaskId, read: () => readonly Row[]): void {
    this.#left.set(taskId, read)
  }

  /** Takes in the entries that were left. To be called before the task changes: what is read later would hold the change already. */
  fetch(taskId: TaskId): void {
    const read = this.#left.get(taskId)
    if (read === undefined) return
    const rows = new Map(read().map((row) => [row.key, row]))
    this.#left.delete(taskId)
    for (const [key, row] of this.#rows.get(taskId) ?? []) rows.set(key, row)
    this.#rows.set(taskId, rows)
  }

  /** The row of a task by key, live or derived. */
  get(taskId: TaskId, key: string): Row | undefined {
    this.fetch(taskId)
    return this.#rows.get(taskId)?.get(key)
  }

  /** All rows of a task, live and derived. */
  rows(taskId: TaskId): readonly Row[] {
    this.fetch(taskId)
    return [...(this.#rows.get(taskId)?.values() ?? [])]
  }

  /** Puts rows of one task and tells listeners within a frame; of a new row, and of whatever is urgent, as soon as the call that puts it is over. */
  put(taskId: TaskId, rows: readonly Row[], urgent = false): void {
    if (rows.length === 0) return
    const held = this.#rows.get(taskId) ?? new Map<string, Row>()
    this.#rows.set(taskId, held)
    const known = held.size
    for (const row of rows) {
      held.set(row.key, row)
      this.#put.set(row.key, row)
      this.#drop.delete(row.key)
    }
    if (urgent || held.size > known) this.#flushAtOnce()
    else this.#schedule()
  }

  /** Takes a live row away. */
  drop(taskId: TaskId, key: string): void {
    if (this.#rows.get(taskId)?.delete(key) !== true) return
    this.#put.delete(key)
    this.#drop.add(key)
    this.#schedule()
  }

  /**
   * All tasks, the holds that wait, and of the task shown its entries and every hold: no more than a window can show, however long the
   * journal. Anything unsent is flushed first, so that the snapshot's `seq` covers it.
   */
  snapshot(taskId: TaskId | null): RowPatch {
    if (taskId !== null) this.fetch(taskId)
    this.flush()
    const put: Row[] = []
    for (const [id, rows] of this.#rows) {
      for (const row of rows.values()) if (id === taskId || row.kind === 'task' || (row.kind === 'hold' && row.outcome === 'waiting')) put.push(row)
    }
    return { seq: this.#seq, put, drop: [] }
  }

  /** Follows patches until unsubscribed. */
  follow(listener: PatchListener): () => void {
    this.#listeners.add(listener)
    return () => { this.#listeners.delete(listener) }
  }

  /** Sends what has gathered. */
  flush(): void {
    if (this.#put.size === 0 && this.#drop.size === 0) return
    this.#seq += 1
    this.#lastFlushAt = this.#clock.now()
    const patch: RowPatch = { seq: this.#seq, put: [...this.#put.values()], drop: [...this.#drop] }
    this.#put = new Map()
    this.#drop = new Set()
    for (const listener of this.#listeners) listener(patch)
  }

  close(): void {
    this.#lifetime.abort()
    this.#listeners.clear()
  }

  /** In a microtask: the rows of one commit are put one after the other, and belong together. */
  #flushAtOnce(): void {
    if (this.#atOnce) return
    this.#atOnce = true
    void Promise.resolve().then(() => {
      this.#atOnce = false
      if (!this.#lifetime.signal.aborted) this.flush()
    })
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    const since = this.#clock.now() - this.#lastFlushAt
    this.#timers.after(since >= 0 && since < frameMs ? frameMs - since : 0, this.#lifetime.signal, () => {
      this.#scheduled = false
      this.flush()
    })
  }
}

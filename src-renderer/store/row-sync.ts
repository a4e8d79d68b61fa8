import type { Bridge } from '../../src-preload/contract/methods.ts'
import type { Failure } from '../../src-preload/contract/failure.ts'
import type { TaskId } from '../../src-preload/contract/ids.ts'
import type { RowPatch } from '../../src-preload/contract/rows.ts'
import { t } from '../i18n/text.ts'
import { RowStore } from './row-store.ts'

export type SyncState = { readonly at: 'loading' } | { readonly at: 'live' } | { readonly at: 'failed'; readonly failure: Failure }

/** Patches that may wait for a snapshot. More means that the snapshot is hopelessly old: it is asked for again. */
const bufferedPatchesMax = 10_000

/** Snapshots in a row that may turn out to be too old before the window gives up and says so. */
const roundsMax = 8

/**
 * Keeps a `RowStore` equal to what main shows: a snapshot first, then patches in order, and a new snapshot after a hole.
 *
 * S1. No patch is applied before the snapshot it builds on. S2. Patches that arrive meanwhile are kept and replayed;
 * they are absolute, so replaying one that the snapshot already holds does no harm. S3. At most one snapshot is under way.
 */
export class RowSync {
  readonly rows = new RowStore()
  readonly #bridge: Bridge
  #state: SyncState = { at: 'loading' }
  #buffer: RowPatch[] = []
  #busy = false
  #watched: TaskId | null = null
  readonly #known = new Set<string>()
  readonly #listeners = new Set<() => void>()
  readonly #stop: () => void

  constructor(bridge: Bridge) {
    this.#bridge = bridge
    this.#stop = bridge.onPatch((patch) => {
      this.#receive(patch)
    })
    void this.#resync('everything')
  }

  get state(): SyncState {
    return this.#state
  }

  /** Tells when `state` changed. Returns the unsubscriber. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** Names the task whose transcript is on screen; fetches it if this store has not seen it yet. */
  watch(taskId: TaskId | null): void {
    this.#watched = taskId
    if (taskId !== null && !this.#known.has(taskId) && this.#state.at === 'live') void this.#resync('transcript')
  }

  /** Asks for everything again, after a failure. */
  retry(): void {
    this.#become({ at: 'loading' })
    void this.#resync('everything')
  }

  close(): void {
    this.#stop()
    this.#listeners.clear()
  }

  #receive(patch: RowPatch): void {
    if (this.#busy || this.#state.at !== 'live') {
      if (this.#buffer.length < bufferedPatchesMax) this.#buffer.push(patch)
      return
    }
    if (this.rows.apply(patch) !== 'gap') return
    this.#buffer.push(patch)
    void this.#resync('everything')
  }

  async #resync(what: 'everything' | 'transcript'): Promise<void> {
    if (this.#busy) return
    this.#busy = true
    const failure = await this.#untilWhole(what === 'everything')
    this.#busy = false
    if (failure !== null) this.#buffer = []
    this.#become(failure === null ? { at: 'live' } : { at: 'failed', failure })
  }

  /** Fetches until the store is whole and the watched transcript is in it. Null when done; else why not. */
  async #untilWhole(everything: boolean): Promise<Failure | null> {
    for (let round = 0; round < roundsMax; round += 1) {
      const failure = (everything ? await this.#fetchEverything() : null) ?? (await this.#fetchWatched())
      if (failure !== null) return failure
      everything = this.#replay() === 'gap'
      if (!everything && (this.#watched === null || this.#known.has(this.#watched))) return null
    }
    return { code: 'too-busy', message: t.app.tooFast, todo: t.app.tooFastTodo }
  }

  async #fetchEverything(): Promise<Failure | null> {
    const snapshot = await this.#bridge.call('room.snapshot', { taskId: null })
    if (!snapshot.ok) return snapshot.error
    const whole = snapshot.value.put.some((row) => row.kind === 'entry')
    // Transcripts that are fetched one by one may have missed a patch; they are fetched again when they are next shown.
    this.#known.clear()
    for (const row of snapshot.value.put) if (row.kind === 'entry') this.#known.add(row.taskId)
    this.rows.replace(snapshot.value, null, !whole)
    this.rows.rebase(snapshot.value.seq)
    return null
  }

  async #fetchWatched(): Promise<Failure | null> {
    const watched = this.#watched
    if (watched === null || this.#known.has(watched)) return null
    const snapshot = await this.#bridge.call('room.snapshot', { taskId: watched })
    if (!snapshot.ok) return snapshot.error
    this.#known.add(watched)
    this.rows.replace(snapshot.value, watched, false)
    this.rows.rebase(Math.min(this.rows.seq, snapshot.value.seq))
    return null
  }

  #replay(): 'done' | 'gap' {
    const overflowed = this.#buffer.length >= bufferedPatchesMax
    const patches = this.#buffer
    this.#buffer = []
    if (overflowed) return 'gap'
    for (const [index, patch] of patches.entries()) {
      if (this.rows.apply(patch) !== 'gap') continue
      this.#buffer = patches.slice(index)
      // A hole between two buffered patches: only a newer snapshot can close it.
      return 'gap'
    }
    return 'done'
  }

  #become(state: SyncState): void {
    if (state.at === this.#state.at && state.at !== 'failed') return
    this.#state = state
    for (const listener of [...this.#listeners]) listener()
  }
}

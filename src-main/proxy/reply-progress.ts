import type { IdleWatches } from './idle-watch.ts'
import type { Time } from './time.ts'

/** So often open replies are looked at; what a call waits for is told that late at most. */
const lookMs = 1_000

/**
 * Lets the watches tell what open calls wait for once their replies have begun: that they come in, then only changes. One timer serves all, and runs
 * only while calls are open: a reply that is over before it fires is told of nothing, no byte costs a thing, and a call no more than fields of its watch.
 */
export class ReplyProgress {
  readonly #time: Time
  readonly #watches: IdleWatches
  readonly #quietMs: number
  readonly #lookMs: number
  #set = false

  /** `quietMs`: silence that is told of. */
  constructor(time: Time, watches: IdleWatches, quietMs: number) {
    this.#time = time
    this.#watches = watches
    this.#quietMs = quietMs
    this.#lookMs = Math.min(lookMs, quietMs / 2)
  }

  /** A watched reply has begun. */
  begun(): void {
    if (this.#set) return
    this.#set = true
    this.#time.after(this.#lookMs, () => {
      this.#set = false
      const open = this.#watches.open
      for (const watch of open) watch.tell(this.#quietMs)
      if (open.length > 0) this.begun()
    })
  }
}

import type { CallWaits } from '../../src-preload/contract/task.ts'
import { proxyLimits } from './proxy-limits.ts'
import { Roll, type Enrolled } from './roll.ts'
import type { Time } from './time.ts'

export type DeadBy = 'no-answer' | 'no-bytes' | 'no-events'

export interface IdleLimits { readonly headMs: number; readonly byteIdleMs: number; readonly eventIdleMs: number; /** Silence that is told of; by default `proxyLimits.quietMs`. */ readonly quietMs?: number }

/**
 * Watches upstream replies, with one timer for all: a call that ends in time sets none. The timer waits no longer than the shortest limit, so
 * that a watch that begins meanwhile is looked at in time, and is set anew only when it fires.
 */
export class IdleWatches {
  readonly #time: Time
  readonly #limits: IdleLimits
  readonly #shortestMs: number
  readonly #watches = new Roll<IdleWatch>()
  #set = false

  constructor(time: Time, limits: IdleLimits = proxyLimits) {
    this.#time = time
    this.#limits = limits
    this.#shortestMs = Math.min(limits.headMs, limits.byteIdleMs, limits.eventIdleMs)
  }

  /** Those that have not ended. */
  get open(): readonly IdleWatch[] {
    return this.#watches.all
  }

  /** Begins to watch one reply, which has not begun. */
  watch(onDead: (by: DeadBy) => void): IdleWatch {
    const watch = new IdleWatch(this.#time, this.#limits, onDead, this.#watches)
    this.#watches.add(watch)
    if (!this.#set) this.#setFor(this.#shortestMs)
    return watch
  }

  #setFor(ms: number): void {
    this.#set = true
    this.#time.after(ms, () => { this.#look() })
  }

  #look(): void {
    this.#set = false
    let nextMs = this.#shortestMs
    for (const watch of this.#watches.all) nextMs = Math.min(nextMs, watch.look())
    if (this.#watches.size > 0) this.#setFor(nextMs)
  }
}

/** Watches one upstream reply. Bytes and events have a time each, so that keep-alive comments do not hide a dead stream. A byte costs one look at the clock. */
export class IdleWatch implements Enrolled {
  place = 0
  readonly #time: Time
  readonly #limits: IdleLimits
  readonly #onDead: (by: DeadBy) => void
  readonly #watches: Roll<IdleWatch>
  #head = false
  #byteAt: number
  #eventAt: number
  /** A paused upstream is not dead: the client is slow. */
  #pausedAt: number | null = null
  #onWaits: ((waits: CallWaits) => void) | null = null
  #begunAt = 0
  #told: CallWaits['for'] | null = null

  constructor(time: Time, limits: IdleLimits, onDead: (by: DeadBy) => void, watches: Roll<IdleWatch>) {
    this.#time = time
    this.#limits = limits
    this.#onDead = onDead
    this.#watches = watches
    this.#byteAt = this.#eventAt = time.now()
  }

  head(): void {
    this.#head = true
    this.#byteAt = this.#eventAt = this.#time.now()
  }

  byte(): void {
    this.#byteAt = this.#time.now()
  }

  event(): void {
    this.#eventAt = this.#time.now()
  }

  /** The reply goes on to its client: from now on `onWaits` is told what is waited for, when somebody looks. */
  begun(onWaits: (waits: CallWaits) => void): void {
    this.#onWaits = onWaits
    this.#begunAt = this.#byteAt
  }

  /** Tells what of a reply that has begun was missing for `quietMs` by now, or that it comes in, unless that was told last. */
  tell(quietMs: number): void {
    if (this.#onWaits === null) return
    const waits = this.#waits(quietMs)
    if (waits.for === this.#told) return
    this.#told = waits.for
    this.#onWaits(waits)
  }

  /** A client that does not take its reply is no silence of the vendor. */
  #waits(quietMs: number): CallWaits {
    const now = this.#time.now()
    if (this.#pausedAt === null && now - this.#byteAt >= quietMs) return { for: 'silence', since: this.#byteAt }
    if (this.#pausedAt === null && now - this.#eventAt >= quietMs) return { for: 'keep-alive', since: this.#eventAt }
    return { for: 'reply', since: this.#begunAt }
  }

  pause(): void {
    this.#pausedAt ??= this.#time.now()
  }

  resume(): void {
    if (this.#pausedAt === null) return
    const pausedMs = this.#time.now() - this.#pausedAt
    this.#byteAt += pausedMs
    this.#eventAt += pausedMs
    this.#pausedAt = null
  }

  stop(): void {
    this.#watches.remove(this)
  }

  /** Says so when it is dead, and ends the watch; else in how many milliseconds it has to be looked at again. */
  look(): number {
    const now = this.#time.now()
    const byteLeftMs = (this.#head ? this.#limits.byteIdleMs : this.#limits.headMs) - (now - this.#byteAt)
    const eventLeftMs = this.#head ? this.#limits.eventIdleMs - (now - this.#eventAt) : byteLeftMs
    if (this.#head && this.#pausedAt !== null) return Math.max(1_000, Math.min(byteLeftMs, eventLeftMs))
    if (byteLeftMs > 0 && eventLeftMs > 0) return Math.max(1, Math.min(byteLeftMs, eventLeftMs))
    this.stop()
    this.#onDead(!this.#head ? 'no-answer' : byteLeftMs <= 0 ? 'no-bytes' : 'no-events')
    return Number.POSITIVE_INFINITY
  }
}

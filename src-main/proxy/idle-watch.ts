import { proxyLimits } from './proxy-limits.ts'
import type { Time } from './time.ts'

export type DeadBy = 'no-answer' | 'no-bytes' | 'no-events'

export interface IdleLimits { readonly headMs: number; readonly byteIdleMs: number; readonly eventIdleMs: number }

/**
 * Watches one upstream reply. Bytes and events have a timer each, so that keep-alive comments do not hide a dead stream.
 * One timer runs at a time, no longer than the shortest limit, and is set anew only when it fires: a byte costs one look at the clock.
 */
export class IdleWatch {
  readonly #time: Time
  readonly #limits: IdleLimits
  readonly #onDead: (by: DeadBy) => void
  #head = false
  #byteAt: number
  #eventAt: number
  /** A paused upstream is not dead: the client is slow. */
  #pausedAt: number | null = null
  #cancel: () => void

  constructor(time: Time, onDead: (by: DeadBy) => void, limits: IdleLimits = proxyLimits) {
    this.#time = time
    this.#limits = limits
    this.#onDead = onDead
    this.#byteAt = this.#eventAt = time.now()
    this.#cancel = time.after(Math.min(limits.headMs, limits.byteIdleMs, limits.eventIdleMs), () => this.#check())
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
    this.#cancel()
  }

  #checkHead(now: number): void {
    const leftMs = this.#limits.headMs - (now - this.#byteAt)
    if (leftMs <= 0) this.#onDead('no-answer')
    else this.#cancel = this.#time.after(Math.min(leftMs, this.#limits.byteIdleMs, this.#limits.eventIdleMs), () => this.#check())
  }

  #check(): void {
    const now = this.#time.now()
    if (!this.#head) { this.#checkHead(now); return }
    const byteLeftMs = this.#limits.byteIdleMs - (now - this.#byteAt)
    const eventLeftMs = this.#limits.eventIdleMs - (now - this.#eventAt)
    const paused = this.#pausedAt !== null
    if (!paused && byteLeftMs <= 0) this.#onDead('no-bytes')
    else if (!paused && eventLeftMs <= 0) this.#onDead('no-events')
    else this.#cancel = this.#time.after(Math.max(paused ? 1_000 : 1, Math.min(byteLeftMs, eventLeftMs)), () => this.#check())
  }
}

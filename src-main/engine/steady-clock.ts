import type { Millis } from '../../src-preload/contract/ids.ts'
import type { Clock } from './ports.ts'

/** A clock by which no grant and no deadline lives longer than its length because the computer's clock was set back. */
export interface SteadyClock extends Clock {
  /** From now on it is at least this late: what is on record has happened. */
  atLeast(at: Millis): void
}

/**
 * K1. It never goes back: it moves on with the wall clock where that moves on (sleep counts), and with the time that really passes where the wall clock
 * was set back. A start takes up from the newest recorded time. What passed between that and the start is known from the wall clock alone: where this was
 * set back meanwhile, that much is not counted. `monotonicMs` counts waking time and is never set.
 */
export function createSteadyClock(wall: Clock, monotonicMs: () => number): SteadyClock {
  let known: number = wall.now()
  let ticks = monotonicMs()
  const take = (at: number): void => {
    const ticksNow = monotonicMs()
    known = Math.max(known + (ticksNow - ticks), at)
    ticks = ticksNow
  }
  return { now: () => { take(wall.now()); return Math.floor(known) }, atLeast: take }
}

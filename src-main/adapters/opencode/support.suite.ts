import type { Clock, Ids, Timers } from '../../engine/ports.ts'

/** A clock that stands still until it is told to go on. */
export function manualClock(start = 1_800_000_000_000): Clock & { advance(ms: number): void } {
  let now = start
  return { now: () => now, advance: (ms) => { now += ms } }
}

export const hostClock: Clock = { now: () => Date.now() }

export const hostTimers: Timers = {
  after(ms, signal, run) {
    if (signal.aborted) return
    const timer = setTimeout(run, ms)
    signal.addEventListener('abort', () => { clearTimeout(timer) }, { once: true })
  },
}

/** Ids that differ between test runs, since the state of an agent may outlive one. */
export function countingIds(): Ids {
  let count = 0
  const run = Math.random().toString(36).slice(2)
  return { next: (prefix) => `${prefix}_${run}${String((count += 1)).padStart(8, '0')}` }
}

import type { Clock, Timers } from '../../engine/ports.ts'

/** A clock that stands still until it is told to go on. */
export function manualClock(start = 1_800_000_000_000): Clock & { advance(ms: number): void } {
  let now = start
  return { now: () => now, advance: (ms) => { now += ms } }
}

export const hostTimers: Timers = {
  after(ms, signal, run) {
    if (signal.aborted) return
    const timer = setTimeout(run, ms)
    signal.addEventListener('abort', () => { clearTimeout(timer) }, { once: true })
  },
}

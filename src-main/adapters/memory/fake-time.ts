import type { Clock, Ids, Timers } from '../../engine/ports.ts'

interface Armed { readonly dueAt: number; readonly waitedAt: number; readonly order: number; readonly run: () => void }

/** Clock and timers that move only when a test moves them. Deterministic: timers due at the same time run in the order they were set. */
export interface FakeTime extends Clock, Timers {
  /** Moves the clock and runs what falls due on the way, each at its own time; lets promises settle after each. */
  advance(ms: number): Promise<void>
  /** Sets the wall clock without the time in between, as sleep or an operator does. Timers that are due then run with the next `advance`. */
  jump(toMs: number): void
  /** Milliseconds that really passed: what no operator sets, and no sleep counts. */
  waitedMs(): number
  /** Whether a timer is due now. */
  due(): boolean
  /** How many timers are armed. */
  armed(): number
}

/** Starts at `startMs` (default: a fixed day, so that recorded times are stable). */
export function createFakeTime(startMs = 1_800_000_000_000): FakeTime {
  let now = startMs
  let waited = 0
  let orders = 0
  const timers = new Set<Armed>()
  // As the real timers: due by the wall clock, or when that much time was really waited, so that a clock set back delays nothing.
  const left = (timer: Armed): number => Math.max(0, Math.min(timer.dueAt - now, timer.waitedAt - waited))
  const nextDue = (within: number): Armed | undefined => {
    let first: Armed | undefined
    // In the order in which they were set: of two that are due at once the earlier one stays.
    for (const timer of timers) if (left(timer) <= within && (first === undefined || left(timer) < left(first))) first = timer
    return first
  }
  const pass = (ms: number): void => { now += ms; waited += ms }
  return {
    now: () => now,
    after: (ms, signal, run) => {
      if (signal.aborted) return
      const timer = { dueAt: now + ms, waitedAt: waited + ms, order: orders++, run }
      timers.add(timer)
      signal.addEventListener('abort', () => { timers.delete(timer) }, { once: true })
    },
    advance: async (ms) => {
      let rest = ms
      await settled()
      for (let timer = nextDue(rest); timer !== undefined; timer = nextDue(rest)) {
        timers.delete(timer)
        rest -= left(timer)
        pass(left(timer))
        timer.run()
        await settled()
      }
      pass(rest)
    },
    jump: (toMs) => { now = toMs },
    waitedMs: () => waited,
    due: () => nextDue(0) !== undefined,
    armed: () => timers.size,
  }
}

/** Gives pending promise callbacks, and those that they set off, their turn. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => { setImmediate(resolve) })
}

/** Ids that count: `prefix_00000001`, ascending, the same in every run. */
export function createFakeIds(): Ids {
  let count = 0
  return { next: (prefix) => `${prefix}_${String(++count).padStart(8, '0')}` }
}

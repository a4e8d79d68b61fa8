import type { Clock, Timers } from '../../engine/ports.ts'

/** No timer of the runtime is set for longer: what sleeps with the machine is late by this much at most after it woke. */
const sliceMs = 15_000

/**
 * Timers on the wall clock: due when the clock has moved on by `ms` (sleep counts) or when that much time was really waited (a clock that
 * was set back delays nothing). They do not keep the process alive. `monotonicMs` counts waking time; tests hand in their own.
 */
export function createTimers(clock: Clock, monotonicMs: () => number = () => performance.now()): Timers {
  return {
    after: (ms, signal, run) => {
      if (signal.aborted) return
      const dueAt = clock.now() + ms
      const waitedAt = monotonicMs() + ms
      let timer: NodeJS.Timeout
      const cancel = (): void => { clearTimeout(timer) }
      const arm = (): void => {
        const left = Math.min(dueAt - clock.now(), waitedAt - monotonicMs())
        if (left <= 0) {
          signal.removeEventListener('abort', cancel)
          run()
          return
        }
        timer = setTimeout(arm, Math.min(Math.ceil(left), sliceMs))
        timer.unref()
      }
      signal.addEventListener('abort', cancel, { once: true })
      // Never within the call, not even for 0: the caller has not finished setting up.
      timer = setTimeout(arm, Math.max(0, Math.min(ms, sliceMs)))
      timer.unref()
    },
  }
}

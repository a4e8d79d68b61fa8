import type { Timers } from './ports.ts'

/** Resolves after `ms`, or at once when the signal aborts. */
export function pause(timers: Timers, ms: number, lifetime: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (lifetime.aborted) { resolve(); return }
    const done = (): void => { over.abort(); lifetime.removeEventListener('abort', done); resolve() }
    const over = new AbortController()
    lifetime.addEventListener('abort', done, { once: true })
    timers.after(ms, over.signal, done)
  })
}

/** The proxy's clock and timers, handed in. `after` returns what cancels it. */
export interface Time {
  now(): number
  after(ms: number, run: () => void): () => void
}

/** The process's own clock. Timers do not keep the process alive. */
export const processTime: Time = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

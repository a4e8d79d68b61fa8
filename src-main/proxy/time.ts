/** The proxy's clocks and timers, handed in: `now` is the wall clock, `steady` only goes forward. `after` returns what cancels it. */
export interface Time {
  now(): number
  steady(): number
  after(ms: number, run: () => void): () => void
}

/** The process's own clock. Timers do not keep the process alive. */
export const processTime: Time = {
  now: () => Date.now(),
  steady: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

import type { CoderSignal, Timers } from '../../engine/ports.ts'

const paceMs = 30

export interface SignalPace {
  /** Takes a signal. What only grows (text, a running call's output) is told at most every 30 ms; everything else at once and in order. */
  push(signal: CoderSignal): void
  /** Tells what is held back. */
  flush(): void
}

/** Keeps a fast stream from flooding the host: of what grows, only the newest is told. Stops with `lifetime`; flush first. */
export function createSignalPace(timers: Timers, lifetime: AbortSignal, tell: (signal: CoderSignal) => void): SignalPace {
  const held = new Map<string, CoderSignal>()
  let ticking = false
  const flush = (): void => {
    const due = [...held.values()]
    held.clear()
    for (const signal of due) tell(signal)
  }
  const tick = (): void => {
    if (held.size === 0) { ticking = false; return }
    flush()
    timers.after(paceMs, lifetime, tick)
  }
  return {
    flush,
    push(signal) {
      const key = growingKey(signal)
      if (key === null) { flush(); tell(signal); return }
      if (ticking) { held.set(key, signal); return }
      ticking = true
      tell(signal)
      timers.after(paceMs, lifetime, tick)
    },
  }
}

function growingKey(signal: CoderSignal): string | null {
  if (signal.is === 'text' && !signal.done) return `text:${signal.partId}`
  if (signal.is === 'tool-running' && signal.output !== null && signal.output !== '') return `call:${signal.sessionId}:${signal.callId}`
  return null
}

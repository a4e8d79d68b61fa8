import { useEffect, useState, useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
let now = Date.now()
let timer: ReturnType<typeof setInterval> | null = null

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  if (timer === null) {
    now = Date.now()
    timer = setInterval(() => {
      now = Date.now()
      for (const each of [...listeners]) each()
    }, 1_000)
  }
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }
}

const noTick = (): (() => void) => () => undefined

/** Wall clock in milliseconds since the Unix epoch, moving once a second while `running`; one timer for the whole window. */
export function useNowMs(running = true): number {
  return useSyncExternalStore(running ? subscribe : noTick, () => now)
}

/** True once `afterMs` have passed since this component appeared; progress is not worth drawing before. */
export function usePatience(afterMs = 300): boolean {
  const [passed, setPassed] = useState(false)
  useEffect(() => {
    const waiting = setTimeout(() => {
      setPassed(true)
    }, afterMs)
    return () => {
      clearTimeout(waiting)
    }
  }, [afterMs])
  return passed
}

import { useSyncExternalStore } from 'react'
import type { Draft } from './draft.ts'

let draft: Draft | null = null
const listeners = new Set<() => void>()

function become(next: Draft | null): void {
  draft = next
  for (const listener of [...listeners]) listener()
}

/** The draft of this window; null until the owner has typed something. */
export function useDraft(): Draft | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
    () => draft,
  )
}

/** Changes the draft; `base` is what it starts from when there is none yet. */
export function changeDraft(base: Draft, change: Partial<Draft>): void {
  become({ ...(draft ?? base), ...change })
}

/** Forgets the draft, after it was sent. */
export function dropDraft(): void {
  become(null)
}


import { useCallback, useSyncExternalStore } from 'react'

/** Whether a media query holds, now and as the window changes. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    useCallback(
      (listener: () => void) => {
        const media = window.matchMedia(query)
        media.addEventListener('change', listener)
        return () => {
          media.removeEventListener('change', listener)
        }
      },
      [query],
    ),
    () => window.matchMedia(query).matches,
  )
}

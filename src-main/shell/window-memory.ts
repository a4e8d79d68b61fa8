import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { parsePlace, placeText, type Area, type WindowPlace } from './window-place.ts'

/** What of Electron's window is followed. */
export interface FollowedWindow {
  getNormalBounds(): Area
  isMaximized(): boolean
  on(event: 'resize' | 'move' | 'maximize' | 'unmaximize' | 'close', listener: () => void): unknown
}

/** A window that is dragged moves at every frame; it is written down once it has rested for so long. */
export const restMs = 500

/** Where the window was at the end of the last life; null when that is not known. What is broken is as good as absent: a place is no fact that anybody misses. */
export function rememberedPlace(path: string): WindowPlace | null {
  try {
    return parsePlace(readFileSync(path, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

/** Writes down where the window is, some time after it moved and when it closes. A disk that refuses is told to `complain`, and costs the place only. */
export function rememberPlace(window: FollowedWindow, path: string, complain: (why: string) => void): void {
  let resting: NodeJS.Timeout | undefined
  const write = (): void => {
    clearTimeout(resting)
    resting = undefined
    try {
      // Small and rare, and written at once, because at the close there is no later. A file half there after a power cut is as good as absent.
      writeFileSync(`${path}.new`, placeText({ area: window.getNormalBounds(), maximized: window.isMaximized() }), { mode: 0o600 })
      renameSync(`${path}.new`, path)
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error)) throw error
      complain(String(error.code))
    }
  }
  const later = (): void => { clearTimeout(resting); resting = setTimeout(write, restMs) }
  for (const event of ['resize', 'move', 'maximize', 'unmaximize'] as const) window.on(event, later)
  window.on('close', write)
}

import { setTimeout as pause } from 'node:timers/promises'
import { AppRun, type RunOptions } from './app-run.ts'
import type { Stage } from './stage.ts'

const paintedWithinMs = 60_000

/** Reports when the frame in which `condition` (an expression) became true has been painted: the first task after its animation frame. Does `then` in that task. */
function reporting(condition: string, then: string): string {
  return `(() => {
  if (globalThis.benchLooks) return
  globalThis.benchLooks = true
  const painted = () => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      report(String(performance.timeOrigin + performance.now()))
      { ${then} }
    }
    port2.postMessage(null)
  }
  const look = () => {
    if (!(${condition})) return
    observer.disconnect()
    requestAnimationFrame(painted)
  }
  const observer = new MutationObserver(look)
  observer.observe(document, { childList: true, subtree: true, attributes: true })
  look()
})()`
}

const findSampleButton = "Array.from(document.querySelectorAll('button')).find((button) => button.textContent.includes('Run the sample task') && !button.disabled && button.getAttribute('aria-disabled') !== 'true')"
/** The window can be used by somebody new: the button "Run the sample task" is there and enabled. */
export const sampleButton = `${findSampleButton} !== undefined`
/** Presses that button. */
export const pressSampleButton = `${findSampleButton}.click()`
/** A task's room is drawn: its transcript has entries. */
export const drawnRoom = "document.querySelector('[role=\"log\"] article.entry') !== null"

export interface PaintedStart { readonly app: AppRun; readonly afterMs: number }

/**
 * Starts an app and waits until `condition` has been painted; `afterMs` since its process was asked for. `then`: a statement for that very moment.
 * The caller closes the app. @throws after a minute
 */
export async function startUntilPainted(stage: Stage, condition: string, options: Pick<RunOptions, 'executable' | 'home'>, then = ''): Promise<PaintedStart> {
  let told: (atMs: number) => void = () => undefined
  const painted = new Promise<number>((resolve) => { told = resolve })
  const app = AppRun.start(stage, { ...options, script: reporting(condition, then), onReport: (text) => { told(Number(text)) } })
  const bound = new AbortController()
  const late = pause(paintedWithinMs, null, { signal: bound.signal }).catch(() => null)
  const paintedAt = await Promise.race([painted, late])
  bound.abort()
  if (paintedAt !== null) return { app, afterMs: paintedAt - app.startedAt }
  const { output } = app
  await app.close()
  throw new Error(`not painted within ${paintedWithinMs} ms:\n${output}`)
}

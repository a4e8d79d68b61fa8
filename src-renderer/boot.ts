import './styles.ts'
import { keepPresses } from './kept-presses.ts'

// The page may have come with its first screen: that is painted before the window's code takes the machine for itself, and what is pressed
// on it meanwhile is kept.
const presses = keepPresses(window)
const isDrawn = document.getElementById('root')?.hasChildNodes() === true
if (isDrawn) afterPaint(open)
else open()

function open(): void {
  void import('./main.tsx').then(({ openWindow }) => openWindow(presses))
}

/** A page that nobody sees is not painted: then it is not waited for. */
const paintMsMax = 500

/** Calls `next` once the display has the page's first picture. */
function afterPaint(next: () => void): void {
  const waited = new AbortController()
  const go = (): void => {
    if (waited.signal.aborted) return
    waited.abort()
    next()
  }
  new PerformanceObserver((_paints, observer) => {
    observer.disconnect()
    go()
  }).observe({ type: 'paint', buffered: true })
  setTimeout(go, paintMsMax)
}

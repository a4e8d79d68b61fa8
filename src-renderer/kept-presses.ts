/** Presses that came before the window could answer them. */
export interface KeptPresses {
  /** From now on the window answers by itself: carries out what was pressed, once each, in the order in which it was. */
  readonly handOver: () => void
}

/** Nothing but what is kept takes part in the page's own behaviour: focus moves, and a button looks pressed. */
const kinds = ['pointerdown', 'pointerup', 'pointercancel', 'mousedown', 'mouseup', 'click', 'keydown', 'keyup'] as const

/**
 * Keeps the presses of a page that is drawn before its code is there: those of buttons, by whatever means, and key combinations. A press
 * belongs wholly to this or wholly to the window: one that is half done at the hand-over is waited for.
 */
export function keepPresses(page: EventTarget): KeptPresses {
  const kept = new Map<EventTarget | Event, () => void>()
  const listening = new AbortController()
  let held = false
  let wanted = false
  const finish = (): void => {
    if (held || !wanted) return
    listening.abort()
    for (const carryOut of kept.values()) carryOut()
    kept.clear()
  }
  const letGo = (): void => { held = false; finish() }
  const take = (event: Event): void => {
    event.stopImmediatePropagation()
    if (event.type === 'pointerdown') held = true
    // The click, if it is one, comes in the same task.
    if (event.type === 'pointerup' || event.type === 'pointercancel') setTimeout(letGo)
    const button = buttonOf(event.target)
    // A second click at once would be a second wish only by accident; what was pressed last is carried out last.
    if (event.type === 'click' && button !== null) {
      kept.delete(button)
      kept.set(button, () => { if (button.isConnected) button.click() })
    }
    if (event.type === 'keydown' && isCombination(event)) kept.set(event, () => { event.target?.dispatchEvent(new KeyboardEvent('keydown', event)) })
  }
  for (const kind of kinds) page.addEventListener(kind, take, { capture: true, signal: listening.signal })
  return { handOver: () => { wanted = true; finish() } }
}

function buttonOf(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>('button') : null
}

function isCombination(event: Event): event is KeyboardEvent {
  return event instanceof KeyboardEvent && (event.ctrlKey || event.metaKey)
}

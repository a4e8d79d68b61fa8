/** Tells the transcript on screen to scroll to its end. */
export const jumpEvent = 'countersign:jump-to-latest'

/** Scrolls the transcript on screen to its end; for the command palette, which must not load the transcript for it. */
export function jumpToLatest(): void {
  window.dispatchEvent(new Event(jumpEvent))
}

/** Nearer to the end than this counts as being at the end. */
const endSlackPx = 48
/** A move upwards this soon after a wheel, a key or a touch is the owner's; any other is the layout's. */
const ownerMovesForMs = 500

/**
 * Keeps a scrolling box at its end until somebody scrolls up. Whatever grows or shrinks (a row, what stands under the box,
 * the window), the end stays in view; only a move upwards lets go of it, and coming near the end takes hold again.
 */
export class EndFollower {
  #box: HTMLElement | null = null
  #following = true
  #lastTop = 0
  #ownerMovesUntil = 0
  #pointerHeld = false
  #seenRows = 0
  readonly #listeners = new Set<() => void>()

  /** Whether the end is being followed. */
  readonly atEnd = (): boolean => this.#following

  /** Of so many rows, those that came since the end was let go of. */
  unseen(rows: number): number {
    if (this.#following) this.#seenRows = rows
    return Math.max(0, rows - this.#seenRows)
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** Follows the end of `box`, whose height is that of `content`, until the returned function is called. */
  attach(box: HTMLElement, content: HTMLElement): () => void {
    this.#box = box
    const onScroll = (): void => {
      this.#scrolled(box)
    }
    // Told after layout and before painting, so that the end never leaves the picture.
    const observer = new ResizeObserver(this.pin)
    observer.observe(box)
    // With its padding, which is the room of the rows that are not drawn.
    observer.observe(content, { box: 'border-box' })
    const stop = new AbortController()
    const listen = { passive: true, signal: stop.signal }
    const moves = (): void => {
      this.#ownerMovesUntil = performance.now() + ownerMovesForMs
    }
    for (const kind of ['wheel', 'keydown', 'touchmove'] as const) box.addEventListener(kind, moves, listen)
    box.addEventListener('pointerdown', () => { this.#pointerHeld = true }, listen)
    window.addEventListener('pointerup', () => { this.#pointerHeld = false }, listen)
    box.addEventListener('scroll', onScroll, listen)
    this.pin()
    return () => {
      observer.disconnect()
      stop.abort()
      this.#box = null
    }
  }

  /** Puts the end in view if it is followed. */
  readonly pin = (): void => {
    if (this.#box === null || !this.#following) return
    this.#box.scrollTop = this.#box.scrollHeight
    this.#lastTop = this.#box.scrollTop
  }

  /** Goes to the end and follows it again. */
  readonly toEnd = (): void => {
    this.#become(true)
    this.pin()
  }

  #scrolled(box: HTMLElement): void {
    const near = box.scrollHeight - box.scrollTop - box.clientHeight <= endSlackPx
    const up = box.scrollTop < this.#lastTop - 1
    this.#lastTop = box.scrollTop
    if (near) this.#become(true)
    else if (up && (this.#pointerHeld || performance.now() < this.#ownerMovesUntil)) this.#become(false)
  }

  #become(following: boolean): void {
    if (following === this.#following) return
    this.#following = following
    for (const listener of [...this.#listeners]) listener()
  }
}

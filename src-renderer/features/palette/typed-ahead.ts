/** Keeps what is typed for a field that is not there yet, because its code is still being loaded. */
export class TypedAhead {
  #text = ''
  readonly #followers = new Set<(text: string) => void>()

  /**
   * From now on what is typed is kept and reaches nothing else on the page, until `ready` says that the field has the focus, or the returned
   * function is called. Key combinations pass, and what neither types nor acts; Enter, arrows and their like would act on what still has the focus behind.
   */
  keep(page: EventTarget, ready: () => boolean): () => void {
    const listening = new AbortController()
    this.#text = ''
    page.addEventListener('keydown', (event) => {
      if (ready()) { listening.abort(); return }
      const next = withKey(this.#text, event as KeyboardEvent)
      if (next === null) return
      event.preventDefault()
      event.stopImmediatePropagation()
      if (next === this.#text) return
      this.#text = next
      for (const follower of this.#followers) follower(next)
    }, { capture: true, signal: listening.signal })
    return () => {
      listening.abort()
      this.#text = ''
    }
  }

  /** What was typed so far. */
  get text(): string {
    return this.#text
  }

  /** Tells `follower` the whole text with each key that is still kept, until the returned function is called. */
  follow(follower: (text: string) => void): () => void {
    this.#followers.add(follower)
    return () => { this.#followers.delete(follower) }
  }
}

const acting: ReadonlySet<string> = new Set(['Enter', 'Delete', 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End', 'PageUp', 'PageDown'])

/** A text with one key more, or as it is after a key that would only act; null: that key is not the field's. */
function withKey(text: string, event: KeyboardEvent): string | null {
  const combines = event.metaKey || ((event.ctrlKey || event.altKey) && !event.getModifierState('AltGraph'))
  if (combines || event.isComposing) return null
  if (acting.has(event.key)) return text
  if (event.key === 'Backspace') return [...text].slice(0, -1).join('')
  return [...event.key].length === 1 ? text + event.key : null
}

/** For the palette's field. */
export const paletteTyped = new TypedAhead()

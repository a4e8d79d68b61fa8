const focusable = 'button, [tabindex], a[href], input, textarea, select, summary'

interface Held { readonly element: HTMLElement; readonly row: HTMLElement; readonly rowKey: string; readonly nth: number }

/**
 * Keeps the keyboard's focus inside a list of which not all rows are drawn. The row that has it stays drawn wherever the list is scrolled to
 * (`rowKey`); and where its element is made anew, because the row now stands in a block with others, the focus goes to its like (`restore`).
 */
export class KeptFocus {
  #held: Held | null = null

  /** Of the row that has the focus. A window that is not in front keeps its focus too. */
  get rowKey(): string | null {
    return this.#held !== null && this.#held.element === document.activeElement ? this.#held.rowKey : null
  }

  /** Follows the focus in `box` until the returned function is called. */
  attach(box: HTMLElement): () => void {
    const took = ({ target }: FocusEvent): void => {
      const row = target instanceof HTMLElement ? target.closest<HTMLElement>('[data-key]') : null
      this.#held = target instanceof HTMLElement && row?.dataset['key'] !== undefined
        ? { element: target, row, rowKey: row.dataset['key'], nth: [...row.querySelectorAll(focusable)].indexOf(target) }
        : null
    }
    box.addEventListener('focusin', took)
    return () => {
      box.removeEventListener('focusin', took)
      this.#held = null
    }
  }

  /** Gives back a focus that was lost with its whole row: to the same place in that, or else to the list itself, from where the keyboard goes on. What a row does with its own buttons is its affair. */
  restore(box: HTMLElement): void {
    if (this.#held === null || this.#held.element.isConnected) return
    const { row, rowKey, nth } = this.#held
    this.#held = null
    if (row.isConnected) return
    if (document.activeElement !== null && document.activeElement !== document.body) return
    const like = box.querySelector(`[data-key="${CSS.escape(rowKey)}"]`)?.querySelectorAll<HTMLElement>(focusable)[nth]
    const next = like ?? box
    next.focus({ preventScroll: true })
  }
}

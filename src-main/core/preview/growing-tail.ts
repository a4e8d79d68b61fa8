/**
 * The last characters and the line count of a text that grows piece by piece. Holds at most twice
 * `charsMax` characters however long the text gets; each character is copied a bounded number of times.
 */
export class GrowingTail {
  readonly #charsMax: number
  #held = ''
  #newlines = 0
  /** Characters copied by trimming so far: the cost that must stay linear. */
  copied = 0

  constructor(charsMax: number) {
    this.#charsMax = charsMax
  }

  /** Appends decoded text; `newlines` is how many line feeds are in it. */
  push(text: string, newlines: number): void {
    if (text.length === 0) return
    this.#newlines += newlines
    this.#held += text.length > this.#charsMax ? text.slice(-this.#charsMax) : text
    if (this.#held.length <= 2 * this.#charsMax) return
    this.#held = this.#held.slice(-this.#charsMax)
    this.copied += this.#charsMax
  }

  get heldChars(): number {
    return this.#held.length
  }

  /** Lines so far; a last line without its line feed counts. */
  get lines(): number {
    if (this.#held.length === 0) return 0
    return this.#newlines + (this.#held.endsWith('\n') ? 0 : 1)
  }

  /** The last `charsMax` characters or fewer. Halves of a surrogate pair at either end are left out. */
  text(): string {
    const tail = this.#held.slice(-this.#charsMax)
    const from = isLowSurrogate(tail.charCodeAt(0)) ? 1 : 0
    const to = isHighSurrogate(tail.charCodeAt(tail.length - 1)) ? tail.length - 1 : tail.length
    return from === 0 && to === tail.length ? tail : tail.slice(from, to)
  }
}

/** Whether a UTF-16 unit is the first half of a pair. */
export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

/** Whether a UTF-16 unit is the second half of a pair. */
export function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

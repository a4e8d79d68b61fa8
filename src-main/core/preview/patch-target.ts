const header = /^\*\*\* (?:Add|Update|Delete) File: (.+?)\r?$/

/** Finds the first file that a growing patch names: its first whole `*** Add|Update|Delete File: X` line. */
export class PatchTarget {
  readonly #lineCharsMax: number
  #line = ''
  #overlong = false
  found: string | null = null

  constructor(lineCharsMax: number) {
    this.#lineCharsMax = lineCharsMax
  }

  /** Appends decoded patch text. */
  push(text: string): void {
    let from = 0
    while (this.found === null && from < text.length) {
      const lineEnd = text.indexOf('\n', from)
      this.#append(text.slice(from, lineEnd === -1 ? text.length : lineEnd))
      if (lineEnd === -1) return
      this.#endLine()
      from = lineEnd + 1
    }
  }

  /** The patch has ended: its last line counts even without a line feed. */
  end(): void {
    if (this.found === null) this.#endLine()
  }

  #append(text: string): void {
    if (this.#overlong) return
    this.#line += text.slice(0, this.#lineCharsMax + 1 - this.#line.length)
    this.#overlong = this.#line.length > this.#lineCharsMax
  }

  #endLine(): void {
    if (!this.#overlong) this.found = header.exec(this.#line)?.[1] ?? null
    this.#line = ''
    this.#overlong = false
  }
}

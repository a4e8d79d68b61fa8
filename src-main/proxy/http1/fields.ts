/** The header fields of a message in their order, names as they came; asked for by lower-case names. */
export class Fields {
  readonly #names: string[] = []
  readonly #lower: string[] = []
  readonly #values: string[] = []

  add(name: string, value: string): void {
    this.#names.push(name)
    this.#lower.push(name.toLowerCase())
    this.#values.push(value)
  }

  /** Every value of a field, one for each line. */
  all(name: string): readonly string[] {
    const found: string[] = []
    for (let at = this.#lower.indexOf(name); at >= 0; at = this.#lower.indexOf(name, at + 1)) found.push(this.#values[at] ?? '')
    return found
  }

  /** The value of a field that is there once; null if it is missing or there twice. */
  only(name: string): string | null {
    const first = this.#lower.indexOf(name)
    return first < 0 || this.#lower.lastIndexOf(name) !== first ? null : (this.#values[first] ?? null)
  }

  has(name: string): boolean {
    return this.#lower.includes(name)
  }

  /** Whether a comma-separated field names this word, whatever its case. */
  lists(name: string, word: string): boolean {
    return this.all(name).some((value) => value.toLowerCase().split(',').some((part) => part.trim() === word))
  }

  /** Tells each field by its lower-case name, its value and its name as it came. */
  each(tell: (lower: string, value: string, name: string) => void): void {
    for (let index = 0; index < this.#lower.length; index += 1) tell(this.#lower[index] ?? '', this.#values[index] ?? '', this.#names[index] ?? '')
  }
}

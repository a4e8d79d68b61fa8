/** A header field. `lower`: its name in lower case; `name`: as it came. */
export interface Field { readonly name: string; readonly lower: string; readonly value: string }

/** The header fields of a message in their order; asked for by lower-case names. */
export class Fields {
  readonly #all: readonly Field[]

  constructor(all: readonly Field[]) {
    this.#all = all
  }

  /** A list of the fields, for one who makes another of it. */
  copied(): Field[] {
    return this.#all.slice()
  }

  /** Every value of a field, one for each line. */
  all(name: string): readonly string[] {
    const found: string[] = []
    for (const { lower, value } of this.#all) if (lower === name) found.push(value)
    return found
  }

  /** The value of a field that is there once; null if it is missing or there twice. */
  only(name: string): string | null {
    let found: string | null = null
    for (const { lower, value } of this.#all) {
      if (lower !== name) continue
      if (found !== null) return null
      found = value
    }
    return found
  }

  has(name: string): boolean {
    for (const { lower } of this.#all) if (lower === name) return true
    return false
  }

  /** Whether a comma-separated field names this word, whatever its case. */
  lists(name: string, word: string): boolean {
    for (const { lower, value } of this.#all) if (lower === name && value.toLowerCase().split(',').some((part) => part.trim() === word)) return true
    return false
  }

  /** Tells each field by its lower-case name, its value and its name as it came. */
  each(tell: (lower: string, value: string, name: string) => void): void {
    for (const { lower, value, name } of this.#all) tell(lower, value, name)
  }
}

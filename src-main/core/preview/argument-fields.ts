/** One argument of a growing call that is neither its target nor its content: name and value, as far as they have come. */
export interface ArgumentField { readonly name: string; readonly value: string }

const fieldsMax = 12
const valueCharsMax = 160

/** The small arguments of a call, in the order in which they came. Of more than 12, and of longer values, only the beginning is held. */
export class ArgumentFields {
  readonly #fields: { readonly name: string; value: string }[] = []
  #open: { readonly name: string; value: string } | null = null

  /** A value begins; what it has of text already is `value`. */
  begin(name: string, value: string): void {
    this.#open = this.#fields.length < fieldsMax ? { name, value } : null
    if (this.#open !== null) this.#fields.push(this.#open)
  }

  /** Decoded text of the value that is open; nothing happens when none is. */
  grow(text: string): void {
    if (this.#open === null || this.#open.value.length > valueCharsMax) return
    const value = this.#open.value + text.slice(0, valueCharsMax + 1)
    this.#open.value = value.length > valueCharsMax ? `${value.slice(0, valueCharsMax)}…` : value
  }

  end(): void {
    this.#open = null
  }

  get heldChars(): number {
    return this.#fields.reduce((sum, { name, value }) => sum + name.length + value.length, 0)
  }

  all(): readonly ArgumentField[] {
    return this.#fields.map(({ name, value }) => ({ name, value: value.toWellFormed() }))
  }
}

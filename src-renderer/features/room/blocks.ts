/** Rows at the end that stand each by itself: what is new, grows or moves is among them. */
const singleRows = 240
/** Older rows stand together in blocks of so many. */
export const blockRows = 8

/** What the virtualizer counts of a transcript: blocks of old rows, then single rows. Each look at a list costs as many steps as there are items, and a row is a look. */
export class Blocks {
  readonly #heightOf: (rowKey: string) => number
  #keys: readonly string[] = []
  #blocks = 0
  readonly #known: { readonly first: string; readonly key: string; readonly height: number }[] = []

  /** `heightOf`: the first guess of a row's height in pixels. */
  constructor(heightOf: (rowKey: string) => number) {
    this.#heightOf = heightOf
  }

  /** Takes the keys of all rows, in order. */
  take(keys: readonly string[]): this {
    this.#keys = keys
    this.#blocks = Math.max(0, Math.floor((keys.length - singleRows) / blockRows))
    return this
  }

  get count(): number {
    return this.#blocks + this.#keys.length - this.#blocks * blockRows
  }

  isBlock(item: number): boolean {
    return item < this.#blocks
  }

  /** Indices of an item's rows: from the first, up to and without the last. */
  rows(item: number): readonly [number, number] {
    if (this.isBlock(item)) return [item * blockRows, (item + 1) * blockRows]
    const row = item + this.#blocks * (blockRows - 1)
    return [row, row + 1]
  }

  /** The same for as long as the item begins with the same row. */
  key(item: number): string {
    return this.isBlock(item) ? this.#block(item).key : (this.#keys[this.rows(item)[0]] ?? '')
  }

  /** First guess of an item's height in pixels. */
  height(item: number): number {
    return this.isBlock(item) ? this.#block(item).height : this.#heightOf(this.key(item))
  }

  #block(item: number): { readonly key: string; readonly height: number } {
    const [from, to] = this.rows(item)
    const first = this.#keys[from] ?? ''
    const known = this.#known[item]
    if (known?.first === first) return known
    const made = { first, key: `${first} and on`, height: this.#keys.slice(from, to).reduce((sum, key) => sum + this.#heightOf(key), 0) }
    this.#known[item] = made
    return made
  }
}

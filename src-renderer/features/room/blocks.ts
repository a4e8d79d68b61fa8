/** Rows at the end that stand each by itself: what is new, grows or moves is among them. */
const singleRows = 240
/** Older rows stand together in blocks of so many: a step of scrolling draws whole blocks, and few of more than is seen of them. */
export const blockRows = 4

/** What the virtualizer counts of a transcript: blocks of old rows, then single rows. Each look at a list costs as many steps as there are items, and a row is a look. */
export class Blocks {
  readonly #heightOf: (rowKey: string) => number
  #keys: readonly string[] = []
  #blocks = 0
  readonly #known: { readonly first: string; readonly height: number }[] = []

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

  /** Keys of an item's rows, and of the row before them; null: there is none. */
  rowKeys(item: number): { readonly rows: readonly string[]; readonly previousKey: string | null } {
    const [from, to] = this.rows(item)
    return { rows: this.#keys.slice(from, to), previousKey: this.#keys[from - 1] ?? null }
  }

  /** The same for as long as the item begins with the same row. */
  key(item: number): string {
    return this.isBlock(item) ? blockKey(this.#keys[this.rows(item)[0]]) : (this.#keys[this.rows(item)[0]] ?? '')
  }

  /** First guess of an item's height in pixels. What was measured of rows while each stood by itself is none: a block that they become is as high as they were. */
  height(item: number, measured: (rowKey: string) => number | undefined): number {
    return this.isBlock(item) ? this.#block(item, measured).height : this.#heightOf(this.key(item))
  }

  /** The item that a row stands in; null: there is no such row. `near`: where it stood when it was looked for last. */
  itemOf(rowKey: string, near = 0): { readonly item: number; readonly row: number } | null {
    const row = this.#keys[near] === rowKey ? near : this.#keys.indexOf(rowKey)
    if (row < 0) return null
    const grouped = this.#blocks * blockRows
    return { row, item: row < grouped ? Math.floor(row / blockRows) : row - grouped + this.#blocks }
  }

  #block(item: number, measured: (rowKey: string) => number | undefined): { readonly first: string; readonly height: number } {
    const [from, to] = this.rows(item)
    const first = this.#keys[from] ?? ''
    const known = this.#known[item]
    if (known?.first === first) return known
    const made = { first, height: this.#keys.slice(from, to).reduce((sum, key) => sum + (measured(key) ?? this.#heightOf(key)), 0) }
    this.#known[item] = made
    return made
  }
}

function blockKey(first = ''): string {
  return `${first} and on`
}

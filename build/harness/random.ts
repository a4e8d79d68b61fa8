/** Numbers from a seed: the same seed, the same numbers, on every machine. */
export interface Random {
  /** A whole number from 0 up to and without `below`. */
  below(below: number): number
  chance(of: number): boolean
  pick<T>(items: readonly T[]): T
  shuffle<T>(items: readonly T[]): T[]
}

/** SplitMix32. Source: G. Steele et al., Fast Splittable Pseudorandom Number Generators (2014), in its 32-bit form. */
export function seeded(seed: number): Random {
  let state = seed | 0
  const next = (): number => {
    state = (state + 0x9e3779b9) | 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) >>> 0
  }
  const below = (limit: number): number => next() % limit
  return {
    below,
    chance: (of) => next() / 2 ** 32 < of,
    pick: (items) => {
      const item = items[below(items.length)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
    shuffle: (items) => {
      const rest = [...items]
      for (let last = rest.length - 1; last > 0; last -= 1) {
        const other = below(last + 1)
        const held = rest[last] as never
        rest[last] = rest[other] as never
        rest[other] = held
      }
      return rest
    },
  }
}

/** Places of a double where a test can hold what passes, to look at the world in between. */
export interface Gates<K extends string> {
  /** What passes here from now on waits, until the returned function is called. */
  hold(at: K): () => void
  /** Passes at once, or when it is let through. */
  pass(at: K): Promise<void>
  /** How many wait here. */
  waiting(at: K): number
}

/** Gates that are open until held. */
export function createGates<K extends string>(): Gates<K> {
  const held = new Map<K, (() => void)[]>()
  return {
    hold: (at) => {
      held.set(at, held.get(at) ?? [])
      return () => {
        const waiting = held.get(at) ?? []
        held.delete(at)
        for (const go of waiting) go()
      }
    },
    pass: (at) => {
      const waiting = held.get(at)
      return waiting === undefined ? Promise.resolve() : new Promise((go) => { waiting.push(go) })
    },
    waiting: (at) => held.get(at)?.length ?? 0,
  }
}

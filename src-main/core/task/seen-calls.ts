import type { CallId } from '../../../src-preload/contract/ids.ts'

/**
 * Calls that have ended: a set that only grows. Unchangeable for whoever holds one: `with` gives another that has one more. The two share
 * what they know, so that a task of many calls costs no copy at each of them.
 */
export class SeenCalls {
  /** Each call with how many there were before it; holds later ones than this set's own, too. */
  readonly #places: Map<CallId, number>
  readonly size: number

  private constructor(places: Map<CallId, number>, size: number) {
    this.#places = places
    this.size = size
  }

  static none(): SeenCalls {
    return new SeenCalls(new Map(), 0)
  }

  has(callId: CallId): boolean {
    const place = this.#places.get(callId)
    return place !== undefined && place < this.size
  }

  *[Symbol.iterator](): Generator<CallId> {
    for (const [callId, place] of this.#places) if (place < this.size) yield callId
  }

  with(callId: CallId): SeenCalls {
    if (this.has(callId)) return this
    // Another set went on from here already: its calls are not this one's.
    const places = this.#places.size === this.size ? this.#places : new Map([...this.#places].filter(([, place]) => place < this.size))
    places.set(callId, this.size)
    return new SeenCalls(places, this.size + 1)
  }
}

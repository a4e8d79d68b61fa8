import type { CallId, Digest } from '../../../src-preload/contract/ids.ts'

/**
 * Calls that have ended: a set that only grows. Unchangeable for whoever holds one: `with` gives another that has one more. The two share
 * what they know, so that a task of many calls costs no copy at each of them.
 */
export class SeenCalls {
  /** Each call with how many there were before it, and the digest of its input; holds later ones than this set's own, too. */
  readonly #places: Map<CallId, { readonly at: number; readonly input: Digest | null }>
  readonly size: number

  private constructor(places: Map<CallId, { readonly at: number; readonly input: Digest | null }>, size: number) {
    this.#places = places
    this.size = size
  }

  static none(): SeenCalls {
    return new SeenCalls(new Map(), 0)
  }

  has(callId: CallId): boolean {
    const place = this.#places.get(callId)
    return place !== undefined && place.at < this.size
  }

  *[Symbol.iterator](): Generator<CallId> {
    for (const [callId, { at }] of this.#places) if (at < this.size) yield callId
  }

  /** The digest of an ended call's input; null where it has not ended, or nobody told. */
  inputOf(callId: CallId): Digest | null {
    return this.has(callId) ? this.#places.get(callId)?.input ?? null : null
  }

  with(callId: CallId, input: Digest | null = null): SeenCalls {
    if (this.has(callId)) return this
    // Another set went on from here already: its calls are not this one's.
    const places = this.#places.size === this.size ? this.#places : new Map([...this.#places].filter(([, { at }]) => at < this.size))
    places.set(callId, { at: this.size, input })
    return new SeenCalls(places, this.size + 1)
  }
}

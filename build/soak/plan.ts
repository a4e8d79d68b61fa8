import { failpointNames } from '../../src-main/engine/failpoints.ts'
import type { Random } from '../harness/random.ts'
import { moments, momentWeights, type Moment } from './moments.ts'

/** How one life is to end. All of it is drawn before it begins, so that the seed alone says it. */
export type Plan =
  /** So long after its start, before the window may be there. */
  | { readonly is: 'early'; readonly inMs: number }
  /** At a failpoint, `name@n`. */
  | { readonly is: 'failpoint'; readonly at: string }
  /** So long after one of these moments was seen. */
  | { readonly is: 'moment'; readonly any: readonly Moment[]; readonly afterMs: number }

/** Of ten lives. */
const earlyInTen = 1
const failpointInTen = 3
const earlyMsMax = 3_000
/** A look takes some of it, too. */
const afterMsMax = 250
/** These are passed at every commit or receipt. */
const frequent = /^(commit|start|end|receipt):/
const frequentPassesMax = 15
const passesMax = 2

/**
 * The plans of one installation. Lives that end at a moment share a deck: each takes the first card of it that it meets, out of a hand of its
 * own, and what comes early in a task is soon used up, so that later lives reach what comes late.
 */
export class Plans {
  readonly #random: Random
  readonly #kinds: readonly Plan['is'][]
  #deck: Moment[]
  #failpoints: string[] = []
  #dealt = 0

  constructor(random: Random, kills: number) {
    this.#random = random
    const of = (is: Plan['is'], inTen: number): Plan['is'][] => Array.from({ length: Math.round(kills * inTen / 10) }, () => is)
    const some: readonly Plan['is'][] = [...of('early', earlyInTen), ...of('failpoint', failpointInTen)]
    this.#kinds = random.shuffle([...some, ...Array.from({ length: Math.max(0, kills - some.length) }, () => 'moment' as const)])
    this.#deck = random.shuffle(moments.flatMap((moment) => Array.from({ length: momentWeights[moment] }, () => moment)))
  }

  /** The plan of the next life. */
  next(): Plan {
    const kind = this.#kinds[this.#dealt] ?? 'moment'
    this.#dealt += 1
    switch (kind) {
      case 'early': return { is: 'early', inMs: this.#random.below(earlyMsMax) }
      case 'failpoint': {
        if (this.#failpoints.length === 0) this.#failpoints = this.#random.shuffle(failpointNames)
        const name = this.#failpoints.pop() ?? ''
        return { is: 'failpoint', at: `${name}@${String(1 + this.#random.below(frequent.test(name) ? frequentPassesMax : passesMax))}` }
      }
      case 'moment': return { is: 'moment', any: this.#hand(), afterMs: this.#random.below(afterMsMax) }
    }
  }

  /** A moment was met: its card is used up. */
  met(moment: Moment): void {
    const at = this.#deck.indexOf(moment)
    if (at >= 0) this.#deck.splice(at, 1)
  }

  /** Half of the moments that are left, so that an early one does not end every life before a late one. */
  #hand(): readonly Moment[] {
    const left = [...new Set(this.#deck)].toSorted()
    const drawn = left.filter(() => this.#random.chance(0.5))
    return drawn.length > 0 ? drawn : left.length > 0 ? left : moments
  }
}

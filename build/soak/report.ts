import type { StoredEvent } from '../../src-main/engine/ports.ts'
import type { TaskState } from '../../src-main/core/task/model.ts'
import { moments, placeOf, places, type Moment, type Place } from './moments.ts'

const ends: ReadonlySet<string> = new Set(['accepted', 'task-cancelled', 'task-failed', 'rejected'])
/** A soak of so many kills has been everywhere that a task works; a shorter one has died in a turn. */
const everywhereFrom = 100
const atWork = places.filter((place) => place.startsWith('coding: '))

type Counts<K> = Map<K, number>

function count<K>(counts: Counts<K>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** What a soak did, and where it killed. */
export class SoakReport {
  kills = 0
  failed = 0
  early = 0
  late = 0
  beforeWindow = 0
  readonly #failpoints: Counts<string> = new Map()
  readonly #met: Counts<Moment> = new Map()
  readonly #places: Counts<Place> = new Map()
  readonly #ends: Counts<string> = new Map()
  #idle = 0
  #events = 0
  #turns = 0
  #uncertain = 0

  atFailpoint(name: string): void { count(this.#failpoints, name) }
  atMoment(moment: Moment): void { count(this.#met, moment) }

  /** After a kill: where the journal says that each task stood. */
  found(states: readonly TaskState[]): void {
    const found = states.map(placeOf).filter((place) => place !== null)
    for (const place of found) count(this.#places, place)
    if (found.length === 0) this.#idle += 1
  }

  /** What the journal has that it did not have before. */
  note(fresh: readonly StoredEvent[] | null): void {
    for (const { type } of fresh ?? []) {
      this.#events += 1
      if (type === 'turn-submitted') this.#turns += 1
      if (type === 'recovery-needed') this.#uncertain += 1
      if (ends.has(type)) count(this.#ends, type)
    }
  }

  /** What the kills did not reach although there were enough of them; a soak that reaches nothing has shown nothing. */
  get unreached(): readonly string[] {
    if (this.kills < 20) return []
    const anyAtWork = this.#turns > 0 && this.#uncertain > 0 && atWork.some((place) => this.#places.has(place))
    if (this.kills < everywhereFrom) return anyAtWork ? [] : ['a turn at work']
    return places.filter((place) => place.startsWith('coding: ') || place === 'verifying' || place === 'applying' || place === 'stopping').filter((place) => place !== 'coding: between' && !this.#places.has(place))
  }

  /** The whole of it in lines, with a table of where the kills hit. */
  lines(seed: number, installations: number, seconds: number): readonly string[] {
    const at = [...this.#failpoints.values()].reduce((sum, times) => sum + times, 0)
    const met = [...this.#met.values()].reduce((sum, times) => sum + times, 0)
    return [
      `seed ${String(seed)}: ${String(this.kills)} kills of ${String(installations)} installations in ${seconds.toFixed(0)} s; ${String(this.#events)} events, ${String(this.#turns)} turns, ${String(this.#uncertain)} times uncertain; ${inWords(this.#ends)}`,
      `killed at a moment that was waited for: ${String(met)}, at a failpoint: ${String(at)} (${String(this.#failpoints.size)} different), in the start: ${String(this.early)}, by the clock since neither came: ${String(this.late)}; ${String(this.beforeWindow)} of all before the window`,
      `failpoints: ${inWords(this.#failpoints)}`,
      ...table('waited for', moments, this.#met), ...table('where the journal has the tasks at the kills', places, this.#places), `  ${'nothing was open'.padEnd(28)} ${String(this.#idle).padStart(4)}`,
    ]
  }
}

function inWords(counts: ReadonlyMap<string, number>): string {
  return [...counts].toSorted().map(([what, times]) => `${what} ${String(times)}`).join(', ')
}

function table<K extends string>(title: string, all: readonly K[], counts: ReadonlyMap<K, number>): readonly string[] {
  return [title, ...all.map((one) => `  ${one.padEnd(28)} ${String(counts.get(one) ?? 0).padStart(4)}`)]
}

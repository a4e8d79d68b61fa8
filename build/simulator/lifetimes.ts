import assert from 'node:assert/strict'
import type { FakeTime } from '../../src-main/adapters/memory/fake-time.ts'
import type { TaskEvent } from '../../src-main/core/task/events.ts'
import type { Journal, StoredEvent } from '../../src-main/engine/ports.ts'

/** When something was put on record: by the time that really passed, and how much of that no start could know of by then. */
interface Moment { readonly passed: number; readonly unknown: number }

/**
 * K1. No grant and no deadline lives longer than its length because the clock was set back: measured by the time that really passed in the simulated world,
 * which no jump changes. What a start cannot know is let pass: the time since the newest record, as far as the clock was set back meanwhile.
 */
export interface Lifetimes {
  /** The journal of one life, which notes when each commit really was. */
  watch(journal: Journal): Journal
  /** A life has ended, and the next one is about to begin. */
  restarts(): void
  /** Throws when an event comes later than what it rests on allows. */
  hold(event: StoredEvent): void
}

export function openLifetimes(time: FakeTime): Lifetimes {
  const moments = new Map<string, Moment>()
  const begins = new Map<string, { readonly at: Moment; readonly lengthMs: number }>()
  let unknown = 0
  let newest: { readonly recordedAt: number; readonly passed: number } | null = null
  const check = (name: string, now: Moment, what: string): void => {
    const began = begins.get(name)
    if (began === undefined) return
    const lived = now.passed - began.at.passed - (now.unknown - began.at.unknown)
    assert.ok(lived <= began.lengthMs, `${what} ${String(lived - began.lengthMs)} ms after its end`)
  }
  return {
    watch: (journal) => ({
      ...journal,
      commit: (commit) => {
        const outcome = journal.commit(commit)
        if (outcome.is === 'committed') for (const stored of outcome.stored) {
          moments.set(stored.hash, { passed: time.waitedMs(), unknown })
          newest = { recordedAt: stored.at, passed: time.waitedMs() }
        }
        return outcome
      },
    }),
    restarts: () => {
      if (newest === null) return
      const sinceRecord = time.waitedMs() - newest.passed
      unknown += Math.max(0, Math.min(sinceRecord, newest.recordedAt + sinceRecord - Math.max(time.now(), newest.recordedAt)))
    },
    hold: (stored) => {
      const moment = moments.get(stored.hash)
      if (moment === undefined) return
      const event = stored.payload as TaskEvent
      if (event.type === 'task-opened') begins.set(stored.stream, { at: moment, lengthMs: event.deadlineAt - stored.at })
      if (event.type === 'grant-given') begins.set(event.grant.grantId, { at: moment, lengthMs: event.grant.expiresAt - stored.at })
      if (event.type === 'permission-ruled' && event.grantId !== undefined) check(event.grantId, moment, 'a standing grant let something run')
      if (event.type === 'turn-intended') check(stored.stream, moment, 'a turn began, by its task\'s deadline,')
    },
  }
}

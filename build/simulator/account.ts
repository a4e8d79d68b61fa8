import assert from 'node:assert/strict'
import type { TaskEvent } from '../../src-main/core/task/events.ts'
import { openLawBook, type LawBook } from '../../src-main/core/task/laws.ts'
import type { TaskState } from '../../src-main/core/task/model.ts'
import type { Journal, StoredEvent } from '../../src-main/engine/ports.ts'
import { rowSchema, type Row } from '../../src-preload/contract/rows.ts'

/** Who may approve: the person in front of the window, or the script that says so of itself. */
const owners: ReadonlySet<string> = new Set(['owner', 'scripted-owner'])

interface Stream { readonly book: LawBook; readonly hashes: string[]; newestAt: number }

/**
 * What is held against a journal, wherever it was written: by the simulator's one thread or by a packaged app that is killed again and again.
 * Each task's laws (one submission a turn, budgets that only the owner raises, no acceptance without the owner, legal status and facets), nobody
 * but the owner approves, and nothing that was once read from the journal is ever gone from it or different, no time on record
 * goes back. Throws with what is broken.
 */
export interface Account {
  /** Holds what is new against the laws; gives it, each stream's in order. */
  take(journal: Pick<Journal, 'streams' | 'read'>): StoredEvent[]
  /** The journal was opened again: all that was read before is there as it was. Then as `take`. */
  reopened(journal: Pick<Journal, 'streams' | 'read'>): StoredEvent[]
  book(taskId: string): LawBook | undefined
  /** Where each task stands, by what was read. */
  states(): TaskState[]
  /** How many events were read. */
  readonly events: number
}

export function openAccount(): Account {
  const streams = new Map<string, Stream>()
  const take: Account['take'] = (journal) => {
    const fresh: StoredEvent[] = []
    for (const name of journal.streams()) {
      const stream = streams.get(name) ?? { book: openLawBook(), hashes: [], newestAt: 0 }
      streams.set(name, stream)
      for (const stored of journal.read(name, stream.hashes.length)) {
        hold(name, stream, stored)
        fresh.push(stored)
      }
    }
    return fresh
  }
  return {
    take,
    reopened: (journal) => {
      for (const [name, { hashes }] of streams) {
        const found = [...journal.read(name)].map((stored) => stored.hash)
        assert.deepEqual(found.slice(0, hashes.length), hashes, `a committed fact of ${name} is lost or changed`)
      }
      return take(journal)
    },
    book: (taskId) => streams.get(taskId)?.book,
    states: () => [...streams.values()].flatMap(({ book }) => book.state ?? []),
    get events() { return [...streams.values()].reduce((sum, { hashes }) => sum + hashes.length, 0) },
  }
}

function hold(name: string, stream: Stream, stored: StoredEvent): void {
  assert.equal(stored.version, stream.hashes.length + 1, `${name} has a gap before its event ${String(stored.version)}`)
  const event = stored.payload as TaskEvent
  assert.deepEqual(stream.book.next({ payload: event, at: stored.at, seq: stored.seq }), [], `a law is broken in ${name}`)
  if (event.type === 'hold-settled' && event.outcome === 'approved') assert.ok(owners.has(stored.actor), `${stored.actor} approved in ${name}`)
  if (event.type === 'apply-intended') assert.ok(owners.has(stored.actor), `${stored.actor} had the result of ${name} applied`)
  assert.ok(stored.at >= stream.newestAt, `${name} goes back in time at its event ${String(stored.version)}`)
  stream.newestAt = stored.at
  stream.hashes.push(stored.hash)
}

/** Rows that the window refuses, or that run although nothing can end them any more. */
export function restlessRows(rows: readonly Row[]): string[] {
  return rows.flatMap((row) => {
    if (!rowSchema.safeParse(row).success) return [`a row that the window refuses: ${JSON.stringify(row).slice(0, 200)}`]
    if (row.kind !== 'entry') return []
    if (row.body.is === 'message' && row.body.streaming) return [`words that stream for ever: ${row.key}`]
    return row.body.is === 'tool' && ['preview', 'running', 'awaiting-approval'].includes(row.body.state) ? [`a row that never ends: ${row.key} ${row.body.state}`] : []
  })
}

import type Database from 'better-sqlite3'
import { genesisHash } from '../../core/journal/chain.ts'
import { rowHash, storedRow, type EventRecord } from './records.ts'

/** `firstBadSeq`: the first number at which the chain does not hold (the missing one, when a row is gone); null when all of it holds. */
export interface ChainReport { readonly events: number; readonly headHash: string; readonly firstBadSeq: number | null }

const sliceRows = 500

/**
 * Recomputes every hash up to the event that is the last one now. Also checks that numbers and stream versions have no gap and that
 * the receipts know of no event beyond the end. Gives the loop back after each slice; never writes.
 */
export async function verifyChain(db: Database.Database): Promise<ChainReport> {
  const slice = db.prepare<[number, number, number], EventRecord>('SELECT * FROM events WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?')
  const end = Math.max(numberOf(db, 'SELECT coalesce(max(seq), 0) FROM events'), numberOf(db, 'SELECT coalesce(max(lastSeq), 0) FROM commands'))
  const versions = new Map<string, number>()
  let seq = 0
  let headHash: string = genesisHash
  while (seq < end) {
    const rows = slice.all(seq, end, sliceRows)
    if (rows.length === 0) return { events: seq, headHash, firstBadSeq: seq + 1 }
    for (const row of rows) {
      const version = (versions.get(row.stream) ?? 0) + 1
      if (row.seq !== seq + 1 || row.version !== version || row.prev !== headHash || rowHash(storedRow(row), row.prev) !== row.hash) return { events: seq, headHash, firstBadSeq: seq + 1 }
      versions.set(row.stream, version)
      seq = row.seq
      headHash = row.hash
    }
    await new Promise((resolve) => { setImmediate(resolve) })
  }
  return { events: seq, headHash, firstBadSeq: null }
}

function numberOf(db: Database.Database, sql: string): number {
  return db.prepare<[], number>(sql).pluck().get() ?? 0
}

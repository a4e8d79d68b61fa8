import type Database from 'better-sqlite3'
import type { Failure } from '../../../src-preload/contract/failure.ts'
import type { Digest, Millis } from '../../../src-preload/contract/ids.ts'
import type { AuditRow } from '../../../src-preload/contract/methods.ts'
import type { Result } from '../../../src-preload/contract/result.ts'
import { genesisHash, payloadText } from '../../core/journal/chain.ts'
import { failpoint, type Failing } from '../../engine/failpoints.ts'
import type { Commit, CommitOutcome, EffectRecord, Journal } from '../../engine/ports.ts'
import { auditReader, taskOfStream, type AuditQuery } from './audit.ts'
import { exportJournal, type ExportOrder, type ExportReceipt } from './export.ts'
import { corrupt, JournalFault, journalFailure, sqliteCode } from './faults.ts'
import { rowHash, storedEvent, type EventRecord } from './records.ts'
import { verifyChain, type ChainReport } from './verify.ts'

export interface JournalFacts { readonly path: string; readonly sqliteVersion: string; readonly schemaVersion: number; readonly events: number; readonly headHash: string }

/** The `Journal` port on one SQLite file, plus what the Audit screen needs. After `close` every call throws. */
export interface SqliteJournal extends Journal {
  facts(): JournalFacts
  /** Newest first, at most `limit` rows before `beforeSeq`. */
  audit(query: AuditQuery): AuditRow[]
  /** Recomputes the whole chain in slices, so that the process stays responsive. */
  verifyChain(): Promise<ChainReport>
  /** Writes the journal, or one stream of it, as JSON lines that `build/verify-export.mjs` checks without the app. */
  exportJsonl(order: ExportOrder): Promise<Result<ExportReceipt, Failure>>
  close(): void
}

interface Seams extends Failing { readonly path: string; readonly redact?: (text: string) => string; readonly taskOf?: (stream: string) => string | null }

/** Prepares the statements of an opened, migrated database. */
export function createJournal(db: Database.Database, seams: Seams): SqliteJournal {
  const reader = auditReader(db, seams.taskOf ?? taskOfStream)
  const write = writer(db, seams)
  const reads = readers(db, seams.path)
  const effects = effectWriter(db, seams)
  return {
    commit: (commit) => {
      failpoint(seams, 'commit:before')
      let outcome: CommitOutcome
      try {
        outcome = write(commit)
      } catch (error) {
        const known = journalFailure(error, seams.path)
        if (known === null) throw error
        return { is: 'failed', failure: known }
      }
      failpoint(seams, 'commit:after')
      return outcome
    },
    ...reads,
    ...effects,
    facts: () => guarded(seams.path, () => ({
      path: seams.path, sqliteVersion: String(db.prepare('SELECT sqlite_version()').pluck().get()), schemaVersion: Number(db.pragma('user_version', { simple: true })),
      events: reader.head().seq, headHash: reader.head().hash,
    })),
    audit: (query) => guarded(seams.path, () => reader.query(query)),
    verifyChain: () => verifyChain(db).catch((error: unknown) => guarded(seams.path, () => { throw error })),
    exportJsonl: (order) => exportJournal(db, seams.path, order),
    close: () => { db.close() },
  }
}

function writer(db: Database.Database, seams: Seams): (commit: Commit) => CommitOutcome {
  const redact = seams.redact ?? ((text: string) => text)
  const receiptOf = receipts(db)
  const addReceipt = db.prepare('INSERT INTO commands (id, stream, actor, at, lastSeq, contentDigest) VALUES (?, ?, ?, ?, ?, ?)')
  const addEvent = db.prepare('INSERT INTO events (seq, stream, version, at, commandId, actor, type, payload, prev, hash, closes, contentDigest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const addEffect = db.prepare("INSERT INTO effects (id, ord, stream, kind, payload, state, attempts, commandId) VALUES (?, ?, ?, ?, ?, 'pending', 0, ?)")
  // Read once, then counted: effects are handed out in the order of their commits.
  let effectsSoFar = db.prepare<[], number>('SELECT coalesce(max(ord), 0) FROM effects').pluck().get() ?? 0
  const end = effectEnder(db)
  const ends = chainEnds(db)
  /** `closes`: the digest of the command that ends with this row; null: more rows of it follow. */
  const add = (row: EventRecord, closes: Buffer | null): void => {
    addEvent.run(row.seq, row.stream, row.version, row.at, row.commandId, row.actor, row.type, row.payload, row.prev, row.hash, closes === null ? 0 : 1, closes)
  }
  /** Null: nothing was committed under this id. */
  const before = ({ commandId, contentDigest }: Commit): CommitOutcome | null => {
    const receipt = receiptOf(commandId)
    return receipt === null ? null : { is: receipt.contentDigest === null || receipt.contentDigest === contentDigest ? 'duplicate' : 'other-content' }
  }

  // One transaction (J4): receipt, events, new effects and the outcomes of old ones are there together or not at all.
  const addAll = db.transaction((commit: Commit, rows: readonly EventRecord[]): void => {
    const digest = digestBytes(commit.contentDigest)
    for (const [index, row] of rows.entries()) add(row, index === rows.length - 1 ? digest : null)
    if (rows.length === 0) addReceipt.run(commit.commandId, commit.stream, commit.actor, commit.at, ends.head().seq, digest)
    for (const effect of commit.effects) addEffect.run(effect.id, ++effectsSoFar, commit.stream, effect.kind, payloadText(effect.payload, redact), commit.commandId)
    for (const id of commit.settles) end(id, 'done', commit.at)
    for (const id of commit.retires) end(id, 'retired', commit.at)
    failpoint(seams, 'commit:inside')
  })
  return (commit) => {
    const version = ends.versionOf(commit.stream)
    if (version !== commit.expectedVersion) return before(commit) ?? { is: 'conflict', version }
    try {
      const rows = rowsOf(commit, ends.head(), redact)
      const [only] = rows
      // One event and nothing else is one statement, which is a transaction by itself: half of what every commit costs beside the disk is saved.
      if (only !== undefined && rows.length + commit.effects.length + commit.settles.length + commit.retires.length === 1) add(only, digestBytes(commit.contentDigest))
      else addAll.immediate(commit, rows)
      ends.advance(rows.at(-1))
      return { is: 'committed', stored: rows.map(storedEvent) }
    } catch (error) {
      const known = sqliteCode(error) === 'SQLITE_CONSTRAINT_PRIMARYKEY' ? before(commit) : null
      if (known !== null) return known
      ends.forget()
      throw error
    }
  }
}

/** The lines that a commit adds to the chain behind `last`. */
function rowsOf(commit: Commit, last: { readonly seq: number; readonly hash: string }, redact: (text: string) => string): readonly EventRecord[] {
  let prev = last.hash
  return commit.events.map((event, index) => {
    const row = {
      seq: last.seq + index + 1, stream: commit.stream, version: commit.expectedVersion + index + 1, at: commit.at, commandId: commit.commandId, actor: commit.actor,
      type: event.type, payload: payloadText(event.payload, redact),
    }
    const record = { ...row, prev, hash: rowHash(row, prev) }
    prev = record.hash
    return record
  })
}

interface ChainEnds {
  readonly head: () => { readonly seq: number; readonly hash: string }
  readonly versionOf: (stream: string) => number
  readonly advance: (last: EventRecord | undefined) => void
  readonly forget: () => void
}

/** Where chain and streams end, remembered between commits. Nobody else writes (the file is locked), and the file's own rule (J2) would refuse a wrong memory. */
function chainEnds(db: Database.Database): ChainEnds {
  const streamVersion = db.prepare<[string], number>('SELECT coalesce(max(version), 0) FROM events WHERE stream = ?').pluck()
  const lastEvent = db.prepare<[], { seq: number; hash: string }>('SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1')
  const versions = new Map<string, number>()
  let known: { readonly seq: number; readonly hash: string } | null = null
  return {
    head: () => known ??= lastEvent.get() ?? { seq: 0, hash: genesisHash },
    versionOf: (stream) => versions.get(stream) ?? streamVersion.get(stream) ?? 0,
    advance: (last) => {
      if (last === undefined) return
      known = { seq: last.seq, hash: last.hash }
      if (versions.size >= rememberedStreamsMax) versions.clear()
      versions.set(last.stream, last.version)
    },
    forget: () => {
      known = null
      versions.clear()
    },
  }
}

const rememberedStreamsMax = 10_000

/** Ends an open effect; one that has ended keeps its end. Throws for an id that never was: that is a bug of the caller. */
function effectEnder(db: Database.Database): (id: string, state: 'done' | 'retired', at: Millis) => void {
  const end = db.prepare("UPDATE effects SET state = ?, endedAt = ? WHERE id = ? AND state IN ('pending', 'started')")
  const known = db.prepare<[string], number>('SELECT 1 FROM effects WHERE id = ?').pluck()
  return (id, state, at) => {
    if (end.run(state, at, id).changes === 0 && known.get(id) === undefined) throw new Error(`no effect of this id: ${id}`)
  }
}

function effectWriter(db: Database.Database, seams: Seams): Pick<Journal, 'startEffect' | 'endEffect'> {
  const start = db.prepare("UPDATE effects SET state = 'started', attempts = attempts + 1, startedAt = ? WHERE id = ? AND state = 'pending'")
  const end = db.transaction(effectEnder(db))
  return {
    startEffect: (id, at) => {
      failpoint(seams, 'start:before')
      const started = guarded(seams.path, () => start.run(at, id).changes === 1)
      failpoint(seams, 'start:after')
      return started
    },
    endEffect: (id, state, at) => {
      failpoint(seams, 'end:before')
      guarded(seams.path, () => { end.immediate(id, state, at) })
      failpoint(seams, 'end:after')
    },
  }
}

/** What SQLite refuses, and text that is not what was written, is thrown as a fault that carries the failure for the owner; a bug of ours as it is. */
function guarded<T>(path: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    const known = error instanceof SyntaxError ? corrupt(path, 'An event\'s content is no JSON.') : journalFailure(error, path)
    throw known === null ? error : new JournalFault(known)
  }
}

/** What stands in the receipts, by command id. */
function receipts(db: Database.Database): Journal['receiptOf'] {
  const find = db.prepare<[string], { contentDigest: Buffer | null }>('SELECT contentDigest FROM commands WHERE id = ?')
  return (commandId) => {
    const found = find.get(commandId)
    return found === undefined ? null : { contentDigest: found.contentDigest === null ? null : `sha256:${found.contentDigest.toString('hex')}` as Digest }
  }
}

function digestBytes(digest: Digest): Buffer {
  return Buffer.from(digest.slice('sha256:'.length), 'hex')
}

const pageRows = 500

function readers(db: Database.Database, path: string): Pick<Journal, 'receiptOf' | 'streams' | 'read' | 'openEffects'> {
  const receipt = receipts(db)
  // By the index, which holds all that is asked for: the table is as large as everything that ever happened.
  const streams = db.prepare<[], string>('SELECT stream FROM events INDEXED BY sqlite_autoindex_events_1 WHERE version = 1 ORDER BY seq').pluck()
  const page = db.prepare<[string, number, number], Omit<EventRecord, 'prev'>>('SELECT seq, stream, version, at, commandId, actor, type, payload, hash FROM events WHERE stream = ? AND version > ? ORDER BY version LIMIT ?')
  const open = db.prepare<[], EffectRecord & { payload: string }>(
    "SELECT id, stream, kind, payload, state, attempts, commandId FROM effects WHERE state IN ('pending', 'started') ORDER BY ord")
  return {
    receiptOf: (commandId) => guarded(path, () => receipt(commandId)),
    streams: () => guarded(path, () => streams.all()),
    // Pages instead of one open cursor: a commit may happen while the caller is still reading.
    read: function* (stream, fromVersion = 0) {
      let after = fromVersion
      for (;;) {
        const records = guarded(path, () => page.all(stream, after, pageRows))
        for (const record of records) yield guarded(path, () => storedEvent(record))
        const last = records.at(-1)
        if (last === undefined || records.length < pageRows) return
        after = last.version
      }
    },
    openEffects: () => guarded(path, () => open.all().map((effect) => ({ ...effect, payload: JSON.parse(effect.payload) as unknown }))),
  }
}

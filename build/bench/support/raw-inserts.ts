import Database from 'better-sqlite3'
import { payloadText } from '../../../src-main/core/journal/chain.ts'
import type { Commit } from '../../../src-main/engine/ports.ts'

/** Stores commits with nothing but SQLite. `step` does all that can be done before: what is measured is the insert. */
export interface RawInserts { readonly step: (commit: Commit) => () => void; readonly close: () => void }

const hash = `sha256:${'0'.repeat(64)}`
const asIs = (text: string): string => text

/** Prepared inserts of what a commit of one event stores, into the tables of the journal at `path`, as the journal has it open. */
export function insertsOfRows(path: string): RawInserts {
  const db = new Database(path)
  for (const pragma of ['locking_mode = EXCLUSIVE', 'journal_mode = WAL', 'synchronous = FULL', 'recursive_triggers = ON']) db.pragma(pragma)
  const addEvent = db.prepare('INSERT INTO events (seq, stream, version, at, commandId, actor, type, payload, prev, hash, closes, contentDigest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)')
  const addEffect = db.prepare("INSERT INTO effects (id, ord, stream, kind, payload, state, attempts, commandId) VALUES (?, ?, ?, ?, ?, 'pending', 0, ?)")
  const begin = db.prepare('BEGIN IMMEDIATE')
  const end = db.prepare('COMMIT')
  let seq = 0
  const step = (commit: Commit): (() => void) => {
    const [event] = commit.events
    if (event === undefined || commit.events.length > 1) throw new Error('a commit of one event is measured')
    seq += 1
    const { stream, commandId } = commit
    const row = [seq, stream, commit.expectedVersion + 1, commit.at, commandId, commit.actor, event.type, payloadText(event.payload, asIs), hash, hash, Buffer.from(commit.contentDigest.slice('sha256:'.length), 'hex')]
    const effects = commit.effects.map(({ id, kind, payload }, index) => [id, seq * 10 + index, stream, kind, payloadText(payload, asIs), commandId])
    if (effects.length === 0) return () => { addEvent.run(...row) }
    return () => {
      begin.run()
      addEvent.run(...row)
      for (const effect of effects) addEffect.run(...effect)
      end.run()
    }
  }
  return { step, close: () => { db.close() } }
}

/** Prepared inserts of the same bytes as one text a commit, into a table of its own with nothing beside its key. */
export function insertsOfOneText(path: string): RawInserts {
  const db = new Database(path)
  for (const pragma of ['locking_mode = EXCLUSIVE', 'journal_mode = WAL', 'synchronous = FULL']) db.pragma(pragma)
  db.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT')
  const insert = db.prepare('INSERT INTO rows (body) VALUES (?)')
  return { step: (commit) => { const text = oneText(commit); return () => { insert.run(text) } }, close: () => { db.close() } }
}

/** All columns of a commit's events, effects and receipt. */
function oneText(commit: Commit): string {
  const events = commit.events.map((event) => payloadText(event.payload, asIs) + event.type + commit.stream + commit.commandId + commit.actor + hash + hash + commit.contentDigest.slice(-32))
  const effects = commit.effects.map((effect) => payloadText(effect.payload, asIs) + effect.id + effect.kind + commit.stream + commit.commandId + 'pending')
  // Through bytes: a text that is put together when it is bound would cost within the measure.
  return Buffer.from([...events, ...effects, commit.commandId + commit.stream + commit.actor + commit.contentDigest.slice(-32)].join('')).toString()
}

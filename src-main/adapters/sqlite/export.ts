import { createHash } from 'node:crypto'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import type { Millis } from '../../../src-preload/contract/ids.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import { genesisHash, rowText } from '../../core/journal/chain.ts'
import { canonicalJson } from '../../core/digest.ts'
import { journalFailure } from './faults.ts'
import { storedRow, type EventRecord } from './records.ts'

/** `taskId` null: the whole journal. `versions`: what goes on every report, e.g. app, electron, openCode, sqlite. */
export interface ExportOrder { readonly toPath: string; readonly taskId: string | null; readonly at: Millis; readonly versions: Readonly<Record<string, string>> }
export interface ExportReceipt { readonly path: string; readonly events: number; readonly headHash: string }

const sliceRows = 500

/**
 * Writes the export (format 1) beside its name first, then renames it. Lines, each canonical JSON and ended by a line feed:
 * `{"hash","header"}`, then one `{"hash","row"}` an event, in order of `seq`; in the export of one task, events of other tasks are
 * `{"gap":{from,hash,prev,to}}`: their place in the chain without their content. `hash` is SHA-256 of the exact bytes of `header` or `row`.
 * Failures: `disk-full`, `unavailable` (the file cannot be written).
 */
export async function exportJournal(db: Database.Database, journalPath: string, order: ExportOrder): Promise<Result<ExportReceipt, Failure>> {
  const draft = `${order.toPath}.part-${process.pid}`
  let file: FileHandle | null = null
  try {
    const head = db.prepare<[], { seq: number; hash: string }>('SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1').get() ?? { seq: 0, hash: genesisHash }
    const header = headerOf(db, order, head)
    file = await open(draft, 'w', 0o600)
    await file.write(hashedLine('header', canonicalJson(header)))
    for (const text of slices(db, order.taskId, head.seq)) await file.write(text)
    await file.sync()
    await file.close()
    file = null
    await rename(draft, order.toPath)
    return ok({ path: order.toPath, events: header.events, headHash: head.hash })
  } catch (error) {
    await file?.close()
    await rm(draft, { force: true })
    const known = journalFailure(error, journalPath) ?? fileFailure(error, order.toPath)
    if (known === null) throw error
    return err(known)
  }
}

function headerOf(db: Database.Database, order: ExportOrder, head: { readonly seq: number; readonly hash: string }) {
  const schema = db.prepare<[], { type: string; name: string; sql: string }>('SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name').all()
  const counted = db.prepare<[Record<string, unknown>], number>(`SELECT count(*) FROM events WHERE seq <= @end AND (@all OR ${ofTask})`).pluck()
  return {
    format: 1, kind: 'countersign-journal-export', at: order.at, taskId: order.taskId, versions: order.versions,
    schemaVersion: Number(db.pragma('user_version', { simple: true })), schemaDigest: sha256(canonicalJson(schema)),
    events: counted.get({ end: head.seq, all: order.taskId === null ? 1 : 0, task: order.taskId ?? '' }) ?? 0, headSeq: head.seq, headHash: head.hash,
  }
}

interface Gap { readonly from: number; readonly to: number; readonly prev: string; readonly hash: string }

const ofTask = "(stream = @task OR stream = 'task:' || @task)"

function* slices(db: Database.Database, taskId: string | null, end: number): Generator<string> {
  const page = db.prepare<[number, number, number], EventRecord>('SELECT * FROM events WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?')
  let gap = null as Gap | null
  for (let seq = 0; seq < end;) {
    const rows = page.all(seq, end, sliceRows)
    let text = ''
    for (const row of rows) {
      seq = row.seq
      if (taskId === null || row.stream === taskId || row.stream === `task:${taskId}`) {
        if (gap !== null) text += gapLine(gap)
        gap = null
        text += hashedLine('row', rowText(storedRow(row), row.prev), row.hash)
      } else gap = { from: gap?.from ?? row.seq, to: row.seq, prev: gap?.prev ?? row.prev, hash: row.hash }
    }
    if (rows.length === 0) break // A hole in a damaged journal: the verifier names it, since the header counts to the head.
    yield text
  }
  if (gap !== null) yield gapLine(gap)
}

function gapLine(gap: Gap): string {
  return `${canonicalJson({ gap })}\n`
}

/** The stored hash is written, not one made now: a row that was tampered with in the file must show. */
function hashedLine(name: 'header' | 'row', text: string, hash = sha256(text)): string {
  return `{"hash":${JSON.stringify(hash)},"${name}":${text}}\n`
}

function sha256(text: string): string {
  return `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`
}

function fileFailure(error: unknown, path: string): Failure | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT') return failure('disk-full', `The disk is full: ${dirname(path)}`, 'Free some space, or save the export to another disk.')
  return failure('unavailable', `The export could not be written (${error.code}): ${path}`, 'Choose another folder.')
}

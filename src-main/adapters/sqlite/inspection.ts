import { accessSync, closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import type { Failure } from '../../../src-preload/contract/failure.ts'
import { rowHash, storedRow, type EventRecord } from './records.ts'
import { corrupt, journalFailure, newer, readOnly } from './faults.ts'
import { applicationId } from './schema.ts'

interface Inspection { readonly path: string; readonly nativeBinding: string | undefined; readonly schemaVersion: number; readonly busyTimeoutMs: number }

/**
 * Looks at an existing journal without writing a byte to it, and says why it must not be opened; null when it may be.
 * First the file's header, then `quick_check`, version and head of the chain through a read-only connection: such a connection
 * never checkpoints, so a damaged or newer journal stays as it is together with its write-ahead log.
 */
export function inspectJournal(inspection: Inspection): Failure | null {
  const { path } = inspection
  try {
    accessSync(path, constants.W_OK | constants.R_OK)
    accessSync(dirname(path), constants.W_OK)
  } catch {
    return readOnly(path)
  }
  return inspectHeader(path, inspection.schemaVersion) ?? inspectContent(inspection)
}

// Offsets of the database header: sqlite.org/fileformat.html, section 1.3.
function inspectHeader(path: string, schemaVersion: number): Failure | null {
  const header = Buffer.alloc(100)
  const file = openSync(path, 'r')
  try {
    if (fstatSync(file).size < 512 || readSync(file, header, 0, 100, 0) < 100) return corrupt(path, 'It is shorter than any journal.')
  } finally {
    closeSync(file)
  }
  if (header.toString('latin1', 0, 16) !== 'SQLite format 3\0') return corrupt(path, 'It is not an SQLite file.')
  if (header.readUInt32BE(68) !== applicationId) return corrupt(path, 'It is not a journal of this app.')
  const found = header.readUInt32BE(60)
  return found > schemaVersion ? newer(path, found, schemaVersion) : null
}

function inspectContent({ path, nativeBinding, schemaVersion, busyTimeoutMs }: Inspection): Failure | null {
  let db: Database.Database | null = null
  try {
    db = new Database(path, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs, ...(nativeBinding === undefined ? {} : { nativeBinding }) })
    const check = db.pragma('quick_check(3)', { simple: true })
    if (check !== 'ok') return corrupt(path, `The check found: ${String(check)}.`)
    const found = Number(db.pragma('user_version', { simple: true }))
    if (found > schemaVersion) return newer(path, found, schemaVersion)
    if (found < 1) return corrupt(path, 'It has no format version.')
    return inspectHead(db, path)
  } catch (error) {
    const known = journalFailure(error, path)
    if (known === null) throw error
    return known
  } finally {
    db?.close()
  }
}

/** The last row must hash to what it says, and the receipts must not know of a later one. */
function inspectHead(db: Database.Database, path: string): Failure | null {
  const head = db.prepare<[], EventRecord>('SELECT * FROM events ORDER BY seq DESC LIMIT 1').get()
  const receipted = db.prepare<[], number>('SELECT coalesce(max(lastSeq), 0) FROM commands').pluck().get() ?? 0
  if (receipted > (head?.seq ?? 0)) return corrupt(path, `Its receipts name event ${receipted}, its events end at ${head?.seq ?? 0}.`)
  if (head !== undefined && rowHash(storedRow(head), head.prev) !== head.hash) return corrupt(path, `Event ${head.seq} does not match its hash.`)
  return null
}

/** Whether something is at `path` already, so that it must be inspected and never be created over. */
export function journalExists(path: string): boolean {
  return existsSync(path)
}

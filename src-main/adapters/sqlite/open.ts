import { accessSync, closeSync, constants, fsyncSync, linkSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { Failing } from '../../engine/failpoints.ts'
import type { Clock } from '../../engine/ports.ts'
import { nearestExisting, networkDriveOf } from './drive.ts'
import { busy, corrupt, journalFailure, networkDrive, notMigrated } from './faults.ts'
import { inspectJournal, journalExists } from './inspection.ts'
import { createJournal, type SqliteJournal } from './journal.ts'
import { applicationId, migrations as released, type Migration } from './schema.ts'

export interface JournalOptions extends Failing {
  readonly path: string
  /** The addon to load instead of the package's own, for runtimes that cannot load the prebuild. */
  readonly nativeBinding?: string | undefined
  readonly clock: Clock
  /** Goes over every string of every payload before it is written: known secrets, key-looking text. */
  readonly redact?: (text: string) => string
  /** Which task a stream belongs to, for the Audit screen. Default: a stream is the task id, or `task:` and the task id. */
  readonly taskOf?: (stream: string) => string | null
  /** Only tests set them. */
  readonly migrations?: readonly Migration[]
  readonly driveOf?: typeof networkDriveOf
}

/** There is one writer and it holds the file, so waiting only bridges a short look of some other program. */
const busyTimeoutMs = 1_000

/**
 * Half of SQLite's default. A commit rewrites the last page of each of its tables and indexes, so that the disk is asked for pages, not
 * for rows, and most events have less than a kilobyte; long outputs go to overflow pages of any size as well.
 */
const pageBytes = 2_048

/**
 * Opens the journal, creating or migrating it. Refusals, each leaving the file as it is: `network-drive`, `journal-readonly`, `journal-busy`
 * (another process has it), `journal-corrupt`, `journal-newer`, `disk-full`, `unavailable` (the disk reported an error), `internal` (a step to this
 * version's format failed).
 * Synchronous: `quick_check` reads the whole file once (about 100 MB in 0.3 s). Throws when the addon cannot be loaded.
 */
export function openJournal(options: JournalOptions): Result<SqliteJournal, Failure> {
  const { path } = options
  const steps = options.migrations ?? released
  const schemaVersion = steps.at(-1)?.version ?? 0
  let db: Database.Database | null = null
  try {
    const drive = (options.driveOf ?? networkDriveOf)(dirname(path))
    if (drive !== null) return err(networkDrive(path, drive))
    // Asked first: on a read-only disk, mkdir with `recursive` reports ENOENT.
    accessSync(nearestExisting(dirname(path)), constants.W_OK)
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    if (!journalExists(path)) {
      // A log without its journal: SQLite would pour it into the new one.
      if (journalExists(`${path}-wal`)) return err(corrupt(path, 'The file is gone, but its write-ahead log (-wal) is still there.'))
      create(options, steps)
    }
    const refusal = inspectJournal({ path, nativeBinding: options.nativeBinding, schemaVersion, busyTimeoutMs })
    if (refusal !== null) return err(refusal)
    db = connect(options, path)
    const mismatch = settle(db, path)
    if (mismatch !== null) {
      db.close()
      return err(mismatch)
    }
    const failed = migrate(db, options, steps)
    if (failed !== null) {
      db.close()
      return err(failed)
    }
    return ok(createJournal(db, options))
  } catch (error) {
    db?.close()
    const known = journalFailure(error, path) ?? fileFailure(error, path)
    if (known === null) throw error
    return err(known)
  }
}

function connect(options: JournalOptions, path: string): Database.Database {
  return new Database(path, { timeout: busyTimeoutMs, ...(options.nativeBinding === undefined ? {} : { nativeBinding: options.nativeBinding }) })
}

/** Sets what durability rests on and reads it back. EXCLUSIVE comes first: it takes the file with the first read and needs no shared memory. */
function settle(db: Database.Database, path: string): Failure | null {
  db.pragma('locking_mode = EXCLUSIVE')
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.pragma('foreign_keys = ON')
  db.pragma('recursive_triggers = ON')
  db.pragma('trusted_schema = OFF')
  const wanted = { locking_mode: 'exclusive', journal_mode: 'wal', synchronous: 2, foreign_keys: 1, recursive_triggers: 1, busy_timeout: busyTimeoutMs }
  for (const [name, value] of Object.entries(wanted)) {
    const found = db.pragma(name, { simple: true })
    if (found !== value) return failure('unavailable', `The journal's ${name} is ${String(found)} instead of ${value}: ${path}`, 'Choose a data folder on another local disk with --user-data-dir.')
  }
  return null
}

/** A new journal is complete before it gets its name: a file of that name that is empty or cut short is damage, never a new one. */
function create(options: JournalOptions, steps: readonly Migration[]): void {
  const { path } = options
  const draft = `${path}.new-${process.pid}`
  removeDraft(draft)
  closeSync(openSync(draft, 'wx', 0o600))
  try {
    const db = connect(options, draft)
    try {
      db.pragma('locking_mode = EXCLUSIVE')
      // Before the log begins: a file keeps its page size.
      db.pragma(`page_size = ${pageBytes}`)
      db.pragma('journal_mode = WAL')
      db.pragma('synchronous = FULL')
      db.pragma(`application_id = ${applicationId}`)
      apply(db, steps)
    } finally {
      db.close()
    }
    // link refuses to cover a journal that another process created meanwhile; rename would not.
    linkSync(draft, path)
    syncFolder(dirname(path))
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error
  } finally {
    removeDraft(draft)
  }
}

function removeDraft(draft: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(draft + suffix, { force: true })
}

function syncFolder(folder: string): void {
  if (process.platform === 'win32') return // Windows has no handle of a folder to sync.
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Backs up beside the journal, then takes all missing steps in one transaction: one that fails or is killed leaves the journal to the version before. */
function migrate(db: Database.Database, options: JournalOptions, steps: readonly Migration[]): Failure | null {
  const found = Number(db.pragma('user_version', { simple: true }))
  const missing = steps.filter((step) => step.version > found)
  const last = missing.at(-1)
  if (last === undefined) return null
  const backup = `${options.path}.backup-v${found}-${options.clock.now()}`
  try {
    db.prepare('VACUUM INTO ?').run(backup)
    apply(db, missing)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    // The journal is as it was: a copy of it for each try would only fill the disk.
    rmSync(backup, { force: true })
    return journalFailure(error, options.path) ?? notMigrated(options.path, found, last.version, error.message)
  }
  // The version belongs into the file's header, where an older app looks before it opens anything.
  db.pragma('wal_checkpoint(TRUNCATE)')
  return null
}

function apply(db: Database.Database, steps: readonly Migration[]): void {
  db.transaction(() => {
    for (const step of steps) {
      step.up(db)
      db.pragma(`user_version = ${step.version}`)
    }
  }).immediate()
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

function fileFailure(error: unknown, path: string): Failure | null {
  if (isErrno(error, 'ENOSPC') || isErrno(error, 'EDQUOT')) return journalFailure(Object.assign(new Error('full'), { code: 'SQLITE_FULL' }), path)
  if (isErrno(error, 'EACCES') || isErrno(error, 'EPERM') || isErrno(error, 'EROFS')) return journalFailure(Object.assign(new Error('read-only'), { code: 'SQLITE_READONLY' }), path)
  if (isErrno(error, 'EBUSY')) return busy(path)
  return null
}

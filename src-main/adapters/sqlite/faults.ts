import { dirname } from 'node:path'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'

/** Thrown by the calls of the journal that have no failure of their own to return: the disk refused. `failure` is for the owner. */
export class JournalFault extends Error {
  readonly failure: Failure
  constructor(because: Failure) {
    super(because.message)
    this.name = 'JournalFault'
    this.failure = because
  }
}

/** SQLite's result code of a thrown error, e.g. `SQLITE_FULL`; null when the error is not SQLite's. Source: sqlite.org/rescode.html. */
export function sqliteCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null
  return error.code.startsWith('SQLITE_') ? error.code : null
}

/** What SQLite refused, for the owner. Null for everything that is our bug (constraints, misuse): that must throw. */
export function journalFailure(error: unknown, path: string): Failure | null {
  const code = sqliteCode(error)
  if (code === null) return null
  // SHMSIZE: no room for the log's index, 32 KiB beside the journal.
  if (is(code, 'SQLITE_FULL') || code === 'SQLITE_IOERR_SHMSIZE') return failure('disk-full', `The disk that holds the journal is full: ${path}`, 'Free some space on it and try again. Nothing that was recorded is lost.')
  if (is(code, 'SQLITE_READONLY') || is(code, 'SQLITE_PERM')) return readOnly(path)
  if (is(code, 'SQLITE_CORRUPT') || is(code, 'SQLITE_NOTADB')) return corrupt(path, `SQLite reports ${code}.`)
  if (is(code, 'SQLITE_BUSY') || is(code, 'SQLITE_LOCKED')) return busy(path)
  if (is(code, 'SQLITE_IOERR') || is(code, 'SQLITE_CANTOPEN') || is(code, 'SQLITE_NOLFS') || is(code, 'SQLITE_PROTOCOL')) {
    return failure('unavailable', `The disk did not let the journal be read or written (${code}): ${path}`, 'Check the disk, then start the app again. What was recorded before is still there.')
  }
  return null
}

function is(code: string, primary: string): boolean {
  return code === primary || code.startsWith(`${primary}_`)
}

export function corrupt(path: string, what: string): Failure {
  return failure('journal-corrupt', `The journal is damaged and was left exactly as it is: ${path}. ${what}`,
    `Copy the folder ${dirname(path)} to a safe place. Then put back a copy of the journal, or move the folder away to start with an empty one.`)
}

export function busy(path: string): Failure {
  return failure('journal-busy', `Another process has the journal open: ${path}`, 'Close the other copy of the app that uses this data folder, then start again.')
}

export function readOnly(path: string): Failure {
  return failure('journal-readonly', `The journal cannot be written: ${path}`, 'Make the folder and the disk writable for you, or choose another data folder with --user-data-dir.')
}

export function newer(path: string, found: number, known: number): Failure {
  return failure('journal-newer', `The journal was written by a newer version of the app (format ${found}, this app knows ${known}); it was not touched: ${path}`,
    'Install the newer version again, or put back what was kept before its first start: the folder "backups" in the data folder.')
}

export function notMigrated(path: string, found: number, wanted: number, why: string): Failure {
  return failure('internal', `The journal could not be brought from format ${found} to format ${wanted} (${why.slice(0, 500)}); it was left exactly as it was: ${path}`,
    'Install the version that you used before: it goes on with this journal. Then report what happened.')
}

export function networkDrive(path: string, kind: string): Failure {
  return failure('network-drive', `The journal would be on a network drive (${kind}), where SQLite can lose data: ${path}`, 'Choose a data folder on a local disk with --user-data-dir.')
}

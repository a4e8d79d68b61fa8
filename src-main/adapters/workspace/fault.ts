import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, type Result } from '../../../src-preload/contract/result.ts'

/** An expected failure on its way up to the port's edge, where `asResult` turns it into a value. */
export class WorkspaceFault extends Error {
  readonly failure: Failure
  constructor(reason: Failure) {
    super(reason.message)
    this.failure = reason
  }
}

/** Raises an expected failure. */
export function fault(code: Failure['code'], message: string, todo: string): never {
  throw new WorkspaceFault(failure(code, message, todo))
}

/** The system's error code (`ENOENT` …), or null when `error` is none of the system's. */
export function systemCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && 'syscall' in error && typeof error.code === 'string' ? error.code : null
}

/** Returns what `attempt` returns, or null when the system answers with one of `codes`. */
export async function unless<T>(codes: readonly string[], attempt: Promise<T>): Promise<T | null> {
  try {
    return await attempt
  } catch (error) {
    if (codes.includes(systemCode(error) ?? '')) return null
    throw error
  }
}

/** What a system error means for the owner. `doing` completes the sentence "… failed". */
function failureOfSystem(code: string, doing: string, error: Error): Failure {
  if (code === 'ENOSPC' || code === 'EDQUOT') return failure('disk-full', `The disk is full: ${doing} failed.`, 'Free some space, or dispose of old workspaces in Settings, and try again.')
  if (code === 'EROFS') return failure('workspace-failed', `The disk is read-only: ${doing} failed.`, 'Make the disk writable and try again.')
  if (code === 'EACCES' || code === 'EPERM') return failure('workspace-failed', `No permission: ${doing} failed (${error.message}).`, 'Check who may read and write this folder, and try again.')
  return failure('workspace-failed', `${doing} failed (${error.message}).`, 'Try again; if it stays, see the log.')
}

/** Runs `work` at the port's edge: expected failures become values, bugs stay exceptions. */
export async function asResult<T>(doing: string, work: () => Promise<Result<T, Failure>>): Promise<Result<T, Failure>> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof WorkspaceFault) return err(error.failure)
    if (error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError')) return err(failure('cancelled', `Stopped: ${doing}.`, 'Nothing was left behind.'))
    const code = systemCode(error)
    if (code !== null && error instanceof Error) return err(failureOfSystem(code, doing, error))
    throw error
  }
}

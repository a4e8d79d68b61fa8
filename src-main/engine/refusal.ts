import { failureSchema, type Failure } from '../../src-preload/contract/failure.ts'

/** The failure that a refusing journal throws with, on a write or a read; null for any other error, which is a bug. */
export function refusalOf(error: unknown): Failure | null {
  const parsed = error instanceof Error && 'failure' in error ? failureSchema.safeParse(error.failure) : null
  return parsed?.success === true ? parsed.data : null
}

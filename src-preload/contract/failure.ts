import { z } from 'zod'

/** Every expected failure that a person can meet. `docs/` explains each by its code. */
export const failureCodes = [
  'invalid-input', 'unknown-task', 'unknown-approval', 'stale-approval', 'digest-mismatch', 'already-decided', 'not-shown', 'too-fast', 'wrong-state',
  'folder-refused', 'folder-changed', 'apply-failed', 'workspace-failed', 'quota-exceeded',
  'isolation-unavailable', 'sandbox-failed', 'command-refused', 'limit-hit',
  'opencode-missing', 'opencode-unsupported', 'opencode-probe-timeout', 'opencode-failed', 'opencode-exited', 'session-failed', 'submit-failed', 'submit-ambiguous',
  'provider-missing', 'provider-unreachable', 'provider-refused', 'provider-nonsense', 'credential-missing', 'proxy-failed',
  'budget-exhausted', 'deadline-passed', 'usage-unknown',
  'lead-unparsable', 'verification-failed', 'evidence-failed',
  'journal-corrupt', 'journal-newer', 'journal-readonly', 'journal-busy', 'disk-full', 'network-drive', 'settings-broken',
  'conflict', 'cancelled', 'too-busy', 'unavailable', 'internal',
] as const
export const failureCodeSchema = z.enum(failureCodes)
export type FailureCode = z.infer<typeof failureCodeSchema>

/** What went wrong, in words for the owner, and what to do about it. Never holds a secret or a full prompt. */
export const failureSchema = z.object({
  code: failureCodeSchema,
  message: z.string().max(2_000),
  todo: z.string().max(2_000),
})
export type Failure = z.infer<typeof failureSchema>

/** Builds a failure. `message` says what happened, `todo` what the owner can do now. */
export function failure(code: FailureCode, message: string, todo: string): Failure {
  return { code, message: message.slice(0, 2_000), todo: todo.slice(0, 2_000) }
}

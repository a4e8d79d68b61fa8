/** Every reason for which an envelope is refused. Nothing of a refused envelope is acted on. */
export const refusalReasons = [
  'too-large', 'rate-exceeded', 'not-utf8', 'not-json', 'duplicate-key', 'lone-surrogate', 'too-deep', 'not-safe-integer', 'not-canonical',
  'unknown-version', 'unknown-kind', 'unknown-field', 'missing-field', 'wrong-type', 'bad-value', 'too-long', 'input-too-large', 'result-too-large',
] as const
export type RefusalReason = (typeof refusalReasons)[number]

/** `path`: where, as member names joined by dots, empty for the whole. `detail`: in words, at most 300 characters, never the refused text itself. */
export interface Refusal { readonly reason: RefusalReason; readonly path: string; readonly detail: string }

/** Builds a refusal. */
export function refusal(reason: RefusalReason, path: string, detail: string): Refusal {
  return { reason, path: path.slice(0, 200), detail: detail.slice(0, 300) }
}

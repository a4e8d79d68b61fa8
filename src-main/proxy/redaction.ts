import { redactKeyLooking } from '../core/redaction.ts'

/** Words of others, as they may be told, logged and journaled: without the credential that was used, and without whatever looks like a key. */
export function cleanWords(words: string, ...secrets: readonly (string | null)[]): string {
  let clean = words
  for (const secret of secrets) if (secret !== null && secret !== '') clean = clean.replaceAll(secret, '[key]')
  return redactKeyLooking(clean)
}

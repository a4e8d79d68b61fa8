import { wellFormed } from '../../core/digest.ts'
import { redactionMark, redactKeyLooking } from '../../core/redaction.ts'

/** Shorter texts are no secrets but words: replacing them would garble everything. */
const secretCharsMin = 8

/**
 * Replaces what must not be written anywhere: the known secrets as they are now (also as in a URL or a JSON string) and whatever looks like
 * a vendor's key. Linear in the text; a text without any comes back as it is.
 */
export function createRedactor(secrets: () => readonly string[]): (text: string) => string {
  return (text) => {
    let redacted = text
    for (const secret of spellings(secrets())) redacted = redacted.replaceAll(secret, redactionMark)
    return redactKeyLooking(redacted)
  }
}

function spellings(secrets: readonly string[]): string[] {
  const long = secrets.filter((secret) => secret.length >= secretCharsMin)
  const all = long.flatMap((secret) => [secret, encodeURIComponent(wellFormed(secret)), JSON.stringify(secret).slice(1, -1)])
  // Longest first: one secret may be part of another.
  return [...new Set(all)].sort((a, b) => b.length - a.length)
}

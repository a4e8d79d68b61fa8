import { wellFormed } from '../../core/digest.ts'

const mark = '[redacted]'

// Shapes of vendors' keys. Each wants a beginning of a word, so that `task-…` or `disk-…` is no key.
const keyLooking = new RegExp([
  String.raw`(?<![A-Za-z0-9_])sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,}`,
  String.raw`(?<![A-Za-z0-9_])(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})`,
  String.raw`(?<![A-Za-z0-9_])(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Z])|AIza[0-9A-Za-z_-]{30,})`,
  String.raw`(?<![A-Za-z0-9_])(?:hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,}|gsk_[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{20,})`,
  String.raw`(?<![A-Za-z0-9_])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`,
  String.raw`(?<=[Bb]earer\s{1,4})[A-Za-z0-9._~+/=-]{16,}`,
  String.raw`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`,
].join('|'), 'g')

/** Shorter texts are no secrets but words: replacing them would garble everything. */
const secretCharsMin = 8

/**
 * Replaces what must not be written anywhere: the known secrets as they are now (also as in a URL or a JSON string) and whatever looks like
 * a vendor's key. Linear in the text; a text without any comes back as it is.
 */
export function createRedactor(secrets: () => readonly string[]): (text: string) => string {
  return (text) => {
    let redacted = text
    for (const secret of spellings(secrets())) redacted = redacted.replaceAll(secret, mark)
    return redacted.replace(keyLooking, mark)
  }
}

function spellings(secrets: readonly string[]): string[] {
  const long = secrets.filter((secret) => secret.length >= secretCharsMin)
  const all = long.flatMap((secret) => [secret, encodeURIComponent(wellFormed(secret)), JSON.stringify(secret).slice(1, -1)])
  // Longest first: one secret may be part of another.
  return [...new Set(all)].sort((a, b) => b.length - a.length)
}

/** What stands where something secret was. */
export const redactionMark = '[redacted]'

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

/** Whether anything in it looks like a vendor's key, and would be replaced. */
export function looksLikeKey(text: string): boolean {
  return redactKeyLooking(text) !== text
}

/** Replaces whatever looks like a vendor's key. Linear in the text; a text without any comes back as it is. */
export function redactKeyLooking(text: string): string {
  return text.replace(keyLooking, redactionMark)
}

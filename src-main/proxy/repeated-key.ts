/**
 * The first key that the outermost object of a JSON text has twice, whatever the case of its letters; null if none. The text must be
 * valid. JSON readers differ in which of two they take (and some in whether letters' case counts), so that what is checked here
 * could be something else at the vendor. Looks at each character once.
 */
export function repeatedKey(text: string): string | null {
  const seen = new Set<string>()
  let depth = 0
  let isKey = false
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === quote) {
      const end = endOfString(text, at)
      if (isKey && depth === 1) {
        const key = (JSON.parse(text.slice(at, end)) as string).toLowerCase()
        if (seen.has(key)) return key
        seen.add(key)
        isKey = false
      }
      at = end - 1
    } else if (unit === 123 || unit === 91) { depth++; isKey = depth === 1 }
    else if (unit === 125 || unit === 93) depth--
    else if (unit === 44 && depth === 1) isKey = true
  }
  return null
}

const quote = 34

/** Where the string that begins here ends: behind its closing quote. */
function endOfString(text: string, from: number): number {
  let at = text.indexOf('"', from + 1)
  while (isEscaped(text, at)) at = text.indexOf('"', at + 1)
  return at + 1
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === 92) backslashes++
  return backslashes % 2 === 1
}

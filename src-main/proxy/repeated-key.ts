import { endOfString, quote } from './json-text.ts'

/**
 * The first key that the outermost object of a JSON text has twice, whatever the case of its letters; null if none. The text must be
 * valid, `json` what was read from it, and `members` how many its outermost object has. JSON readers differ in which of two they take (and some in
 * whether letters' case counts), so that what is checked here could be something else at the vendor. Only where fewer keys were read than there are
 * members, or one that is not plain, is the text looked through for the key.
 */
export function repeatedKey(text: string, json: object, members: number): string | null {
  const keys = Object.keys(json)
  return keys.length === members && keys.every((key) => plain.test(key)) ? null : keyTwice(text)
}

function keyTwice(text: string): string | null {
  const seen = new Set<string>()
  let depth = 0
  let isKey = false
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === quote) {
      const end = endOfString(text, at)
      if (isKey && depth === 1) {
        const key = inOneCase(keyOf(text.slice(at, end)))
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

/** In no case of its letters could it be another plain one. */
const plain = /^[a-z0-9_.-]*$/

/** A key as it is meant, from its text with the quotes. */
function keyOf(quoted: string): string {
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1)
}

/** The same for all keys that readers who do not care for case take for one: some know that the capital of `ſ` is `S`. */
function inOneCase(key: string): string {
  return key.toUpperCase().toLowerCase()
}

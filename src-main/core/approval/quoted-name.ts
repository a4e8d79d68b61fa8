/** What an escape of one sign stands for, as a byte; `%` stands for itself. */
const escapes: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '%': 37, '\\': 92 }

const byteOf = (escape: string): number => escapes[escape] ?? Number.parseInt(escape, 8)

/** The name of a file that a diff writes in quotes, as Git and GNU diff do: each escape is one byte of its UTF-8. Null for what is not written so. */
export function unquotedName(written: string): string | null {
  const inside = /^"((?:[^"\\]|\\[abtnvfr"\\]|\\[0-3][0-7]{2})*)"$/.exec(written)?.[1]
  if (inside === undefined) return null
  const inBytes = inside.replace(/\\(?:[0-7]{3}|.)|%/g, (sign) => `%${byteOf(sign.replace('\\', '')).toString(16).padStart(2, '0')}`)
  try {
    return decodeURIComponent(inBytes)
  } catch (notUtf8) {
    if (notUtf8 instanceof URIError) return null
    throw notUtf8
  }
}

import { Fields, type Field } from './fields.ts'
import { http1Limits } from './http1-limits.ts'

/**
 * A message's head: its start line, its header fields, and how many bytes it takes with the blank line behind it. `likeness`: the same object for
 * the heads of a connection that differ in nothing but the value of a `content-length`; what was made of one holds for the others.
 */
export interface Head { readonly startLine: string; readonly fields: Fields; readonly bytes: number; readonly likeness: object }

/** `more`: the blank line has not come yet. `malformed`: no strict reader would take it. */
export type HeadRead = Head | 'more' | 'too-large' | 'malformed'

/** A head to compare with: its bytes up to the blank line, and the place behind each of its lines. */
interface Remembered { readonly head: Head; readonly bytes: Uint8Array; readonly ends: readonly number[] }

const blankLine = Buffer.from('\r\n\r\n')
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
// Visible characters, blanks, tabs and the bytes above ASCII; no CR, LF or NUL can be within.
const lineText = /^[\t\x20-\x7e\x80-\xff]*$/
const fieldsMax = 256

/**
 * Reads the heads of one connection, strictly: H1. lines end with CR LF and nothing else, no line is folded, no blank stands before
 * a colon, no control character anywhere. What two readers could read differently is malformed, never mended.
 * Most lines say again what they said in an earlier head. Those are seen to be the same byte for byte, and not taken apart again; a head that is
 * not built like that one, or in which anything is odd, is read from its beginning.
 * Source: RFC 9112, 2.2, 5 and 5.1; RFC 9110, 5.5
 */
export class HeadReader {
  readonly #bytesMax: number
  #before: Remembered | null = null

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Reads the head at the beginning of these bytes. */
  read(bytes: Buffer): HeadRead {
    return (this.#before === null ? null : this.#readAgain(this.#before, bytes)) ?? this.#readAnew(bytes)
  }

  #readAnew(bytes: Buffer): HeadRead {
    const end = bytes.indexOf(blankLine)
    if (end < 0) return bytes.length > this.#bytesMax ? 'too-large' : hasBareLineFeed(bytes) ? 'malformed' : 'more'
    if (end > this.#bytesMax) return 'too-large'
    const lines = bytes.toString('latin1', 0, end).split('\r\n')
    const startLine = lines[0] ?? ''
    if (lines.length > fieldsMax + 1) return 'too-large'
    if (startLine === '' || !lineText.test(startLine)) return 'malformed'
    const fields: Field[] = []
    for (let index = 1; index < lines.length; index += 1) {
      const field = readField(lines[index] ?? '')
      if (field === null) return 'malformed'
      fields.push(field)
    }
    const head = { startLine, fields: new Fields(fields), bytes: end + blankLine.length, likeness: {} }
    this.#before = head.bytes <= http1Limits.rememberedHeadBytesMax ? remembered(head, bytes, lines) : null
    return head
  }

  /** The head at the beginning of these bytes, if it has the lines of that one, or others in their places; null: it is to be read from its beginning. */
  #readAgain({ head, bytes: known, ends }: Remembered, bytes: Buffer): Head | null {
    let [at, place, alike] = [0, 0, true]
    let fields: Field[] | null = null
    for (let index = 0; index < ends.length; index += 1) {
      const [start, end] = [at, ends[index] ?? 0]
      while (place < end && bytes[at] === known[place]) { at += 1; place += 1 }
      if (place === end) continue
      const line = index === 0 ? null : lineAt(bytes, start)
      const field = line === null ? null : readField(line)
      if (line === null || field === null) return null
      fields ??= head.fields.copied()
      alike &&= field.lower === 'content-length' && fields[index - 1]?.lower === 'content-length'
      fields[index - 1] = field
      at = start + line.length + 2
      place = end
    }
    // Whatever is not the blank line: more fields, or not all of the head.
    if (bytes[at] !== 13 || bytes[at + 1] !== 10 || at - 2 > this.#bytesMax) return null
    return fields === null ? head : { startLine: head.startLine, fields: new Fields(fields), bytes: at + 2, likeness: alike ? head.likeness : {} }
  }
}

function remembered(head: Head, bytes: Buffer, lines: readonly string[]): Remembered {
  let at = 0
  const ends = lines.map((line) => (at += line.length + 2))
  return { head, bytes: new Uint8Array(bytes.subarray(0, at)), ends }
}

/** The line that begins here, without its end; null where it is blank, has not all come or ends with LF alone. */
function lineAt(bytes: Buffer, start: number): string | null {
  const end = bytes.indexOf(10, start) - 1
  return end > start && bytes[end] === 13 ? bytes.toString('latin1', start, end) : null
}

/** A line that LF alone ends: nobody will send the blank line that is waited for. */
function hasBareLineFeed(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) if (at === 0 || bytes[at - 1] !== 13) return true
  return false
}

/** One header line; null when it is none. */
export function readField(line: string): Field | null {
  const colon = line.indexOf(':')
  if (colon <= 0) return null
  const name = line.slice(0, colon)
  const value = trimmed(line, colon + 1)
  return token.test(name) && lineText.test(value) ? { name, lower: name.toLowerCase(), value } : null
}

/** Without the blanks and tabs around it. */
function trimmed(line: string, start: number): string {
  let [from, to] = [start, line.length]
  while (from < to && isBlank(line.charCodeAt(from))) from += 1
  while (to > from && isBlank(line.charCodeAt(to - 1))) to -= 1
  return line.slice(from, to)
}

function isBlank(unit: number): boolean {
  return unit === 32 || unit === 9
}

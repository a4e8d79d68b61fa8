import { Fields, type Field } from './fields.ts'
import { http1Limits } from './http1-limits.ts'

/**
 * A message's head: its start line, its header fields, and how many bytes it takes with the blank line behind it. `likeness`: the same object for
 * the heads of a connection that differ in nothing but the value of a `content-length`; what was made of one holds for the others.
 */
export interface Head { readonly startLine: string; readonly fields: Fields; readonly bytes: number; readonly likeness: object }

/** `more`: the blank line has not come yet. `malformed`: no strict reader would take it. */
export type HeadRead = Head | 'more' | 'too-large' | 'malformed'

/** A head to compare with: its bytes up to the blank line, and for each of its lines the place behind it and that behind its name's colon (0: the start line). */
interface Remembered { readonly head: Head; readonly bytes: Uint8Array; readonly ends: readonly number[]; readonly values: readonly number[] }

const blankLine = Buffer.from('\r\n\r\n')
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
// Visible characters, blanks, tabs and the bytes above ASCII; no CR, LF or NUL can be within.
const lineText = /^[\t\x20-\x7e\x80-\xff]*$/
const fieldsMax = 256

/**
 * Reads the heads of one connection, strictly: H1. lines end with CR LF and nothing else, no line is folded, no blank stands before
 * a colon, no control character anywhere. What two readers could read differently is malformed, never mended.
 * Most lines say again what they said in an earlier head, or another value under the same name. What is the same byte for byte is not taken apart
 * again; a head that is not built like that one, or in which anything is odd, is read from its beginning.
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
  #readAgain({ head, bytes: known, ends, values }: Remembered, bytes: Buffer): Head | null {
    let [at, place, alike] = [0, 0, true]
    let fields: Field[] | null = null
    for (let index = 0; index < ends.length; index += 1) {
      const [start, knownStart, end, knownValue] = [at, place, ends[index] ?? 0, values[index] ?? 0]
      while (place < end && bytes[at] === known[place]) { at += 1; place += 1 }
      if (place === end) continue
      if (index === 0 || place < knownValue) return null
      const from = start + knownValue - knownStart
      const to = valueEnd(bytes, from)
      if (to < 0) return null
      fields ??= head.fields.copied()
      const { name, lower } = fields[index - 1] ?? nameless
      fields[index - 1] = { name, lower, value: trimmed(bytes.toString('latin1', from, to), 0) }
      alike &&= lower === 'content-length'
      at = to + 2
      place = end
    }
    // Whatever is not the blank line: more fields, or not all of the head.
    if (bytes[at] !== 13 || bytes[at + 1] !== 10 || at - 2 > this.#bytesMax) return null
    return fields === null ? head : { startLine: head.startLine, fields: new Fields(fields), bytes: at + 2, likeness: alike ? head.likeness : {} }
  }
}

function remembered(head: Head, bytes: Buffer, lines: readonly string[]): Remembered {
  const [ends, values] = [[] as number[], [] as number[]]
  let at = 0
  for (const line of lines) {
    values.push(at === 0 ? 0 : at + line.indexOf(':') + 1)
    ends.push(at += line.length + 2)
  }
  return { head, bytes: new Uint8Array(bytes.subarray(0, at)), ends, values }
}

const nameless: Field = { name: '', lower: '', value: '' }

/** Where the value that begins here ends, before its CR LF; -1 where that has not come, or a character is none that a value may have. */
function valueEnd(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at += 1) {
    const unit = bytes[at] ?? 0
    if (unit === 13) return bytes[at + 1] === 10 ? at : -1
    if ((unit < 32 && unit !== 9) || unit === 127) return -1
  }
  return -1
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

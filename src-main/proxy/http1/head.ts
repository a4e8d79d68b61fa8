import { Fields } from './fields.ts'

/** A message's head: its start line, its header fields, and how many bytes it takes with the blank line behind it. */
export interface Head { readonly startLine: string; readonly fields: Fields; readonly bytes: number }

/** `more`: the blank line has not come yet. `malformed`: no strict reader would take it. */
export type HeadRead = Head | 'more' | 'too-large' | 'malformed'

const blankLine = Buffer.from('\r\n\r\n')
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
// Visible characters, blanks, tabs and the bytes above ASCII; no CR, LF or NUL can be within.
const lineText = /^[\t\x20-\x7e\x80-\xff]*$/
const fieldsMax = 256

/**
 * Reads the head at the beginning of these bytes, strictly: H1. lines end with CR LF and nothing else, no line is folded, no blank stands before
 * a colon, no control character anywhere. What two readers could read differently is malformed, never mended.
 * Source: RFC 9112, 2.2, 5 and 5.1; RFC 9110, 5.5
 */
export function readHead(bytes: Buffer, bytesMax: number): HeadRead {
  const end = bytes.indexOf(blankLine)
  if (end < 0) return bytes.length > bytesMax ? 'too-large' : hasBareLineFeed(bytes) ? 'malformed' : 'more'
  if (end > bytesMax) return 'too-large'
  const lines = bytes.toString('latin1', 0, end).split('\r\n')
  const startLine = lines[0] ?? ''
  if (lines.length > fieldsMax + 1) return 'too-large'
  if (startLine === '' || !lineText.test(startLine)) return 'malformed'
  const fields = new Fields()
  for (let index = 1; index < lines.length; index += 1) {
    if (!addField(fields, lines[index] ?? '')) return 'malformed'
  }
  return { startLine, fields, bytes: end + blankLine.length }
}

/** A line that LF alone ends: nobody will send the blank line that is waited for. */
function hasBareLineFeed(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) if (at === 0 || bytes[at - 1] !== 13) return true
  return false
}

/** Adds one header line; false when it is none. */
export function addField(fields: Fields, line: string): boolean {
  const colon = line.indexOf(':')
  if (colon <= 0) return false
  const name = line.slice(0, colon)
  const value = trimmed(line, colon + 1)
  if (!token.test(name) || !lineText.test(value)) return false
  fields.add(name, value)
  return true
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

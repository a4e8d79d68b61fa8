import type { Framing } from './framing.ts'
import { readField } from './head.ts'

const sizeLineCharsMax = 1_024
const trailerCharsMax = 8 * 1_024
// 13 hexadecimal digits stay below 2^53. Source of the extension's characters: RFC 9112, 7.1.1
const sizeLine = /^([0-9A-Fa-f]{1,13})(?:;[\t\x20-\x7e\x80-\xff]*)?$/

const plainDigitsMax = 7

type State = 'size' | 'data' | 'data-end' | 'trailer' | 'raw' | 'done' | 'malformed'

/**
 * Takes a body apart into its bytes, cut anywhere. Chunks are read strictly (H3: a size is 1 to 13 hexadecimal digits, each line ends with
 * CR LF, data end where they said they would). Extensions and trailers are read over and handed on to nobody.
 * Source: RFC 9112, 6 and 7.1
 */
export class BodyDecoder {
  readonly #framing: Framing
  #state: State
  /** What is left of the chunk, or of the whole. */
  #left = 0
  /** A line of which not all has come. */
  #line = ''
  #trailerChars = 0

  constructor(framing: Framing) {
    this.#framing = framing
    this.#left = framing.is === 'length' ? framing.bytes : 0
    this.#state = framing.is === 'chunked' ? 'size' : framing.is === 'length' && framing.bytes === 0 ? 'done' : 'raw'
  }

  get done(): boolean {
    return this.#state === 'done'
  }

  get malformed(): boolean {
    return this.#state === 'malformed'
  }

  /**
   * Reads on from `at`. `data`: the body's bytes in there, in one piece; `next`: the place behind what belongs to this body. Up to there the
   * bytes are used up: what stands in several chunks is moved together in place.
   */
  read(bytes: Buffer, at: number): { readonly data: Buffer; readonly next: number } {
    if (this.#state === 'raw') return this.#readRaw(bytes, at)
    let [next, first, end] = [at, 0, 0]
    while (next < bytes.length && this.#state !== 'done' && this.#state !== 'malformed') {
      const from: number = this.#state === 'size' && this.#line === '' ? behindSize(bytes, next) : 0
      const whole: number = from > 0 ? from + sizeOf(bytes, next, from - 2) : 0
      // A chunk that is here to its end, as nearly all are, needs no state between its parts.
      if (whole > from && bytes[whole] === 13 && bytes[whole + 1] === 10) {
        if (end === 0) first = from
        end = end === 0 ? whole : moved(bytes, end, from, whole)
        next = whole + 2
        continue
      }
      if (this.#state !== 'data') { next = this.#readLine(bytes, next); continue }
      const to = Math.min(bytes.length, next + this.#left)
      this.#left -= to - next
      if (this.#left === 0) this.#state = 'data-end'
      // One read of a socket can hold hundreds of chunks.
      if (end === 0) first = next
      end = end === 0 ? to : moved(bytes, end, next, to)
      next = to
    }
    return { data: bytes.subarray(first, end), next }
  }

  /** The connection has ended. Whether the body was whole by then: only one that lasts until the close is ended by it. */
  closed(): boolean {
    if (this.#framing.is === 'until-close') this.#state = 'done'
    return this.done
  }

  #readRaw(bytes: Buffer, at: number): { readonly data: Buffer; readonly next: number } {
    const next = this.#framing.is === 'until-close' ? bytes.length : Math.min(bytes.length, at + this.#left)
    this.#left -= next - at
    if (this.#framing.is === 'length' && this.#left === 0) this.#state = 'done'
    return { data: at === 0 && next === bytes.length ? bytes : bytes.subarray(at, next), next }
  }

  #readLine(bytes: Buffer, at: number): number {
    const plain = this.#line === '' ? this.#readPlain(bytes, at) : 0
    if (plain > 0) return plain
    const end = bytes.indexOf(10, at)
    this.#line += bytes.toString('latin1', at, end < 0 ? bytes.length : end + 1)
    if (this.#line.length > (this.#state === 'trailer' ? trailerCharsMax : sizeLineCharsMax)) { this.#state = 'malformed'; return bytes.length }
    if (end < 0) return bytes.length
    const line = this.#line
    this.#line = ''
    this.#state = line.endsWith('\r\n') ? this.#after(line.slice(0, -2)) : 'malformed'
    return end + 1
  }

  /** The lines of nearly all chunks, whole and without an extension, read without making a text of them. The place behind; 0: read it the long way. */
  #readPlain(bytes: Buffer, at: number): number {
    if (this.#state === 'data-end' && bytes[at] === 13 && bytes[at + 1] === 10) { this.#state = 'size'; return at + 2 }
    const from = this.#state === 'size' ? behindSize(bytes, at) : 0
    if (from === 0) return 0
    this.#left = sizeOf(bytes, at, from - 2)
    this.#state = this.#left === 0 ? 'trailer' : 'data'
    return from
  }

  /** What comes behind a line without its end. */
  #after(line: string): State {
    if (this.#state === 'data-end') return line === '' ? 'size' : 'malformed'
    if (this.#state === 'trailer') {
      this.#trailerChars += line.length + 2
      if (line === '') return 'done'
      return this.#trailerChars <= trailerCharsMax && isTrailer(line) ? 'trailer' : 'malformed'
    }
    const size = sizeLine.exec(line)?.[1]
    if (size === undefined) return 'malformed'
    this.#left = Number.parseInt(size, 16)
    return this.#left === 0 ? 'trailer' : 'data'
  }
}

/** Moves a stretch up to this place; the place behind it there. */
function moved(bytes: Buffer, place: number, from: number, to: number): number {
  bytes.copyWithin(place, from, to)
  return place + to - from
}

/** The place behind a chunk's size line that is a few digits and nothing else; 0: it is not, or not all of it is here. */
function behindSize(bytes: Buffer, at: number): number {
  let place = at
  while (place < at + plainDigitsMax && hexDigit(bytes[place] ?? 0) >= 0) place += 1
  return place > at && bytes[place] === 13 && bytes[place + 1] === 10 ? place + 2 : 0
}

function sizeOf(bytes: Buffer, at: number, end: number): number {
  let size = 0
  for (let place = at; place < end; place += 1) size = size * 16 + hexDigit(bytes[place] ?? 0)
  return size
}

function hexDigit(unit: number): number {
  if (unit >= 48 && unit <= 57) return unit - 48
  const upper = unit & 0xdf
  return upper >= 65 && upper <= 70 ? upper - 55 : -1
}

/** A trailer that says how long the body is would be a head where none can be. Source: RFC 9110, 6.5.1 */
function isTrailer(line: string): boolean {
  const field = readField(line)
  return field !== null && field.lower !== 'content-length' && field.lower !== 'transfer-encoding'
}

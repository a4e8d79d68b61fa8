import type { Framing } from './framing.ts'
import { Fields } from './fields.ts'
import { addField } from './head.ts'

const sizeLineCharsMax = 1_024
const trailerCharsMax = 8 * 1_024
// 13 hexadecimal digits stay below 2^53. Source of the extension's characters: RFC 9112, 7.1.1
const sizeLine = /^([0-9A-Fa-f]{1,13})(?:;[\t\x20-\x7e\x80-\xff]*)?$/

type State = 'size' | 'data' | 'data-end' | 'trailer' | 'raw' | 'done' | 'malformed'

/**
 * Takes a body apart into its bytes, cut anywhere. Chunks are read strictly (H3: a size is 1 to 13 hexadecimal digits, each line ends with
 * CR LF, data end where they said they would). Extensions and trailers are read over and handed on to nobody. Nothing is copied.
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

  /** Reads on from `at` and adds the body's bytes to `pieces`. Returns the place behind what belongs to this body. */
  read(bytes: Buffer, at: number, pieces: Buffer[]): number {
    let next = at
    while (next < bytes.length && this.#state !== 'done' && this.#state !== 'malformed') {
      next = this.#state === 'raw' || this.#state === 'data' ? this.#readData(bytes, next, pieces) : this.#readLine(bytes, next)
    }
    return next
  }

  /** The connection has ended. Whether the body was whole by then: only one that lasts until the close is ended by it. */
  closed(): boolean {
    if (this.#framing.is === 'until-close') this.#state = 'done'
    return this.done
  }

  #readData(bytes: Buffer, at: number, pieces: Buffer[]): number {
    const end = this.#framing.is === 'until-close' ? bytes.length : Math.min(bytes.length, at + this.#left)
    if (end > at) pieces.push(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end))
    if (this.#framing.is === 'until-close') return end
    this.#left -= end - at
    if (this.#left === 0) this.#state = this.#state === 'raw' ? 'done' : 'data-end'
    return end
  }

  #readLine(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(10, at)
    this.#line += bytes.toString('latin1', at, end < 0 ? bytes.length : end + 1)
    if (this.#line.length > (this.#state === 'trailer' ? trailerCharsMax : sizeLineCharsMax)) { this.#state = 'malformed'; return bytes.length }
    if (end < 0) return bytes.length
    const line = this.#line
    this.#line = ''
    this.#state = line.endsWith('\r\n') ? this.#after(line.slice(0, -2)) : 'malformed'
    return end + 1
  }

  /** What comes behind a line without its end. */
  #after(line: string): State {
    if (this.#state === 'data-end') return line === '' ? 'size' : 'malformed'
    if (this.#state === 'trailer') {
      this.#trailerChars += line.length + 2
      if (line === '') return 'done'
      return this.#trailerChars <= trailerCharsMax && addField(new Fields(), line) ? 'trailer' : 'malformed'
    }
    const size = sizeLine.exec(line)?.[1]
    if (size === undefined) return 'malformed'
    this.#left = Number.parseInt(size, 16)
    return this.#left === 0 ? 'trailer' : 'data'
  }
}

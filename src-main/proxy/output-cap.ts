import { bytesPerToken } from '../core/budget/charge.ts'
import { listOf, recordOf, textOf } from '../core/preview/json-shape.ts'

/** Of a whole reservation: far more bytes than a token has in most texts, in any script. */
const bytesPerTokenWhole = 16

/**
 * Counts what a stream has put out, against what was reserved for it: the vendor's last count that grew, and behind it the bytes of the text. A
 * count that stands still while text comes says nothing of that text. Once a tool call has come nothing is cut any more: OpenCode runs a tool as
 * soon as its arguments end, and a stream cut after that would run it again.
 *
 * What was left of a budget is counted at two bytes a token, which errs on the high side. A reservation of all that was asked for is passed only
 * by a vendor that does not keep to it, and its text is counted at sixteen: a stream that keeps to it is not cut for having long tokens, and one
 * that does not, and whose vendor counts nothing on the way, is cut well beyond it.
 */
export class OutputCap {
  readonly #tokensMax: number
  readonly #whole: boolean
  #reported = 0
  /** Of text, since the vendor's count grew last. */
  #bytes = 0
  #seenBytes = 0
  #sawTool = false

  constructor({ tokensMax, whole }: { readonly tokensMax: number; readonly whole: boolean }) {
    this.#tokensMax = tokensMax
    this.#whole = whole
  }

  /**
   * Whether the text of the next events, so many bytes, is to be counted. Of a whole reservation it is not for as long as all bytes that came
   * together are fewer than its text may have: nearly all streams end before that, and reading each word costs more than forwarding it.
   */
  counts(bytes: number): boolean {
    this.#seenBytes += bytes
    return !this.#whole || this.#tokensOf(this.#seenBytes) > this.#tokensMax
  }

  /** Takes the next event; `reported`: the vendor's own count so far, which covers this event where it grows with it. True: the stream is to be cut. */
  read(event: unknown, reported: number | null): boolean {
    const about = recordOf(event)
    if (about !== null) this.#count(about)
    if (reported !== null && reported > this.#reported) {
      this.#reported = reported
      this.#bytes = 0
    }
    return !this.#sawTool && this.#reported + this.#tokensOf(this.#bytes) > this.#tokensMax
  }

  #tokensOf(bytes: number): number {
    return Math.ceil(bytes / (this.#whole ? bytesPerTokenWhole : bytesPerToken))
  }

  #count(about: Readonly<Record<string, unknown>>): void {
    const type = textOf(about['type']) ?? ''
    if (type.includes('_call') || String(recordOf(about['item'])?.['type']).endsWith('_call')) this.#sawTool = true
    if (type.endsWith('.delta')) this.#bytes += bytesOf(textIn(about['delta']))
    for (const choice of listOf(about['choices'])) {
      const said = recordOf(recordOf(choice)?.['delta']) ?? recordOf(recordOf(choice)?.['message'])
      if (said === null) continue
      if (listOf(said['tool_calls']).length > 0 || recordOf(said['function_call']) !== null) this.#sawTool = true
      this.#bytes += bytesSaid(said)
    }
  }
}

/** What is no text of the model's, or is not counted by its bytes: labels, calls, signatures, sounds and pictures, what a search found. */
const notText: ReadonlySet<string> = new Set(['role', 'type', 'id', 'name', 'format', 'status', 'signature', 'data', 'url', 'annotations', 'tool_calls', 'function_call'])

/** What nests deeper is not counted: no vendor's text does. */
const levelsMax = 8

/** Bytes of all text in a delta, or in a message in its place. What some gateways say under two names at once counts once. */
function bytesSaid(said: Readonly<Record<string, unknown>>): number {
  const texts = new Set<string>()
  for (const [name, value] of Object.entries(said)) if (!notText.has(name)) texts.add(textIn(value))
  let bytes = 0
  for (const text of texts) bytes += bytesOf(text)
  return bytes
}

/** All text within a value, whatever its shape. */
function textIn(value: unknown, levels = levelsMax): string {
  if (typeof value === 'string') return value
  if (levels === 0 || typeof value !== 'object' || value === null) return ''
  if (Array.isArray(value)) return value.map((part) => textIn(part, levels - 1)).join('')
  let text = ''
  for (const [name, part] of Object.entries(value)) if (!notText.has(name)) text += textIn(part, levels - 1)
  return text
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text)
}

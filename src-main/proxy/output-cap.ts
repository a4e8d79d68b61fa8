import { bytesPerToken } from '../core/budget/charge.ts'
import { listOf, recordOf, textOf } from '../core/preview/json-shape.ts'

/**
 * Counts what a stream has put out, against what was reserved for it: tokens as the vendor reports them on the way, else the bytes of
 * its text at two bytes a token, which errs on the high side. Once a tool call has come nothing is cut any more: OpenCode runs a tool
 * as soon as its arguments end, and a stream cut after that would run it again.
 */
export class OutputCap {
  readonly #tokensMax: number
  #bytes = 0
  #sawTool = false

  constructor(tokensMax: number) {
    this.#tokensMax = tokensMax
  }

  /** Takes the next event; `reported`: the vendor's own count so far. True: the stream is to be cut. */
  read(event: unknown, reported: number | null): boolean {
    const about = recordOf(event)
    if (about !== null) this.#count(about)
    return !this.#sawTool && (reported ?? Math.ceil(this.#bytes / bytesPerToken)) > this.#tokensMax
  }

  #count(about: Readonly<Record<string, unknown>>): void {
    const type = textOf(about['type']) ?? ''
    if (type.includes('_call') || String(recordOf(about['item'])?.['type']).endsWith('_call')) this.#sawTool = true
    if (type.endsWith('.delta')) this.#add(about['delta'])
    for (const choice of listOf(about['choices'])) {
      const delta = recordOf(recordOf(choice)?.['delta'])
      if (delta === null) continue
      if (listOf(delta['tool_calls']).length > 0 || recordOf(delta['function_call']) !== null) this.#sawTool = true
      for (const name of ['content', 'reasoning_content', 'reasoning', 'refusal']) this.#add(delta[name])
    }
  }

  #add(text: unknown): void {
    if (typeof text === 'string') this.#bytes += Buffer.byteLength(text)
  }
}

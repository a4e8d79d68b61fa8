import { errorMessageOf, Meter } from './metering.ts'
import { proxyLimits } from './proxy-limits.ts'
import { SseReader, type SseEvent } from './sse-reader.ts'
import { terminalOf, type Terminal } from './stream-end.ts'
import type { Tap } from './tap.ts'

interface ReplyReaderDeps {
  readonly api: 'chat' | 'responses'
  readonly status: number
  readonly contentType: string
  /** The bytes are compressed: nothing can be read of them. */
  readonly opaque: boolean
  readonly tap: Tap
  readonly onEvent: () => void
}

/** Reads a copy of an upstream's reply: its model, usage, error words and terminal frame, and feeds the tap. */
export class ReplyReader {
  readonly #deps: ReplyReaderDeps
  readonly #meter = new Meter()
  readonly #sse: SseReader | null
  readonly #held: Uint8Array[] = []
  #heldBytes = 0
  #terminal: Terminal | null = null
  #blind: boolean
  #errorWords: string | null = null
  #terminalUnended = false

  constructor(deps: ReplyReaderDeps) {
    this.#deps = deps
    this.#blind = deps.opaque
    const streams = deps.status < 300 && /^text\/event-stream\b/i.test(deps.contentType)
    this.#sse = streams ? new SseReader((event) => this.#readEvent(event), () => { this.#blind = true }) : null
  }

  get isStream(): boolean {
    return this.#sse !== null
  }

  /** The terminal frame that has been seen. A stream that cannot be read counts as finished: nothing is appended to it. */
  get terminal(): Terminal | null {
    return this.#blind ? 'finished' : this.#terminal
  }

  /** Whether the bytes so far end with a blank line. */
  get betweenEvents(): boolean {
    return this.#sse?.betweenEvents ?? false
  }

  /** The terminal frame lacks the blank line that a client needs to read it. */
  get terminalUnended(): boolean {
    return this.#terminalUnended
  }

  get meter(): Meter {
    return this.#meter
  }

  /** The vendor's own words for an error, when it gave one. */
  get errorWords(): string | null {
    return this.#errorWords
  }

  take(bytes: Uint8Array): void {
    if (this.#deps.opaque) return
    if (this.#sse !== null) { this.#sse.take(bytes); return }
    this.#heldBytes += bytes.length
    if (this.#heldBytes <= this.#heldBytesMax) this.#held.push(bytes)
  }

  /** The reply is over. */
  finish(): void {
    const ended = this.#terminal !== null
    this.#sse?.finish()
    this.#terminalUnended = !ended && this.#terminal !== null
    this.#deps.tap.end()
    if (this.#sse !== null || this.#deps.opaque || this.#heldBytes > this.#heldBytesMax) return
    const text = Buffer.concat(this.#held).toString('utf8')
    const value = parseOrNull(text)
    if (this.#deps.status < 300) this.#meter.read(value)
    else this.#errorWords = errorMessageOf(value) ?? (text.trim().slice(0, 200) || null)
  }

  get #heldBytesMax(): number {
    return this.#deps.status < 300 ? proxyLimits.replyHeldBytesMax : proxyLimits.errorHeldBytesMax
  }

  #readEvent(event: SseEvent): void {
    this.#deps.onEvent()
    const terminal = terminalOf(event, this.#deps.api)
    this.#terminal ??= terminal
    if (event.is !== 'json') return
    this.#meter.read(event.value)
    if (terminal === 'failed') this.#errorWords = errorMessageOf(event.value)
    this.#deps.tap.read(event.value)
  }
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

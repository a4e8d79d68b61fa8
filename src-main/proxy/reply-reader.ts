import type { OutputBound } from '../core/budget/fit.ts'
import { errorMessageOf, Meter } from './metering.ts'
import { parsedOrNull } from './json-text.ts'
import { OutputCap } from './output-cap.ts'
import { proxyLimits } from './proxy-limits.ts'
import { mayMatter } from './skim.ts'
import { SseReader, type SseEvent } from './sse-reader.ts'
import { StreamEnd, type Terminal } from './stream-end.ts'
import type { Tap } from './tap.ts'

interface ReplyReaderDeps {
  readonly api: 'chat' | 'responses'
  readonly status: number
  readonly contentType: string
  /** The bytes are compressed: nothing can be read of them. */
  readonly opaque: boolean
  /** Makes what looks at a stream's tool calls; not asked of another reply. */
  readonly tap: () => Tap
  /** Where a stream is over its cap. */
  readonly bound?: OutputBound
  readonly onEvent: () => void
  readonly onBroken: (error: unknown) => void
}

/**
 * Reads a copy of an upstream's reply: its model, usage, error words and terminal frame, and feeds the tap. A fault in here
 * ends the reading (what is not known yet stays unknown), never the reply.
 */
export class ReplyReader {
  readonly #deps: ReplyReaderDeps
  readonly #meter = new Meter()
  readonly #sse: SseReader | null
  readonly #tap: Tap | null
  #held: Buffer[] = []
  #heldBytes = 0
  readonly #end: StreamEnd
  #closing = ''
  /** The terminal frame lacks the blank line that a client needs to read it. */
  #endedLate = false
  #blind: boolean
  readonly #cap: OutputCap | null
  #overCap = false
  #errorWords: string | null = null

  constructor(deps: ReplyReaderDeps) {
    this.#deps = deps
    this.#blind = deps.opaque
    this.#end = new StreamEnd(deps.api)
    this.#cap = deps.bound?.outputTokensMax === undefined ? null : new OutputCap({ tokensMax: deps.bound.outputTokensMax, whole: deps.bound.outputWhole === true })
    const isStream = deps.status < 300 && isEventStream(deps.contentType)
    this.#sse = isStream ? this.#sseReader() : null
    this.#tap = isStream ? deps.tap() : null
  }

  #sseReader(): SseReader {
    const { api, onEvent } = this.#deps
    const cap = this.#cap
    const matters = mayMatter(api)
    // What counts towards a cap is read, too.
    return new SseReader({ onEvent: (event) => this.#readEvent(event), onGaveUp: () => { this.#blind = true }, matters: (events) => cap?.counts(events.length) === true || matters(events), onSkipped: onEvent })
  }

  get isStream(): boolean {
    return this.#sse !== null
  }

  /** The terminal frame that has been seen; undefined when the reply cannot be read. */
  get terminal(): Terminal | null | undefined {
    return this.#blind ? undefined : this.#end.terminal
  }

  /** After `finish`: what goes behind the vendor's last byte. Nothing goes behind what cannot be read, or is no stream. */
  tail(error: { readonly code: string; readonly message: string }): string {
    if (this.#sse === null || this.#blind) return ''
    const frames = this.#end.tail(error)
    return frames === '' && !this.#endedLate ? '' : this.#closing + frames
  }

  /** The stream has put out more than was reserved for it, and may be cut. */
  get overCap(): boolean {
    return this.#overCap
  }

  get meter(): Meter {
    return this.#meter
  }

  /** The vendor's own words for an error, when it gave one. */
  get errorWords(): string | null {
    return this.#errorWords
  }

  /** The next bytes. What is needed of them later is copied. */
  take(bytes: Uint8Array): void {
    this.#guard(() => this.#read(bytes))
  }

  /** The reply is over. */
  finish(): void {
    this.#guard(() => this.#readEnd())
    this.#tap?.end()
  }

  #guard(run: () => void): void {
    if (this.#blind) return
    try {
      run()
    } catch (error) {
      this.#blind = true
      this.#deps.onBroken(error)
    }
  }

  #read(bytes: Uint8Array): void {
    if (this.#sse !== null) { this.#sse.take(bytes); return }
    this.#heldBytes += bytes.length
    if (this.#heldBytes <= this.#heldBytesMax) this.#held.push(Buffer.from(bytes))
  }

  #readEnd(): void {
    const before = this.#end.terminal
    this.#closing = this.#sse?.closing(this.#deps.api) ?? ''
    this.#sse?.finish()
    this.#endedLate = before !== this.#end.terminal
    if (this.#sse !== null || this.#heldBytes > this.#heldBytesMax) return
    const [only] = this.#held
    const text = (this.#held.length === 1 && only !== undefined ? only : Buffer.concat(this.#held)).toString('utf8')
    const value = parsedOrNull(text)
    if (this.#deps.status < 300) this.#meter.read(value)
    else this.#errorWords = errorMessageOf(value) ?? (text.trim().slice(0, 200) || null)
  }

  get #heldBytesMax(): number {
    return this.#deps.status < 300 ? proxyLimits.replyHeldBytesMax : proxyLimits.errorHeldBytesMax
  }

  #readEvent(event: SseEvent): void {
    this.#deps.onEvent()
    const terminal = this.#end.read(event)
    if (event.is !== 'json') return
    this.#meter.read(event.value, this.#end.terminal !== null)
    // Not kept: a call that comes behind the words that passed the cap, in the same read, is handed on whole.
    if (this.#cap !== null) this.#overCap = this.#cap.read(event.value, this.#meter.outputSoFar)
    if (terminal === 'failed') this.#errorWords = errorMessageOf(event.value)
    this.#tap?.read(event.value)
  }
}

function isEventStream(contentType: string): boolean {
  return contentType !== 'application/json' && /^text\/event-stream\b/i.test(contentType)
}

import { createParser } from 'eventsource-parser'
import { EventBoundary } from './event-boundary.ts'
import { closeJson } from './json-closer.ts'
import { proxyLimits } from './proxy-limits.ts'

/** What an event stream says: parsed JSON, or the end mark `[DONE]`, or text that is no JSON. */
export type SseEvent = { readonly is: 'json'; readonly value: unknown } | { readonly is: 'done' } | { readonly is: 'noise' }

export interface SseReaderDeps {
  readonly onEvent: (event: SseEvent) => void
  readonly onGaveUp: () => void
  /** Whether anything in these whole events is worth reading; by default all is. */
  readonly matters?: (events: Buffer) => boolean
  /** Whole events that were passed over. */
  readonly onSkipped?: () => void
}

/**
 * Reads server-sent events from bytes cut anywhere. Reads a copy of what is forwarded; nothing here delays a byte. Bytes are kept until an
 * event is whole; then all whole ones are parsed, or passed over where nothing in them matters. An event of more than 16 MiB ends the
 * reading (`onGaveUp`), not the stream.
 * Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export class SseReader {
  readonly #deps: SseReaderDeps
  readonly #parser
  readonly #boundary = new EventBoundary()
  #gaveUp = false
  /** What has come of the event that is not whole yet. */
  #pending: Buffer[] = []
  #pendingBytes = 0
  /** The last bytes before `#pending`, to see a blank line at the end. */
  #before = ''
  #first = true

  constructor(deps: SseReaderDeps) {
    this.#deps = deps
    this.#parser = createParser({ onEvent: (event) => deps.onEvent(read(event.data)) })
  }

  take(bytes: Uint8Array): void {
    if (this.#gaveUp || bytes.length === 0) return
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    // Without a line end in it, it ends no event: large events cost one look a chunk.
    if (this.#pendingBytes > 0 && !chunk.includes(10) && !chunk.includes(13)) { this.#keep(chunk); return }
    const rest = this.#pendingBytes === 0 ? chunk : this.#join(chunk)
    const end = this.#boundary.after(rest)
    if (end > 0) this.#readWhole(rest.subarray(0, end))
    if (end < rest.length) this.#keep(rest.subarray(end))
  }

  /** What has come before and this; without the event in which they meet, where that is easily told: it alone is copied, and read. */
  #join(chunk: Buffer): Buffer {
    const split = this.#boundary.firstAfter(chunk)
    const joined = Buffer.concat([...this.#pending, split === 0 ? chunk : chunk.subarray(0, split)])
    this.#pending = []
    this.#pendingBytes = 0
    if (split === 0) return joined
    this.#readWhole(joined)
    return chunk.subarray(split)
  }

  /** The stream has ended: a last event without its blank line is read too. */
  finish(): void {
    if (!this.#gaveUp) this.#parser.feed(`${this.#text(Buffer.concat(this.#pending))}\n\n`)
  }

  /**
   * What ends the line and the event within which the bytes break off, so that another event can follow; '' between two
   * events. Broken JSON is closed: OpenCode asks again after JSON that it cannot parse, not after one that it cannot use.
   */
  closing(api: 'chat' | 'responses'): string {
    const text = new TextDecoder().decode(Buffer.concat(this.#pending), { stream: true })
    const line = text.slice(Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1)
    if (line === '') return text === '' && /(^|[\n\r]{2})$/.test(this.#before.replace(/\r\n/g, '\n')) ? '' : '\n\n'
    if ('data:'.startsWith(line)) return `${line === 'data:' ? emptyEvents[api] : 'x'}\n\n`
    const value = /^data: ?(.*)$/s.exec(line)?.[1]
    if (value === undefined) return '\n\n'
    if (value === '') return `${emptyEvents[api]}\n\n`
    return `${'[DONE]'.startsWith(value) ? '[DONE]'.slice(value.length) : closeJson(value)}\n\n`
  }

  #readWhole(events: Buffer): void {
    this.#before = events.toString('latin1', Math.max(0, events.length - 4))
    const { matters, onSkipped } = this.#deps
    if (matters === undefined || this.#first || matters(events)) this.#parser.feed(this.#text(events))
    else if (hasData(events)) onSkipped?.()
    this.#first = false
  }

  /** Whole events end between two characters, so each stretch is decoded by itself. A byte order mark at the start is none of the text. */
  #text(bytes: Buffer): string {
    const text = bytes.toString('utf8')
    return this.#first && text.startsWith('\ufeff') ? text.slice(1) : text
  }

  #keep(bytes: Buffer): void {
    this.#pending.push(Buffer.from(bytes))
    this.#pendingBytes += bytes.length
    if (this.#pendingBytes <= proxyLimits.eventCharsMax) return
    this.#gaveUp = true
    this.#pending = []
    this.#pendingBytes = 0
    this.#deps.onGaveUp()
  }
}

/** Events that say nothing. */
const emptyEvents = { chat: '{"choices":[]}', responses: '{"type":"response.none"}' } as const

/** Comments are no events. */
function hasData(events: Buffer): boolean {
  return events.indexOf('data') === 0 || events.includes('\ndata') || events.includes('\rdata')
}

function read(data: string): SseEvent {
  if (data.trim() === '[DONE]') return { is: 'done' }
  try {
    return { is: 'json', value: JSON.parse(data) as unknown }
  } catch (error) {
    if (error instanceof SyntaxError) return { is: 'noise' }
    throw error
  }
}

import { createParser } from 'eventsource-parser'
import { closeJson } from './json-closer.ts'
import { proxyLimits } from './proxy-limits.ts'

/** What an event stream says: parsed JSON, or the end mark `[DONE]`, or text that is no JSON. */
export type SseEvent = { readonly is: 'json'; readonly value: unknown } | { readonly is: 'done' } | { readonly is: 'noise' }

/**
 * Reads server-sent events from bytes cut anywhere. Parses a copy of what is forwarded; nothing here delays a byte. An event
 * of more than 16 MiB ends the reading (`onGaveUp`), not the stream.
 * Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export class SseReader {
  readonly #decoder = new TextDecoder('utf-8')
  readonly #parser
  #gaveUp = false
  /** The last characters, to see a blank line at the end. */
  #end = ''
  /** Pieces of the line that has not ended yet. */
  #line: string[] = []

  constructor(onEvent: (event: SseEvent) => void, onGaveUp: () => void) {
    this.#parser = createParser({
      maxBufferSize: proxyLimits.eventCharsMax,
      onEvent: (event) => onEvent(read(event.data)),
      onError: (error) => {
        if (error.type !== 'max-buffer-size-exceeded') return
        this.#gaveUp = true
        onGaveUp()
      },
    })
  }

  take(bytes: Uint8Array): void {
    const text = this.#gaveUp ? '' : this.#decoder.decode(bytes, { stream: true })
    if (text.length === 0) return
    this.#end = (this.#end + text.slice(-4)).slice(-4)
    const lineStart = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1
    if (lineStart > 0) this.#line = []
    if (lineStart < text.length) this.#line.push(text.slice(lineStart))
    this.#parser.feed(text)
  }

  /** The stream has ended: a last event without its blank line is read too. */
  finish(): void {
    if (!this.#gaveUp) this.#parser.feed(`${this.#decoder.decode()}\n\n`)
  }

  /**
   * What ends the line and the event within which the bytes break off, so that another event can follow; '' between two
   * events. Broken JSON is closed: OpenCode asks again after JSON that it cannot parse, not after one that it cannot use.
   */
  closing(api: 'chat' | 'responses'): string {
    const line = this.#line.join('')
    if (line === '') return /[\n\r]{2}$/.test(this.#end.replace(/\r\n/g, '\n')) ? '' : '\n\n'
    if ('data:'.startsWith(line)) return `${line === 'data:' ? emptyEvents[api] : 'x'}\n\n`
    const value = /^data: ?(.*)$/s.exec(line)?.[1]
    if (value === undefined) return '\n\n'
    if (value === '') return `${emptyEvents[api]}\n\n`
    return `${'[DONE]'.startsWith(value) ? '[DONE]'.slice(value.length) : closeJson(value)}\n\n`
  }
}

/** Events that say nothing. */
const emptyEvents = { chat: '{"choices":[]}', responses: '{"type":"response.none"}' } as const

function read(data: string): SseEvent {
  if (data.trim() === '[DONE]') return { is: 'done' }
  try {
    return { is: 'json', value: JSON.parse(data) as unknown }
  } catch (error) {
    if (error instanceof SyntaxError) return { is: 'noise' }
    throw error
  }
}

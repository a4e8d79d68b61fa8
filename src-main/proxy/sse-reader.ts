import { createParser } from 'eventsource-parser'
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
  /** The last characters: whether the stream stands between two events. */
  #end = ''

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
    this.#parser.feed(text)
  }

  /** The stream has ended: a last event without its blank line is read too. */
  finish(): void {
    if (!this.#gaveUp) this.#parser.feed(`${this.#decoder.decode()}\n\n`)
  }

  /** Whether the bytes so far end with a blank line, so that another event can follow. */
  get betweenEvents(): boolean {
    return /(?:\n|\r\n|\r)(?:\n|\r\n|\r)$/.test(this.#end) && !this.#gaveUp
  }
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

import { listOf, recordOf, textOf } from '../core/preview/json-shape.ts'
import type { SseEvent } from './sse-reader.ts'

/** How a stream said that it was over. `unreadable`: in a frame that OpenCode cannot read, a completed response without usage. */
export type Terminal = 'finished' | 'failed' | 'unreadable'

/**
 * Watches a stream for its terminal frame: a finish reason (chat), a completed, incomplete or failed response (Responses), or
 * an error. `[DONE]` alone is none. Measured on OpenCode 1.18.30: after a stream without one, or after a completed
 * response without usage, it asks again at once, for ever.
 */
export class StreamEnd {
  readonly #api: 'chat' | 'responses'
  #terminal: Terminal | null = null
  #frame: Readonly<Record<string, unknown>> | null = null

  constructor(api: 'chat' | 'responses') {
    this.#api = api
  }

  get terminal(): Terminal | null {
    return this.#terminal
  }

  read(event: SseEvent): Terminal | null {
    const about = event.is === 'json' ? recordOf(event.value) : null
    const found = about === null ? null : this.#api === 'chat' ? chatTerminal(about) : responsesTerminal(about)
    if (found === null || (this.#terminal !== null && this.#terminal !== 'unreadable')) return found
    this.#terminal = found
    if (found === 'unreadable') this.#frame = about
    return found
  }

  /**
   * The frames that go behind the last event, '' if none. Without a terminal frame: an error that OpenCode does not retry, since
   * a retry would run the tools of this stream again (measured on 1.17.18, 1.18.30 and 1.18.34). For an unreadable one: the
   * same frame again with a usage of zeros for the client's eyes; our own metering keeps it as unknown.
   */
  tail(error: { readonly code: string; readonly message: string }): string {
    if (this.#terminal === 'unreadable') return this.#again()
    if (this.#terminal !== null) return ''
    const { code, message } = error
    if (this.#api === 'chat') return `data: ${JSON.stringify({ error: { message, type: 'api_error', code, param: null } })}\n\n`
    const response = { id: 'resp_incomplete', object: 'response', created_at: 0, status: 'failed', output: [], usage: null, error: { code, message } }
    // Both, in this order: 1.18 does not retry after the first (after the second alone it does), 1.17 reads only the second.
    const event = { type: 'error', sequence_number: 1, code, message, param: null, error: { type: 'api_error', code, message, param: null } }
    return frameOf('response.failed', { type: 'response.failed', sequence_number: 0, response }) + frameOf('error', event)
  }

  #again(): string {
    const usage = { input_tokens: 0, input_tokens_details: { cached_tokens: 0 }, output_tokens: 0, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 0 }
    const frame = { ...this.#frame, response: { ...recordOf(this.#frame?.['response']), output: [], usage, metadata: { usage: 'unknown' } } }
    return frameOf(String(this.#frame?.['type']), frame)
  }
}

function frameOf(name: string, value: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`
}

function chatTerminal(about: Readonly<Record<string, unknown>>): Terminal | null {
  // vLLM says it without an `error` member.
  if (about['error'] != null || about['object'] === 'error') return 'failed'
  return listOf(about['choices']).some((choice) => textOf(recordOf(choice)?.['finish_reason']) !== null) ? 'finished' : null
}

function responsesTerminal(about: Readonly<Record<string, unknown>>): Terminal | null {
  switch (about['type']) {
    case 'response.completed':
    case 'response.incomplete': return recordOf(recordOf(about['response'])?.['usage']) === null ? 'unreadable' : 'finished'
    case 'response.failed':
    case 'error': return 'failed'
    default: return null
  }
}

import type { CallOutcome, ModelCall, TextRequest } from './call.ts'
import { errorBody, type Refusal } from './errors.ts'
import type { Metered } from './metering.ts'

interface TextReplyDeps { readonly call: ModelCall; readonly text: TextRequest; readonly path: 'warm' | 'exec'; readonly nowMs: number }

/**
 * A fallback's answer on its way to the client, in the shape that the client asked for. Built from text alone: whatever else the
 * vendor's program says, no tool call comes out of here. Nothing is sent before the first text (streaming) or the end (whole).
 */
export class TextReply {
  readonly #deps: TextReplyDeps
  #model: string | null = null
  #collected = ''
  #committed = false

  constructor(deps: TextReplyDeps) {
    this.#deps = deps
  }

  /** Whether the client has got a byte of this answer: from then on there is no other one. */
  get committed(): boolean {
    return this.#committed
  }

  /** The model that answers, as the vendor names it. Counts until the first text. */
  answeredBy(model: string): void {
    if (!this.#committed) this.#model = model.slice(0, 200)
  }

  /** Takes the next piece; resolves when the client can take more. */
  async say(piece: string): Promise<void> {
    if (piece === '' || this.#gone) return
    if (!this.#deps.text.streams) { this.#collected += piece; return }
    const first = !this.#committed
    this.#commit('text/event-stream')
    await this.#write(this.#chunk(first ? { role: 'assistant', content: piece } : { content: piece }, null))
  }

  /** The answer is whole, and has a text. */
  finish(finishReason: string, metered: Metered): CallOutcome {
    if (this.#gone) return this.#clientGone(metered)
    const usage = usageOf(metered)
    if (this.#deps.text.streams) {
      const counted = usage === null || !this.#deps.text.wantsUsage ? '' : frame({ ...this.#head('chat.completion.chunk'), choices: [], usage })
      this.#deps.call.reply.end(`${this.#chunk({}, finishReason)}${counted}data: [DONE]\n\n`)
    } else {
      const body = JSON.stringify({ ...this.#head('chat.completion'), choices: [{ index: 0, message: { role: 'assistant', content: this.#collected }, finish_reason: finishReason }], ...(usage === null ? {} : { usage }) })
      this.#commit('application/json', Buffer.byteLength(body))
      this.#deps.call.reply.end(body)
    }
    return { is: 'served', path: this.#deps.path, status: 200, metered, failure: null }
  }

  /** The answer breaks off. Uncommitted: another path may try. Committed: the client reads the error behind what it has. */
  fail(refused: Refusal, failed: Extract<CallOutcome, { is: 'not-served' }>['failure'], metered: Metered): CallOutcome {
    if (this.#gone) return this.#clientGone(metered)
    if (!this.#committed) return { is: 'not-served', failure: failed, refused, final: false }
    this.#deps.call.reply.end(`data: ${errorBody(refused)}\n\n`)
    return { is: 'served', path: this.#deps.path, status: 200, metered, failure: failed }
  }

  get #gone(): boolean {
    return this.#deps.call.reply.gone
  }

  #clientGone(metered: Metered): CallOutcome {
    return { is: 'client-gone', path: this.#deps.path, metered, failure: { code: 'cancelled', message: 'The client ended the call.', todo: 'Nothing to do.' } }
  }

  #commit(contentType: string, bytes?: number): void {
    if (this.#committed) return
    this.#committed = true
    const { path, call } = this.#deps
    call.reply.begin(200, [['content-type', contentType], ['cache-control', 'no-store'], ['x-muse-proxy-path', path], ...(bytes === undefined ? [] : [['content-length', bytes] as const])])
  }

  async #write(text: string): Promise<void> {
    const { reply } = this.#deps.call
    if (reply.write(text) || reply.gone) return
    await new Promise<void>((drained) => { reply.onceDrained(drained) })
  }

  #head(object: string): Readonly<Record<string, unknown>> {
    const { call, path, nowMs } = this.#deps
    return { id: `chatcmpl-${path}-${String(call.callNumber)}`, object, created: Math.floor(nowMs / 1_000), model: this.#model ?? `unknown (${path})` }
  }

  #chunk(delta: unknown, finishReason: string | null): string {
    return frame({ ...this.#head('chat.completion.chunk'), choices: [{ index: 0, delta, finish_reason: finishReason }] })
  }
}

function frame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

/** Only what the vendor counted is said; unknown is left out, never zero. */
function usageOf({ inputTokens, outputTokens }: Metered): object | null {
  if (inputTokens === null || outputTokens === null) return null
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens }
}

import type { Dispatcher } from 'undici'
import { failure } from '../../src-preload/contract/failure.ts'
import { listOf, recordOf, textOf } from '../core/preview/json-shape.ts'
import type { CallOutcome, Fallback, ModelCall, TextRequest } from './call.ts'
import { refusal } from './errors.ts'
import { boundedText, parsedOrNull } from './json-text.ts'
import { errorMessageOf, Meter } from './metering.ts'
import { proxyLimits } from './proxy-limits.ts'
import { cleanWords } from './redaction.ts'
import { SseReader, type SseEvent } from './sse-reader.ts'
import { TextReply } from './text-reply.ts'
import type { Time } from './time.ts'
import type { WarmAccess, WarmServer } from './warm-server.ts'

export interface WarmSilence { readonly warmFirstTextMs: number; readonly warmSilentMs: number }

/**
 * The warm fallback: the vendor's own server gets the messages (and the pinned model's name, and whether to stream), nothing else; its
 * answer comes out as text. `label`: the vendor's program, as the owner named it.
 */
export function createWarmFallback(server: WarmServer, time: Time, label: () => string, silence: WarmSilence = proxyLimits): Fallback {
  return {
    path: 'warm',
    serve: async (call, text) => {
      const answering = new WarmAnswer({ call, text, time, label: label(), silence })
      const used = await server.use((access) => answering.run(access))
      return used.ok ? used.value : answering.fails(used.error.message)
    },
  }
}

interface WarmAnswerDeps { readonly call: ModelCall; readonly text: TextRequest; readonly time: Time; readonly label: string; readonly silence: WarmSilence }

/** How a text may end. */
const textEnds: ReadonlySet<unknown> = new Set(['stop', 'length', 'content_filter'])

/** Why this part of an answer belongs to no text; null if it may. Calls are refused in both their forms, and as what an answer ended for. */
function noTextAnswer(part: ReturnType<typeof recordOf>, finish: unknown): string | null {
  const calls = part?.['tool_calls']
  const callsNothing = calls == null || (Array.isArray(calls) && calls.length === 0)
  if (!callsNothing || part?.['function_call'] != null || finish === 'tool_calls' || finish === 'function_call') return 'it answered a text request with a tool call'
  return finish == null || textEnds.has(finish) ? null : 'it ended its answer for a reason that is unknown here'
}

/** One call to the vendor's server. */
class WarmAnswer {
  readonly #deps: WarmAnswerDeps
  readonly #reply: TextReply
  readonly #meter = new Meter()
  readonly #ending = new AbortController()
  #why: string | null = null
  #finish: string | null = null
  #pieces: string[] = []

  constructor(deps: WarmAnswerDeps) {
    this.#deps = deps
    this.#reply = new TextReply({ ...deps, path: 'warm', nowMs: deps.time.now() })
  }

  fails(what: string): CallOutcome {
    const message = cleanWords(`${this.#deps.label} (warm) ${what}`, this.#deps.call.grant.credential)
    return this.#reply.fail(refusal(502, 'fallback_failed', message), failure('provider-unreachable', message, 'Check the vendor’s program in Settings → Fallbacks.'), this.#meter.metered)
  }

  async run(access: WarmAccess): Promise<CallOutcome> {
    const { reply, grant } = this.#deps.call
    const end = (): void => this.#ending.abort()
    const signals = [access.gone, grant.lifetime.signal]
    reply.onClose(end)
    for (const signal of signals) signal.addEventListener('abort', end)
    if (reply.gone || signals.some(({ aborted }) => aborted)) end()
    try {
      return await this.#ask(access)
    } catch (error) {
      if (!(error instanceof Error)) throw error
      return this.fails(grant.lifetime.signal.aborted ? 'was ended: the task was stopped.' : `broke off: ${this.#why ?? error.message}`)
    } finally {
      reply.offClose(end)
      for (const signal of signals) signal.removeEventListener('abort', end)
    }
  }

  async #ask(access: WarmAccess): Promise<CallOutcome> {
    const { text, call } = this.#deps
    const quiet = this.#watchSilence()
    try {
      const body = JSON.stringify({ model: call.grant.target.modelId, messages: text.messages, stream: text.streams })
      const reply = await access.dispatcher.request({ origin: access.origin, method: 'POST', path: '/v1/chat/completions', headers: { 'content-type': 'application/json' }, body, signal: this.#ending.signal })
      const isStream = /^text\/event-stream\b/i.test(String(reply.headers['content-type'] ?? ''))
      if (reply.statusCode !== 200) {
        const words = errorMessageOf(parsedOrNull((await boundedText(reply.body, proxyLimits.vendorTextBytesMax)) ?? ''))
        return this.fails(`answered with status ${reply.statusCode}${words === null ? '' : `: ${words}`}`)
      }
      return isStream ? await this.#readStream(reply, quiet.heard) : await this.#readWhole(reply)
    } finally {
      quiet.stop()
    }
  }

  async #readWhole(reply: Dispatcher.ResponseData): Promise<CallOutcome> {
    const value = parsedOrNull((await boundedText(reply.body, proxyLimits.vendorTextBytesMax)) ?? '')
    this.#meter.read(value)
    const choice = recordOf(listOf(recordOf(value)?.['choices'])[0])
    const message = recordOf(choice?.['message'])
    const noText = noTextAnswer(message, choice?.['finish_reason'])
    if (noText !== null) return this.fails(`broke off: ${noText}`)
    const content = textOf(message?.['content']) ?? ''
    if (content === '') return this.fails(`gave no answer: ${errorMessageOf(value) ?? 'no text in it'}`)
    this.#name()
    await this.#reply.say(content)
    return this.#reply.finish(textOf(choice?.['finish_reason']) ?? 'stop', this.#meter.metered)
  }

  async #readStream(reply: Dispatcher.ResponseData, heard: () => void): Promise<CallOutcome> {
    const sse = new SseReader({ onEvent: (event) => this.#readEvent(event), onGaveUp: () => { this.#why ??= 'it sent an event that is too large' } })
    for await (const bytes of reply.body as AsyncIterable<Buffer>) {
      sse.take(bytes)
      if (this.#why !== null) { this.#ending.abort(); return this.fails(`broke off: ${this.#why}`) }
      if (await this.#flush()) heard()
    }
    sse.finish()
    if (this.#why !== null) return this.fails(`broke off: ${this.#why}`)
    await this.#flush()
    if (this.#finish === null) return this.fails('ended its stream without saying that it was finished.')
    return this.#reply.committed ? this.#reply.finish(this.#finish, this.#meter.metered) : this.fails('gave no answer: no text in it')
  }

  #readEvent(event: SseEvent): void {
    if (event.is !== 'json') return
    const about = recordOf(event.value)
    if (about?.['error'] != null) { this.#why ??= errorMessageOf(event.value) ?? 'it reported an error'; return }
    const choice = recordOf(listOf(about?.['choices'])[0])
    this.#finish = textOf(choice?.['finish_reason']) ?? this.#finish
    this.#meter.read(event.value, this.#finish !== null)
    const delta = recordOf(choice?.['delta'])
    this.#why ??= noTextAnswer(delta, choice?.['finish_reason'])
    const piece = textOf(delta?.['content'])
    if (piece !== null) this.#pieces.push(piece)
  }

  /** Says what was read; true if there was text. */
  async #flush(): Promise<boolean> {
    const text = this.#pieces.splice(0).join('')
    this.#name()
    await this.#reply.say(text)
    return text !== ''
  }

  #name(): void {
    const { modelAnswered } = this.#meter.metered
    if (modelAnswered !== null) this.#reply.answeredBy(modelAnswered)
  }

  /** Ends the call when no text comes for too long. */
  #watchSilence(): { readonly heard: () => void; readonly stop: () => void } {
    const { time, silence } = this.#deps
    const arm = (ms: number): (() => void) => time.after(ms, () => {
      this.#why = `no text came for ${ms / 1_000} s`
      this.#ending.abort()
    })
    let cancel = arm(silence.warmFirstTextMs)
    return { heard: () => { cancel(); cancel = arm(silence.warmSilentMs) }, stop: () => cancel() }
  }
}

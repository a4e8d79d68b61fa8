import type { IncomingHttpHeaders } from 'node:http'
import { Agent, type Dispatcher } from 'undici'
import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import type { CallOutcome, ModelCall } from './call.ts'
import { refusal, type Refusal } from './errors.ts'
import { IdleWatch, type DeadBy, type IdleLimits } from './idle-watch.ts'
import { proxyLimits } from './proxy-limits.ts'
import { ReplyReader } from './reply-reader.ts'
import type { Tap } from './tap.ts'
import type { Time } from './time.ts'
import { replyHeaders, upstreamHeaders, upstreamUrl } from './upstream.ts'

/** Forwards calls to their vendor, byte for byte. One pool of connections for all. */
export interface DirectPath {
  forward(call: ModelCall, tap: Tap): Promise<CallOutcome>
  close(): Promise<void>
}

/** Builds the direct path. No redirect is followed, no reply is unpacked, nothing is retried. */
export function createDirectPath(time: Time, onBroken: (error: unknown) => void, idle: IdleLimits = proxyLimits): DirectPath {
  const agent = new Agent({ connect: { timeout: proxyLimits.connectMs }, headersTimeout: 0, bodyTimeout: 0 })
  return {
    forward: (call, tap) =>
      new Promise((resolve) => {
        const forwarding = new Forwarding({ call, tap, time, idle, onBroken, resolve })
        const { origin, path } = upstreamUrl(call.grant, call.api)
        agent.dispatch({ origin, path, method: 'POST', headers: upstreamHeaders(call.request.headers, call.grant), body: call.body.bytes }, forwarding)
      }),
    close: () => agent.destroy(),
  }
}

/** Why a call ended before its reply did. */
type Cut = { readonly by: 'client' } | { readonly by: 'revoked' } | { readonly by: 'redirect' } | { readonly by: 'dead'; readonly how: DeadBy } | { readonly by: 'upstream'; readonly words: string }

interface ForwardingDeps {
  readonly call: ModelCall
  readonly tap: Tap
  readonly time: Time
  readonly idle: IdleLimits
  readonly onBroken: (error: unknown) => void
  readonly resolve: (outcome: CallOutcome) => void
}

/** One call on the direct path, from dispatch to its outcome. */
class Forwarding implements Dispatcher.DispatchHandler {
  readonly #call: ModelCall
  readonly #deps: ForwardingDeps
  readonly #watch: IdleWatch
  #controller: Dispatcher.DispatchController | null = null
  #reader: ReplyReader | null = null
  #status = 0
  #cut: Cut | null = null
  #settled = false

  constructor(deps: ForwardingDeps) {
    const { call } = deps
    this.#call = call
    this.#deps = deps
    this.#watch = new IdleWatch(deps.time, (how) => this.#end({ by: 'dead', how }), deps.idle)
    call.response.on('close', this.#onClientClose)
    call.grant.lifetime.signal.addEventListener('abort', this.#onRevoked)
    if (call.response.destroyed) this.#onClientClose()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#cut !== null) controller.abort(new Error('the call has ended'))
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200 || this.#settled) return
    this.#watch.head()
    this.#status = status
    if (status >= 300 && status < 400) { this.#end({ by: 'redirect' }); return }
    const { api, response } = this.#call
    const opaque = (headers['content-encoding'] ?? 'identity') !== 'identity'
    const { tap, onBroken } = this.#deps
    const reader = new ReplyReader({ api, status, contentType: headers['content-type'] ?? '', opaque, tap, onBroken, onEvent: () => this.#watch.event() })
    response.writeHead(status, { ...replyHeaders(headers, reader.isStream), 'x-muse-proxy-path': 'direct' })
    response.flushHeaders()
    this.#reader = reader
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return
    this.#watch.byte()
    // Where no events can be told from bytes, a byte is an event.
    if (this.#reader?.isStream !== true || this.#reader.terminal === undefined) this.#watch.event()
    const { response } = this.#call
    if (!response.write(chunk)) {
      controller.pause()
      this.#watch.pause()
      response.once('drain', () => {
        this.#watch.resume()
        controller.resume()
      })
    }
    // Node sends what was written in a next tick of its own, queued before this one: the bytes go first, then they are read.
    process.nextTick(() => this.#reader?.take(chunk))
  }

  onResponseEnd(): void {
    process.nextTick(() => this.#finish(null))
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    process.nextTick(() => this.#finish(this.#cut ?? { by: 'upstream', words: error.message }))
  }

  readonly #onClientClose = (): void => {
    if (!this.#call.response.writableFinished) this.#end({ by: 'client' })
  }

  readonly #onRevoked = (): void => this.#end({ by: 'revoked' })

  /** Ends the call from our side: the upstream is aborted at once, also when it has not been reached yet. */
  #end(cut: Cut): void {
    if (this.#settled || this.#cut !== null) return
    this.#cut = cut
    this.#controller?.abort(new Error('the call has ended'))
    process.nextTick(() => this.#finish(cut))
  }

  #finish(cut: Cut | null): void {
    if (this.#settled) return
    this.#settled = true
    this.#watch.stop()
    this.#call.response.off('close', this.#onClientClose)
    this.#call.grant.lifetime.signal.removeEventListener('abort', this.#onRevoked)
    this.#reader?.finish()
    if (this.#reader === null) this.#deps.tap.end()
    this.#deps.resolve(this.#outcome(cut))
  }

  #outcome(cut: Cut | null): CallOutcome {
    const { response } = this.#call
    const reader = this.#reader
    if (cut?.by === 'client') return { is: 'client-gone', metered: reader?.meter.metered ?? null, failure: cutFailure(cut, this.#call) }
    if (reader === null) {
      const ended = cut ?? { by: 'upstream', words: 'it answered nothing' }
      return { is: 'not-served', failure: cutFailure(ended, this.#call), refused: cutRefusal(ended, this.#call) }
    }
    const failed = this.#failureOf(reader, cut)
    // A cut that no frame can tell of is told by the connection.
    if (cut !== null && (!reader.isStream || reader.terminal === undefined)) response.destroy()
    else response.end(reader.tail({ code: 'upstream_stream_incomplete', message: failed?.message ?? 'The stream ended without its terminal frame.' }))
    return { is: 'served', path: 'direct', status: this.#status, metered: reader.meter.metered, failure: failed }
  }

  #failureOf(reader: ReplyReader, cut: Cut | null): Failure | null {
    const label = this.#call.grant.target.providerLabel
    const words = reader.errorWords === null ? '' : `: ${withoutKey(reader.errorWords, this.#call)}`
    if (this.#status >= 300) return failure('provider-refused', `${label} answered with status ${this.#status}${words}`, 'Check the model, the key and the limits of this provider in Settings.')
    if (reader.terminal === 'failed') return failure('provider-refused', `${label} ended the stream with an error${words}`, 'Try again; if it stays, check this provider in Settings.')
    // Whatever breaks behind the terminal frame changes nothing any more.
    if (cut !== null && !(reader.isStream && reader.terminal != null)) return cutFailure(cut, this.#call)
    if (reader.isStream && reader.terminal === null) return failure('provider-nonsense', `${label} ended its stream without saying that it was finished.`, 'Try again; if it stays, the provider or a gateway before it is broken.')
    return null
  }
}

function cutFailure(cut: Cut, call: ModelCall): Failure {
  const label = call.grant.target.providerLabel
  switch (cut.by) {
    case 'client': return failure('cancelled', 'The client ended the call.', 'Nothing to do.')
    case 'revoked': return failure('cancelled', 'The task was stopped.', 'Nothing to do.')
    case 'redirect': return failure('provider-refused', `${label} answered with a redirect, which is not followed.`, 'Enter the address that it redirects to as base URL in Settings, if you trust it.')
    case 'dead': return failure('provider-unreachable', `${label} ${deadWords[cut.how]}.`, 'Try again; if it stays, check the provider.')
    case 'upstream': return failure('provider-unreachable', `${label} could not be reached or broke off: ${withoutKey(cut.words, call)}`, 'Check that it is running and that its base URL in Settings is right.')
  }
}

const deadWords: Readonly<Record<DeadBy, string>> = {
  'no-answer': 'did not begin to answer in time', 'no-bytes': 'stopped sending in the middle of its answer', 'no-events': 'sent nothing but keep-alives for too long',
}

function cutRefusal(cut: Cut, call: ModelCall): Refusal {
  const { message } = cutFailure(cut, call)
  if (cut.by === 'redirect') return refusal(502, 'upstream_redirect', message)
  if (cut.by === 'revoked') return refusal(403, 'task_stopped', message)
  return cut.by === 'dead' ? refusal(504, 'upstream_timeout', message) : refusal(502, 'upstream_unreachable', message)
}

function withoutKey(text: string, call: ModelCall): string {
  return call.grant.credential === null ? text : text.replaceAll(call.grant.credential, '[key]')
}

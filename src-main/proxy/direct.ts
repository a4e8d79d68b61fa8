import type { IncomingHttpHeaders } from 'node:http'
import { Agent, type Dispatcher } from 'undici'
import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import type { CallOutcome, ModelCall } from './call.ts'
import { cutFailure, cutRefusal, type Cut } from './direct-words.ts'
import { HeldReply } from './held-reply.ts'
import { IdleWatch, type IdleLimits } from './idle-watch.ts'
import type { Metered } from './metering.ts'
import { proxyLimits } from './proxy-limits.ts'
import { cleanWords } from './redaction.ts'
import { ReplyReader } from './reply-reader.ts'
import type { Tap } from './tap.ts'
import type { Time } from './time.ts'
import { replyHeaders, upstreamHeaders, upstreamUrl } from './upstream.ts'

/** `credential`: what goes into the Authorization header, or null. `mayDeny`: a 403 `client_attestation_denied` is not answered but told as not served. */
export interface DirectOptions { readonly credential: string | null; readonly mayDeny: boolean }

/** Forwards calls to their vendor, byte for byte. One pool of connections for all. */
export interface DirectPath {
  forward(call: ModelCall, tap: Tap, options: DirectOptions): Promise<CallOutcome>
  close(): Promise<void>
}

/** Builds the direct path. No redirect is followed, no reply is unpacked, nothing is retried. */
export function createDirectPath(time: Time, onBroken: (error: unknown) => void, idle: IdleLimits = proxyLimits): DirectPath {
  const agent = new Agent({ connect: { timeout: proxyLimits.connectMs }, headersTimeout: 0, bodyTimeout: 0 })
  return {
    forward: (call, tap, options) =>
      new Promise((resolve) => {
        const forwarding = new Forwarding({ call, tap, time, idle, onBroken, resolve, ...options })
        const { origin, path } = upstreamUrl(call.grant, call.api)
        try {
          agent.dispatch({ origin, path, method: 'POST', headers: upstreamHeaders(call.request.headers, options.credential), body: call.body.bytes }, forwarding)
        } catch (error) {
          // A header or an address that cannot be sent: nothing has left.
          if (!(error instanceof Error)) throw error
          forwarding.onResponseError(null, error)
        }
      }),
    close: () => agent.destroy(),
  }
}

interface ForwardingDeps extends DirectOptions {
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
  #held: HeldReply | null = null
  #status = 0
  #sent = false
  #gathered: Buffer[] = []
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
    if (status === 403 && this.#deps.mayDeny) { this.#held = new HeldReply(headers); return }
    this.#begin(headers)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return
    this.#watch.byte()
    if (this.#held !== null) {
      this.#watch.event()
      if (!this.#held.take(chunk)) this.#letGo()
      return
    }
    // Where no events can be told from bytes, a byte is an event.
    if (this.#reader?.isStream !== true || this.#reader.terminal === undefined) this.#watch.event()
    // One read of the socket can hold hundreds of the vendor's chunks: they go on together, still within this turn of the event loop.
    if (this.#gathered.push(chunk) === 1) process.nextTick(() => this.#handOn(controller))
  }

  onResponseEnd(): void {
    if (this.#held?.deniesAttestation === true) { this.#held = null; process.nextTick(() => this.#finish({ by: 'denied' })); return }
    this.#letGo()
    this.#afterReading(() => this.#finish(null))
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#cut === null) this.#letGo()
    this.#afterReading(() => this.#finish(this.#cut ?? { by: 'upstream', words: error.message }))
  }

  /** What has come in this turn is handed on in the next tick and read in the one after that. */
  #afterReading(run: () => void): void {
    process.nextTick(() => process.nextTick(run))
  }

  #begin(headers: IncomingHttpHeaders): void {
    const { api, response } = this.#call
    const opaque = (headers['content-encoding'] ?? 'identity') !== 'identity'
    const { tap, onBroken } = this.#deps
    const { outputTokensMax } = this.#call
    const reader = new ReplyReader({ api, status: this.#status, contentType: headers['content-type'] ?? '', opaque, tap, onBroken, outputTokensMax, onEvent: () => this.#watch.event() })
    response.writeHead(this.#status, { ...replyHeaders(headers, reader.isStream), 'x-muse-proxy-path': 'direct' })
    // The head goes with the first bytes where they came with it, and by itself right after where they did not.
    process.nextTick(() => { if (!this.#sent && !response.writableEnded && !response.destroyed) response.flushHeaders() })
    this.#reader = reader
  }

  #handOn(controller: Dispatcher.DispatchController | null): void {
    if (this.#gathered.length === 0 || this.#settled) return
    const [first] = this.#gathered
    const bytes = this.#gathered.length === 1 && first !== undefined ? first : Buffer.concat(this.#gathered)
    this.#gathered = []
    if (!this.#send(bytes) && controller !== null) this.#waitForClient(controller)
    // Node sends what was written in a next tick of its own, queued before this one: the bytes go first, then they are read.
    process.nextTick(() => this.#read(bytes))
  }

  /** What was held goes on after all, as it came. */
  #letGo(): void {
    const held = this.#held
    if (held === null) return
    this.#held = null
    this.#begin(held.headers)
    this.#send(held.bytes)
    process.nextTick(() => this.#read(held.bytes))
  }

  #send(chunk: Buffer): boolean {
    this.#sent = true
    return this.#call.response.write(chunk)
  }

  #read(chunk: Buffer): void {
    this.#reader?.take(chunk)
    if (this.#reader?.overCap === true && this.#reader.terminal === null) this.#end({ by: 'budget' })
  }

  #waitForClient(controller: Dispatcher.DispatchController): void {
    controller.pause()
    this.#watch.pause()
    this.#call.response.once('drain', () => {
      this.#watch.resume()
      controller.resume()
    })
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
    const { credential } = this.#deps
    const reader = this.#reader
    if (cut?.by === 'client') return { is: 'client-gone', path: 'direct', metered: reader?.meter.metered ?? null, failure: cutFailure(cut, this.#call, credential) }
    if (reader === null) {
      const ended = cut ?? { by: 'upstream', words: 'it answered nothing' }
      return { is: 'not-served', failure: cutFailure(ended, this.#call, credential), refused: cutRefusal(ended, this.#call, credential), final: ended.by === 'revoked', ...this.#nothingUsed(ended) }
    }
    const failed = this.#failureOf(reader, cut)
    // A cut that no frame can tell of is told by the connection.
    if (cut !== null && (!reader.isStream || reader.terminal === undefined)) response.destroy()
    else response.end(reader.tail({ code: cut?.by === 'budget' ? 'budget_exhausted' : 'upstream_stream_incomplete', message: failed?.message ?? 'The stream ended without its terminal frame.' }))
    return { is: 'served', path: 'direct', status: this.#status, metered: this.#metered(reader.meter.metered), failure: failed }
  }

  /** What never left, and what the vendor refused (4xx), has used nothing; that is known, not assumed. */
  #metered(reported: Metered): Metered {
    const refused = this.#status >= 400 && this.#status < 500
    return refused ? { ...reported, inputTokens: reported.inputTokens ?? 0, outputTokens: reported.outputTokens ?? 0 } : reported
  }

  #nothingUsed(cut: Cut): { readonly metered?: Metered } {
    const unused = this.#controller === null || cut.by === 'denied' || cut.by === 'redirect'
    return unused ? { metered: { modelAnswered: null, inputTokens: 0, outputTokens: 0 } } : {}
  }

  #failureOf(reader: ReplyReader, cut: Cut | null): Failure | null {
    const label = this.#call.grant.target.providerLabel
    const words = reader.errorWords === null ? '' : `: ${cleanWords(reader.errorWords, this.#deps.credential, this.#call.grant.credential)}`
    if (this.#status >= 300) return failure('provider-refused', `${label} answered with status ${this.#status}${words}`, 'Check the model, the key and the limits of this provider in Settings.')
    if (reader.terminal === 'failed') return failure('provider-refused', `${label} ended the stream with an error${words}`, 'Try again; if it stays, check this provider in Settings.')
    // Whatever breaks behind the terminal frame changes nothing any more.
    if (cut !== null && !(reader.isStream && reader.terminal != null)) return cutFailure(cut, this.#call, this.#deps.credential)
    if (reader.isStream && reader.terminal === null) return failure('provider-nonsense', `${label} ended its stream without saying that it was finished.`, 'Try again; if it stays, the provider or a gateway before it is broken.')
    return null
  }
}

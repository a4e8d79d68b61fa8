import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import type { CallWaits } from '../../src-preload/contract/task.ts'
import { nothingUsed, type CallOutcome, type ModelCall } from './call.ts'
import { cutFailure, cutRefusal, type Cut } from './direct-words.ts'
import { HeldReply } from './held-reply.ts'
import type { Fields } from './http1/fields.ts'
import type { ReplyHandler } from './http1/vendor-connection.ts'
import { VendorPool, type OpenRequest } from './http1/vendor-pool.ts'
import type { Revocable } from './grants.ts'
import { IdleWatches, type IdleLimits, type IdleWatch } from './idle-watch.ts'
import type { Metered } from './metering.ts'
import { proxyLimits } from './proxy-limits.ts'
import { cleanWords } from './redaction.ts'
import { ReplyProgress } from './reply-progress.ts'
import { ReplyReader } from './reply-reader.ts'
import { retryAfterMs } from './retry-after.ts'
import type { Tap } from './tap.ts'
import type { Time } from './time.ts'
import { replyLines, upstreamHead } from './upstream.ts'

/** `mayDeny`: a 403 `client_attestation_denied` is not answered but told as not served. `onWaits`: what is waited for has changed, once the reply has begun. `tap`: makes the tap of a stream. */
export interface DirectOptions { mayDeny(): boolean; onWaits(waits: CallWaits): void; tap(): Tap }

/** Forwards calls to their vendor, byte for byte. One pool of connections for all. */
export interface DirectPath {
  /** `credential`: what goes into the Authorization header, or null. */
  forward(call: ModelCall, credential: string | null, options: DirectOptions): Promise<CallOutcome>
  close(): void
}

/** Builds the direct path. No redirect is followed, no reply is unpacked, nothing is retried. */
export function createDirectPath(time: Time, onBroken: (error: unknown) => void, idle: IdleLimits = proxyLimits): DirectPath {
  const pool = new VendorPool(time, proxyLimits.connectMs)
  const watches = new IdleWatches(time, idle)
  const shared = { time, watches, progress: new ReplyProgress(time, watches, idle.quietMs ?? proxyLimits.quietMs), pool, onBroken }
  return {
    forward: (call, credential, options) => new Promise((resolve) => { new Forwarding(shared, call, credential, options, resolve).start() }),
    close: () => { pool.close() },
  }
}

/** What all calls have in common. */
interface Shared { readonly time: Time; readonly watches: IdleWatches; readonly progress: ReplyProgress; readonly pool: VendorPool; readonly onBroken: (error: unknown) => void }

/** One call on the direct path, from dispatch to its outcome. */
class Forwarding implements ReplyHandler, Revocable {
  place = 0
  readonly #shared: Shared
  readonly #call: ModelCall
  readonly #credential: string | null
  readonly #options: DirectOptions
  readonly #resolve: (outcome: CallOutcome) => void
  #watch: IdleWatch | null = null
  #retryAfterMs: number | null = null
  #sending: OpenRequest | null = null
  #reader: ReplyReader | null = null
  #held: HeldReply | null = null
  #status = 0
  #cut: Cut | null = null
  #settled = false

  constructor(shared: Shared, call: ModelCall, credential: string | null, options: DirectOptions, resolve: (outcome: CallOutcome) => void) {
    this.#shared = shared
    this.#call = call
    this.#credential = credential
    this.#options = options
    this.#resolve = resolve
    call.reply.onClose(this.#onClientClose)
    call.grant.calls.add(this)
  }

  /** Sends the request, unless its client has gone already. */
  start(): void {
    const { grant: { endpoint, lifetime }, fields, body, reply } = this.#call
    if (reply.gone) { this.#onClientClose(); return }
    if (lifetime.signal.aborted) { this.revoked(); return }
    const head = upstreamHead(endpoint, fields, this.#credential, body.bytes.length)
    if (head === null) this.#end({ by: 'upstream', words: 'its key has characters that cannot be sent' })
    else {
      this.#sending = this.#shared.pool.send({ lane: endpoint.lane, head, body: body.bytes }, this)
      // What need not stand before the request comes behind it.
      this.#watch = this.#shared.watches.watch((how) => this.#end({ by: 'dead', how }))
    }
  }

  revoked(): void {
    this.#end({ by: 'revoked' })
  }

  onHead(status: number, fields: Fields): void {
    this.#watch?.head()
    this.#status = status
    if (status >= 400) this.#retryAfterMs = retryAfterMs(fields, this.#shared.time.now())
    if (status >= 300 && status < 400) this.#end({ by: 'redirect' })
    else if (status === 403 && this.#options.mayDeny()) this.#held = new HeldReply(fields)
    else this.#begin(fields)
  }

  onBytes(bytes: Buffer): void {
    if (this.#settled) return
    this.#watch?.byte()
    if (this.#held !== null) {
      this.#watch?.event()
      if (!this.#held.take(bytes)) this.#letGo()
      return
    }
    // Where no events can be told from bytes, a byte is an event.
    if (this.#reader?.isStream !== true || this.#reader.terminal === undefined) this.#watch?.event()
    this.#handOn(bytes)
  }

  onEnd(): void {
    if (this.#held?.deniesAttestation === true) { this.#held = null; this.#finish({ by: 'denied' }); return }
    this.#letGo()
    this.#finish(null)
  }

  onError(error: Error): void {
    this.#letGo()
    const words = error.message === '' ? ((error as NodeJS.ErrnoException).code ?? error.name) : error.message
    process.nextTick(() => { this.#finish({ by: 'upstream', words }) })
  }

  onHeadAlone(): void {
    if (this.#held === null) this.#call.reply.flush()
  }

  #begin(fields: Fields): void {
    const { api, reply, bound } = this.#call
    const coding = fields.has('content-encoding') ? fields.all('content-encoding').join(',').toLowerCase() : ''
    const reader = new ReplyReader({
      api, status: this.#status, contentType: fields.all('content-type')[0] ?? '', opaque: coding !== '' && coding !== 'identity', tap: () => this.#options.tap(), onBroken: this.#shared.onBroken, bound,
      onEvent: () => this.#watch?.event(),
    })
    reply.beginWith(this.#status, replyLines(fields, reader.isStream))
    this.#reader = reader
    this.#call.body.letGo()
    this.#watch?.begun((waits) => { this.#options.onWaits(waits) })
    this.#shared.progress.begun()
  }

  /** Bytes go first; then they are read. */
  #handOn(bytes: Buffer): void {
    if (!this.#call.reply.write(bytes)) this.#waitForClient()
    this.#read(bytes)
  }

  /** What was held goes on after all, as it came. */
  #letGo(): void {
    const held = this.#held
    if (held === null) return
    this.#held = null
    this.#begin(held.fields)
    this.#handOn(held.bytes)
  }

  #read(chunk: Buffer): void {
    this.#reader?.take(chunk)
    if (this.#reader?.overCap === true && this.#reader.terminal === null) this.#end({ by: 'budget' })
  }

  #waitForClient(): void {
    if (this.#call.reply.gone) return
    this.#sending?.pause()
    this.#watch?.pause()
    this.#call.reply.onceDrained(() => {
      this.#watch?.resume()
      this.#sending?.resume()
    })
  }

  readonly #onClientClose = (): void => this.#end({ by: 'client' })

  /** Ends the call from our side: the upstream is aborted at once, also when it has not been reached yet. */
  #end(cut: Cut): void {
    if (this.#settled || this.#cut !== null) return
    this.#cut = cut
    this.#sending?.abort()
    process.nextTick(() => this.#finish(cut))
  }

  #finish(cut: Cut | null): void {
    if (this.#settled) return
    this.#settled = true
    this.#watch?.stop()
    this.#call.reply.offClose(this.#onClientClose)
    this.#call.grant.calls.remove(this)
    this.#reader?.finish()
    this.#resolve(this.#outcome(cut))
  }

  #outcome(cut: Cut | null): CallOutcome {
    const { reply } = this.#call
    const credential = this.#credential
    const reader = this.#reader
    if (cut?.by === 'client') return { is: 'client-gone', path: 'direct', metered: reader === null ? this.#nothingUsed(cut).metered ?? null : this.#metered(reader.meter.metered), failure: cutFailure(cut, this.#call, credential) }
    if (reader === null) {
      const ended = cut ?? { by: 'upstream', words: 'it answered nothing' }
      return { is: 'not-served', failure: cutFailure(ended, this.#call, credential), refused: cutRefusal(ended, this.#call, credential), final: ended.by === 'revoked', ...this.#nothingUsed(ended) }
    }
    const failed = this.#failureOf(reader, cut)
    // A cut that no frame can tell of is told by the connection.
    if (cut !== null && (!reader.isStream || reader.terminal === undefined)) reply.destroy()
    else reply.end(reader.tail({ code: cut?.by === 'budget' ? 'budget_exhausted' : 'upstream_stream_incomplete', message: failed?.message ?? 'The stream ended without its terminal frame.' }))
    return { is: 'served', path: 'direct', status: this.#status, metered: this.#metered(reader.meter.metered), failure: failed, ...(this.#retryAfterMs === null ? {} : { retryAfterMs: this.#retryAfterMs }) }
  }

  /** What never left, and what the vendor refused (4xx), has used nothing; that is known, not assumed. */
  #metered(reported: Metered): Metered {
    return this.#refused ? { ...reported, inputTokens: reported.inputTokens ?? 0, outputTokens: reported.outputTokens ?? 0 } : reported
  }

  #nothingUsed(cut: Cut): { readonly metered?: Metered } {
    const unused = this.#sending?.left !== true || this.#refused || cut.by === 'denied' || cut.by === 'redirect'
    return unused ? { metered: nothingUsed } : {}
  }

  get #refused(): boolean {
    return this.#status >= 400 && this.#status < 500
  }

  #failureOf(reader: ReplyReader, cut: Cut | null): Failure | null {
    const label = this.#call.grant.target.providerLabel
    const words = reader.errorWords === null ? null : cleanWords(reader.errorWords, this.#credential, this.#call.grant.credential)
    if (this.#status >= 300) return failure('provider-refused', `${label} answered with status ${this.#status}${words === null ? '' : `: ${words}`}`, 'Check the model, the key and the limits of this provider in Settings.')
    if (reader.terminal === 'failed') return failure('provider-refused', `${label} ended the stream with an error${words === null ? '' : `: ${words}`}`, 'Try again; if it stays, check this provider in Settings.')
    // Whatever breaks behind the terminal frame changes nothing any more.
    if (cut !== null && !(reader.isStream && reader.terminal != null)) return cutFailure(cut, this.#call, this.#credential)
    if (reader.isStream && reader.terminal === null) return failure('provider-nonsense', `${label} ended its stream without saying that it was finished.`, 'Try again; if it stays, the provider or a gateway before it is broken.')
    return null
  }
}

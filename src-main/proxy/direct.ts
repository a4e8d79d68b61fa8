import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import { nothingUsed, type CallOutcome, type ModelCall } from './call.ts'
import { cutFailure, cutRefusal, type Cut } from './direct-words.ts'
import { HeldReply } from './held-reply.ts'
import type { Fields } from './http1/fields.ts'
import type { ReplyHandler } from './http1/vendor-connection.ts'
import { VendorPool, type OpenRequest } from './http1/vendor-pool.ts'
import { IdleWatch, type IdleLimits } from './idle-watch.ts'
import type { Metered } from './metering.ts'
import { proxyLimits } from './proxy-limits.ts'
import { cleanWords } from './redaction.ts'
import { ReplyReader } from './reply-reader.ts'
import type { Tap } from './tap.ts'
import type { Time } from './time.ts'
import { replyFields, upstreamHead } from './upstream.ts'

/** `credential`: what goes into the Authorization header, or null. `mayDeny`: a 403 `client_attestation_denied` is not answered but told as not served. */
export interface DirectOptions { readonly credential: string | null; readonly mayDeny: () => boolean }

/** Forwards calls to their vendor, byte for byte. One pool of connections for all. */
export interface DirectPath {
  forward(call: ModelCall, tap: Tap, options: DirectOptions): Promise<CallOutcome>
  close(): void
}

/** Builds the direct path. No redirect is followed, no reply is unpacked, nothing is retried. */
export function createDirectPath(time: Time, onBroken: (error: unknown) => void, idle: IdleLimits = proxyLimits): DirectPath {
  const pool = new VendorPool(time, proxyLimits.connectMs)
  return {
    forward: (call, tap, options) => new Promise((resolve) => { new Forwarding({ call, tap, time, idle, onBroken, resolve, pool, ...options }).start() }),
    close: () => { pool.close() },
  }
}

interface ForwardingDeps extends DirectOptions {
  readonly call: ModelCall
  readonly tap: Tap
  readonly time: Time
  readonly idle: IdleLimits
  readonly pool: VendorPool
  readonly onBroken: (error: unknown) => void
  readonly resolve: (outcome: CallOutcome) => void
}

/** One call on the direct path, from dispatch to its outcome. */
class Forwarding implements ReplyHandler {
  readonly #call: ModelCall
  readonly #deps: ForwardingDeps
  #watch: IdleWatch | null = null
  #sending: OpenRequest | null = null
  #reader: ReplyReader | null = null
  #held: HeldReply | null = null
  #status = 0
  #cut: Cut | null = null
  #settled = false

  constructor(deps: ForwardingDeps) {
    const { call } = deps
    this.#call = call
    this.#deps = deps
    call.reply.on('close', this.#onClientClose)
    call.grant.onRevoked.add(this.#onRevoked)
  }

  /** Sends the request, unless its client has gone already. */
  start(): void {
    const { call: { grant: { grantId, endpoint }, fields, body, reply }, credential, pool } = this.#deps
    if (reply.gone) { this.#onClientClose(); return }
    if (this.#call.grant.lifetime.signal.aborted) { this.#onRevoked(); return }
    const head = upstreamHead(endpoint, fields, credential, body.bytes.length)
    if (head === null) this.#end({ by: 'upstream', words: 'its key has characters that cannot be sent' })
    else {
      this.#sending = pool.send({ owner: grantId, origin: endpoint.origin, head, body: body.bytes }, this)
      // What need not stand before the request comes behind it.
      this.#watch = new IdleWatch(this.#deps.time, (how) => this.#end({ by: 'dead', how }), this.#deps.idle)
    }
  }

  onHead(status: number, fields: Fields): void {
    this.#watch?.head()
    this.#status = status
    if (status >= 300 && status < 400) this.#end({ by: 'redirect' })
    else if (status === 403 && this.#deps.mayDeny()) this.#held = new HeldReply(fields)
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
    process.nextTick(() => { this.#finish(null) })
  }

  onError(error: Error): void {
    this.#letGo()
    const words = error.message === '' ? ((error as NodeJS.ErrnoException).code ?? error.name) : error.message
    process.nextTick(() => { this.#finish({ by: 'upstream', words }) })
  }

  #begin(fields: Fields): void {
    const { api, reply } = this.#call
    const coding = fields.all('content-encoding').join(',').toLowerCase()
    const { tap, onBroken } = this.#deps
    const { outputTokensMax } = this.#call
    const reader = new ReplyReader({ api, status: this.#status, contentType: fields.all('content-type')[0] ?? '', opaque: coding !== '' && coding !== 'identity', tap, onBroken, outputTokensMax, onEvent: () => this.#watch?.event() })
    reply.begin(this.#status, replyFields(fields, reader.isStream))
    this.#reader = reader
  }

  /** Bytes go first; they are read in the next tick. */
  #handOn(bytes: Buffer): void {
    if (!this.#call.reply.write(bytes)) this.#waitForClient()
    process.nextTick(() => this.#read(bytes))
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
    this.#call.reply.once('drain', () => {
      this.#watch?.resume()
      this.#sending?.resume()
    })
  }

  readonly #onClientClose = (): void => this.#end({ by: 'client' })

  readonly #onRevoked = (): void => this.#end({ by: 'revoked' })

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
    this.#call.reply.off('close', this.#onClientClose)
    this.#call.grant.onRevoked.delete(this.#onRevoked)
    this.#reader?.finish()
    if (this.#reader === null) this.#deps.tap.end()
    this.#deps.resolve(this.#outcome(cut))
  }

  #outcome(cut: Cut | null): CallOutcome {
    const { reply } = this.#call
    const { credential } = this.#deps
    const reader = this.#reader
    if (cut?.by === 'client') return { is: 'client-gone', path: 'direct', metered: reader?.meter.metered ?? null, failure: cutFailure(cut, this.#call, credential) }
    if (reader === null) {
      const ended = cut ?? { by: 'upstream', words: 'it answered nothing' }
      return { is: 'not-served', failure: cutFailure(ended, this.#call, credential), refused: cutRefusal(ended, this.#call, credential), final: ended.by === 'revoked', ...this.#nothingUsed(ended) }
    }
    const failed = this.#failureOf(reader, cut)
    // A cut that no frame can tell of is told by the connection.
    if (cut !== null && (!reader.isStream || reader.terminal === undefined)) reply.destroy()
    else reply.end(reader.tail({ code: cut?.by === 'budget' ? 'budget_exhausted' : 'upstream_stream_incomplete', message: failed?.message ?? 'The stream ended without its terminal frame.' }))
    return { is: 'served', path: 'direct', status: this.#status, metered: this.#metered(reader.meter.metered), failure: failed }
  }

  /** What never left, and what the vendor refused (4xx), has used nothing; that is known, not assumed. */
  #metered(reported: Metered): Metered {
    const refused = this.#status >= 400 && this.#status < 500
    return refused ? { ...reported, inputTokens: reported.inputTokens ?? 0, outputTokens: reported.outputTokens ?? 0 } : reported
  }

  #nothingUsed(cut: Cut): { readonly metered?: Metered } {
    const unused = this.#sending?.left !== true || cut.by === 'denied' || cut.by === 'redirect'
    return unused ? { metered: nothingUsed } : {}
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

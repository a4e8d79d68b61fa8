import { createHash } from 'node:crypto'
import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import type { CredentialExchange } from '../../src-preload/contract/settings.ts'
import type { CallWaits, ServingPath } from '../../src-preload/contract/task.ts'
import type { FromProxy } from '../core/gateway/messages.ts'
import type { Admission, AdmissionDesk } from './admission.ts'
import { answer } from './answer.ts'
import { nothingUsed, type CallOutcome, type ModelCall, type TextRequest } from './call.ts'
import type { DirectOptions, DirectPath } from './direct.ts'
import { obstacleRefusal, toolsRefusal, unfitRequest, Way, type Doctrine } from './doctrine.ts'
import { finalRefusal, refusal, type Refusal } from './errors.ts'
import type { TokenExchange } from './exchange.ts'
import { rememberRefusal, type Grant } from './grants.ts'
import type { Fields } from './http1/fields.ts'
import type { Reply } from './http1/reply.ts'
import { outputAsked, parseBody, type RequestBody } from './request-body.ts'
import { Tap } from './tap.ts'
import type { Time } from './time.ts'

export interface ServingDeps {
  readonly direct: DirectPath
  readonly exchange: TokenExchange
  /** What the owner allows now. */
  readonly doctrine: () => Doctrine
  readonly admissions: AdmissionDesk
  readonly nextCallNumber: () => number
  readonly time: Time
  readonly post: (message: FromProxy) => void
  readonly onError: (error: unknown) => void
}

/** A request on a model route, whole. `grants`: what its token opens, at least one. */
export interface ModelRequest { readonly grants: readonly [Grant, ...Grant[]]; readonly api: 'chat' | 'responses'; readonly fields: Fields; readonly body: Buffer | 'too-large' | 'too-many'; readonly reply: Reply }

/**
 * Serves one request on a model route: checks, admission, then the serving paths in order. Always answers, unless the client has gone, and tells
 * of each call's end once; a fault of our own changes nothing of that. What can be decided at once is, and the request leaves within this call.
 */
export function serveModelCall(request: ModelRequest, deps: ServingDeps): void {
  // What is kept for the fault of a call does not keep its body.
  const { reply } = request
  let serving: Serving | null = null
  const failed = (error: unknown): void => {
    deps.onError(error)
    serving?.broken()
    if (reply.begun) reply.destroy()
    else answer(reply, brokenRefusal)
  }
  try {
    serving = servingOf(request, deps)
    serving?.begin()?.catch(failed)
  } catch (error) {
    failed(error)
  }
}

const brokenRefusal = refusal(500, 'proxy_internal', 'The proxy met a fault of its own.')

/** The call that a request is; null: it is answered already. */
function servingOf({ grants, api, fields, body: bytes, reply }: ModelRequest, deps: ServingDeps): Serving | null {
  const read = parseBody(bytes)
  if (!read.ok) { answer(reply, read.error); return null }
  const body = read.value
  const grant = grantFor(grants, api, body)
  const remembered = grant.refusals.size === 0 ? undefined : grant.refusals.get(digestOf({ api, body }))
  if (remembered !== undefined) { answer(reply, remembered); return null }
  return new Serving({ callNumber: deps.nextCallNumber(), grant, api, body, sessionId: sessionIdOf(fields), bound: {}, fields, reply }, deps)
}

/** One call, from its number to its end. */
class Serving implements DirectOptions {
  readonly #deps: ServingDeps
  readonly #startedAt: number
  readonly #way: Way
  #call: ModelCall
  #ended = false

  constructor(call: ModelCall, deps: ServingDeps) {
    this.#call = call
    this.#deps = deps
    this.#startedAt = deps.time.now()
    this.#way = new Way(call, deps.doctrine)
  }

  /** Null: it is served already. */
  begin(): Promise<unknown> | null {
    const [call, way] = [this.#call, this.#way]
    const unservable = unfitRequest(call) ?? (way.obstacle === null || way.fallbacks.length > 0 ? null : obstacleRefusal(call, way, way.obstacle))
    if (unservable !== null) {
      this.#end({ outcome: { is: 'not-served', failure: failureOf(unservable), refused: unservable, final: true }, path: 'direct' })
      this.#refuse(unservable)
      return null
    }
    const { callNumber, grant, api, body } = call
    const admission = this.#deps.admissions.ask({ callNumber, taskId: grant.taskId, bot: grant.bot, model: grant.target.modelId, bodyBytes: body.bytes.length, api, streams: body.json['stream'] === true, ...outputAsked(api, body) })
    return admission instanceof Promise ? admission.then((answered) => this.#admitted(answered)) : this.#admitted(admission)
  }

  #admitted(admission: Admission | null): Promise<unknown> | null {
    if (admission === null) {
      const refused = refusal(503, 'admission_unanswered', 'The app did not say whether this call may leave.')
      // The app may have reserved all the same: its answer, when it comes, finds the call ended.
      this.#end({ outcome: { is: 'not-served', failure: failure('proxy-failed', refused.message, 'Try again; if it stays, start the app again.'), refused, final: true }, path: 'direct' })
      answer(this.#call.reply, refused)
      return null
    }
    if (!admission.admit) { this.#refuse(refusedBy(admission)); return null }
    if (admission.outputTokensMax !== undefined) this.#call = { ...this.#call, bound: admission }
    const direct = this.#serveDirect()
    return direct instanceof Promise ? direct.then((outcome) => this.#served(outcome)) : this.#served(direct)
  }

  #served(direct: CallOutcome): Promise<unknown> | null {
    if (direct.is !== 'not-served' || direct.final) { this.#finish({ outcome: direct, path: 'direct' }); return null }
    return serveOtherwise(this.#call, this.#way, direct, this.#deps).then((served) => { this.#finish(served) })
  }

  #finish(served: Served): void {
    this.#end(served)
    const { outcome, path } = served
    if (outcome.is !== 'not-served') return
    if (outcome.refused.final) rememberRefusal(this.#call.grant, digestOf(this.#call), outcome.refused)
    answer(this.#call.reply, outcome.refused, path)
  }

  #refuse(refused: Refusal): void {
    if (refused.final) rememberRefusal(this.#call.grant, digestOf(this.#call), refused)
    answer(this.#call.reply, refused)
  }

  /** A fault of our own has ended it, unless it had ended. What its vendor took of it is not known. */
  broken(): void {
    if (!this.#ended) this.#end({ outcome: { is: 'not-served', failure: failure('proxy-failed', brokenRefusal.message, 'Try again; if it stays, start the app again.'), refused: brokenRefusal, final: true }, path: 'direct' })
  }

  #end(served: Served): void {
    this.#ended = true
    const { time, post } = this.#deps
    post(endMessage(this.#call.grant, this.#call.callNumber, served, time.now() - this.#startedAt))
  }

  #serveDirect(): CallOutcome | Promise<CallOutcome> {
    const { target: { exchange }, credential } = this.#call.grant
    if (this.#way.obstacle !== null) {
      const refused = obstacleRefusal(this.#call, this.#way, this.#way.obstacle)
      return { is: 'not-served', failure: failureOf(refused), refused, final: false, metered: nothingUsed }
    }
    return exchange === undefined || credential === null ? this.#deps.direct.forward(this.#call, credential, this) : this.#exchangeAndForward(exchange, credential)
  }

  /** With what an exchange makes of the stored credential. A token that the vendor does not take is not used again. */
  async #exchangeAndForward(exchange: CredentialExchange, stored: string): Promise<CallOutcome> {
    const token = await exchangedToken(this.#call.grant, exchange, stored, this.#deps.exchange)
    if (!token.ok) return { is: 'not-served', failure: failureOf(token.refused), refused: token.refused, final: false, metered: nothingUsed }
    const outcome = await this.#deps.direct.forward(this.#call, token.value, this)
    if (outcome.is === 'served' && outcome.status === 401) this.#deps.exchange.reject(exchange, stored, token.value)
    return outcome
  }

  mayDeny(): boolean {
    return this.#call.api === 'chat' && (this.#way.ineligible?.because === 'tools' || this.#way.fallbacks.length > 0)
  }

  onWaits(waits: CallWaits): void {
    tellWaits(this.#call, waits, this.#deps)
  }

  tap(): Tap {
    const { callNumber, grant: { taskId }, api, sessionId } = this.#call
    const { time, post } = this.#deps
    return new Tap({
      api, taskId, sessionId, time,
      emit: (preview) => post({ is: 'preview', preview }),
      onBroken: (error) => post({ is: 'log', level: 'error', message: `the tap of call ${callNumber} broke: ${error instanceof Error ? error.message : 'unknown'}` }),
    })
  }
}

/** What a client is answered whose call may not leave. Final, unless the same call may leave once others have ended. */
function refusedBy({ code, message, again, passing }: Extract<Admission, { admit: false }>): Refusal {
  if (again === true) return refusal(503, code, message)
  return passing === true ? refusal(403, code, message) : finalRefusal(403, code, message)
}

/** Of a request's bytes, for what is remembered of it. Few are refused: it is made where one was, or is. */
function digestOf({ api, body: { bytes } }: Pick<ModelCall, 'api' | 'body'>): string {
  return createHash('sha256').update(api).update(bytes).digest('hex')
}

/** The grant that is pinned to the model asked for; else the first, which then refuses it. */
function grantFor(grants: readonly [Grant, ...Grant[]], api: 'chat' | 'responses', body: RequestBody): Grant {
  if (grants.length === 1) return grants[0]
  const pinned = grants.filter(({ target }) => target.modelId === body.json['model'])
  return pinned.find(({ target }) => target.api === api) ?? pinned[0] ?? grants[0]
}

/** `directLeft`: a fallback was tried after the direct call may have reached its provider. */
interface Served { readonly outcome: CallOutcome; readonly path: ServingPath; readonly directLeft?: boolean }

/** What becomes of a call that direct did not serve. */
async function serveOtherwise(call: ModelCall, way: Way, direct: Extract<CallOutcome, { is: 'not-served' }>, deps: ServingDeps): Promise<Served> {
  if (way.ineligible?.because === 'tools') {
    const { refused } = direct
    const standing = refused.final || refused.code === 'client_attestation_denied'
    return { outcome: { ...direct, refused: toolsRefusal({ code: refused.code, why: `direct cannot serve it: ${refused.message}`, standing }) }, path: 'direct' }
  }
  return way.text === null ? { outcome: direct, path: 'direct' } : serveFallback(call, way, way.text, direct, deps)
}

/** D3. Each fallback in turn, until one has begun to answer. */
async function serveFallback(call: ModelCall, way: Way, text: TextRequest, direct: Extract<CallOutcome, { is: 'not-served' }>, deps: ServingDeps): Promise<Served> {
  let last: Served = { outcome: direct, path: 'direct' }
  const words = [direct.refused.message]
  for (const fallback of way.fallbacks) {
    if (!way.fallbacks.includes(fallback)) continue
    if (call.reply.gone) return { ...last, outcome: { is: 'client-gone', path: last.path, metered: last.outcome.metered ?? null, failure: failure('cancelled', 'The client ended the call.', 'Nothing to do.') } }
    if (call.grant.lifetime.signal.aborted) break
    tellWaits(call, { for: 'fallback', since: deps.time.now() }, deps)
    const outcome = await fallback.serve(call, text)
    last = { outcome, path: fallback.path, directLeft: direct.metered === undefined }
    if (outcome.is !== 'not-served') return last
    words.push(outcome.refused.message)
  }
  if (last.outcome === direct) return last
  const message = words.join(' ')
  return { ...last, outcome: { is: 'not-served', failure: failure('provider-unreachable', message, 'Check this provider, and the vendor’s program in Settings → Fallbacks.'), refused: refusal(502, 'fallbacks_failed', message), final: false, ...(last.outcome.metered == null ? {} : { metered: last.outcome.metered }) } }
}

function tellWaits({ callNumber, grant: { taskId, bot } }: ModelCall, waits: CallWaits, { post }: ServingDeps): void {
  post({ is: 'call-progress', progress: { callNumber, taskId, bot, waits } })
}

/** What an exchange makes of the stored credential. */
async function exchangedToken({ target }: Grant, rule: CredentialExchange, stored: string, exchange: TokenExchange): Promise<{ readonly ok: true; readonly value: string } | { readonly ok: false; readonly refused: Refusal }> {
  const token = await exchange.token(rule, stored)
  if (token.ok) return token
  return { ok: false, refused: refusal(502, 'credential_exchange_failed', `The credential of ${target.providerLabel} could not be exchanged for a token: ${token.error}.`) }
}

function failureOf(refused: Refusal): Failure {
  switch (refused.code) {
    case 'credential_missing': return failure('credential-missing', refused.message, 'Enter the key of this provider in Settings.')
    case 'credential_exchange_failed': return failure('provider-unreachable', refused.message, 'Check the exchange address and the key of this provider in Settings.')
    default: return failure('provider-refused', refused.message, 'Check the task’s model and provider.')
  }
}

function sessionIdOf(fields: Fields): string | null {
  const value = fields.only('x-session-id')
  return value !== null && /^[\x21-\x7e]{1,128}$/.test(value) ? value : null
}

/** F1. What two vendors' calls used is not known where only one tells it: a call that may be charged twice has unknown tokens. */
function endMessage(grant: Grant, callNumber: number, { outcome, path, directLeft }: Served, latencyMs: number): FromProxy {
  const { metered } = outcome
  const told = directLeft === true ? null : metered
  return {
    is: 'call-ended',
    end: {
      callNumber, taskId: grant.taskId, bot: grant.bot, path: outcome.is === 'not-served' ? path : outcome.path,
      status: outcome.is === 'served' ? outcome.status : outcome.is === 'not-served' ? outcome.refused.status : null,
      modelAnswered: metered?.modelAnswered ?? null, inputTokens: told?.inputTokens ?? null, outputTokens: told?.outputTokens ?? null,
      latencyMs: Math.max(0, latencyMs), failure: outcome.failure, final: outcome.is === 'not-served' && outcome.refused.final, ...(directLeft === true ? { directLeft } : {}),
      ...(outcome.is === 'served' && outcome.retryAfterMs !== undefined ? { retryAfterMs: outcome.retryAfterMs } : {}),
    },
  }
}

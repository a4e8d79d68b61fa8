import { createHash } from 'node:crypto'
import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import type { ServingPath } from '../../src-preload/contract/task.ts'
import type { FromProxy } from '../core/gateway/messages.ts'
import type { Admission, AdmissionDesk } from './admission.ts'
import { answer } from './answer.ts'
import type { CallOutcome, ModelCall } from './call.ts'
import type { DirectPath } from './direct.ts'
import { obstacleRefusal, toolsRefusal, unfitRequest, wayOf, type Doctrine, type Way } from './doctrine.ts'
import { finalRefusal, refusal, type Refusal } from './errors.ts'
import type { TokenExchange } from './exchange.ts'
import { rememberRefusal, type Grant } from './grants.ts'
import type { Fields } from './http1/fields.ts'
import type { Reply } from './http1/reply.ts'
import { outputTokensAsked, parseBody, type RequestBody } from './request-body.ts'
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
}

/** A request on a model route, whole. `grants`: what its token opens, at least one. */
export interface ModelRequest { readonly grants: readonly [Grant, ...Grant[]]; readonly api: 'chat' | 'responses'; readonly fields: Fields; readonly body: Buffer | 'too-large'; readonly reply: Reply }

/** Serves one request on a model route: checks, admission, then the serving paths in order. Always answers, unless the client has gone. */
export async function serveModelCall({ grants, api, fields, body: bytes, reply }: ModelRequest, deps: ServingDeps): Promise<void> {
  const read = parseBody(bytes)
  if (!read.ok) { answer(reply, read.error); return }
  const body = read.value
  const grant = grantFor(grants, api, body)
  // Few bodies are refused: their digest is made where one was, or is.
  let digest: string | null = null
  const bodyDigest = (): string => (digest ??= createHash('sha256').update(api).update(body.bytes).digest('hex'))
  const remembered = grant.refusals.size === 0 ? undefined : grant.refusals.get(bodyDigest())
  if (remembered !== undefined) { answer(reply, remembered); return }
  const refuse = (refused: Refusal): void => {
    if (refused.final) rememberRefusal(grant, bodyDigest(), refused)
    answer(reply, refused)
  }
  const startedAt = deps.time.now()
  const callNumber = deps.nextCallNumber()
  const end = (outcome: CallOutcome, path: ServingPath = 'direct'): void => deps.post(endMessage(grant, callNumber, outcome, path, deps.time.now() - startedAt))
  const asked: ModelCall = { callNumber, grant, api, body, sessionId: sessionIdOf(fields), outputTokensMax: null, fields, reply }
  const way = wayOf(asked, deps.doctrine())
  const unservable = unfitRequest(asked) ?? (way.obstacle === null || way.fallbacks.length > 0 ? null : obstacleRefusal(asked, way, way.obstacle))
  if (unservable !== null) {
    end({ is: 'not-served', failure: failureOf(unservable), refused: unservable, final: true })
    refuse(unservable)
    return
  }
  const admission = await deps.admissions.ask({ callNumber, taskId: grant.taskId, bot: grant.bot, model: grant.target.modelId, bodyBytes: body.bytes.length, api, streams: body.json['stream'] === true, outputTokensAsked: outputTokensAsked(body) })
  if (admission === null) {
    const refused = refusal(503, 'admission_unanswered', 'The app did not say whether this call may leave.')
    // The app may have reserved all the same: its answer, when it comes, finds the call ended.
    end({ is: 'not-served', failure: failure('proxy-failed', refused.message, 'Try again; if it stays, start the app again.'), refused, final: true })
    answer(reply, refused)
    return
  }
  if (!admission.admit) { refuse(finalRefusal(403, admission.code, admission.message)); return }
  const { outcome, path } = await serveAdmitted(admitted(asked, admission), way, deps)
  end(outcome, path)
  if (outcome.is === 'not-served') {
    if (outcome.refused.final) rememberRefusal(grant, bodyDigest(), outcome.refused)
    answer(reply, outcome.refused, path)
  }
}

/** The grant that is pinned to the model asked for; else the first, which then refuses it. */
function grantFor(grants: readonly [Grant, ...Grant[]], api: 'chat' | 'responses', body: RequestBody): Grant {
  const pinned = grants.filter(({ target }) => target.modelId === body.json['model'])
  return pinned.find(({ target }) => target.api === api) ?? pinned[0] ?? grants[0]
}

function admitted(call: ModelCall, admission: Extract<Admission, { admit: true }>): ModelCall {
  return { ...call, outputTokensMax: admission.outputTokensMax ?? null }
}

interface Served { readonly outcome: CallOutcome; readonly path: ServingPath }

async function serveAdmitted(call: ModelCall, way: Way, deps: ServingDeps): Promise<Served> {
  const direct = await serveDirect(call, way, deps)
  if (direct.is !== 'not-served' || direct.final) return { outcome: direct, path: 'direct' }
  if (way.ineligible?.because === 'tools') {
    const { refused } = direct
    const standing = refused.final || refused.code === 'client_attestation_denied'
    return { outcome: { ...direct, refused: toolsRefusal({ code: refused.code, why: `direct cannot serve it: ${refused.message}`, standing }) }, path: 'direct' }
  }
  return way.text === null || way.fallbacks.length === 0 ? { outcome: direct, path: 'direct' } : serveFallback(call, way, direct)
}

/** D3. Each fallback in turn, until one has begun to answer. */
async function serveFallback(call: ModelCall, { text, fallbacks }: Way, direct: Extract<CallOutcome, { is: 'not-served' }>): Promise<Served> {
  let last: Served = { outcome: direct, path: 'direct' }
  const words = [direct.refused.message]
  for (const fallback of text === null ? [] : fallbacks) {
    if (call.reply.gone) return { outcome: { is: 'client-gone', path: last.path, metered: null, failure: failure('cancelled', 'The client ended the call.', 'Nothing to do.') }, path: last.path }
    if (call.grant.lifetime.signal.aborted) break
    const outcome = text === null ? direct : await fallback.serve(call, text)
    last = { outcome, path: fallback.path }
    if (outcome.is !== 'not-served') return last
    words.push(outcome.refused.message)
  }
  const message = words.join(' ')
  return { path: last.path, outcome: { is: 'not-served', failure: failure('provider-unreachable', message, 'Check this provider, and the vendor’s program in Settings → Fallbacks.'), refused: refusal(502, 'fallbacks_failed', message), final: false } }
}

async function serveDirect(call: ModelCall, way: Way, deps: ServingDeps): Promise<CallOutcome> {
  const { grant, sessionId, api, callNumber } = call
  if (way.obstacle !== null) {
    const refused = obstacleRefusal(call, way, way.obstacle)
    return { is: 'not-served', failure: failureOf(refused), refused, final: false }
  }
  const credential = await bearerOf(grant, deps.exchange)
  if (!credential.ok) return { is: 'not-served', failure: failureOf(credential.refused), refused: credential.refused, final: false }
  const tap = new Tap({
    api, taskId: grant.taskId, sessionId, time: deps.time,
    emit: (preview) => deps.post({ is: 'preview', preview }),
    onBroken: (error) => deps.post({ is: 'log', level: 'error', message: `the tap of call ${callNumber} broke: ${error instanceof Error ? error.message : 'unknown'}` }),
  })
  const mayDeny = api === 'chat' && (way.ineligible?.because === 'tools' || way.fallbacks.length > 0)
  const outcome = await deps.direct.forward(call, tap, { credential: credential.value, mayDeny })
  const { target: { exchange }, credential: stored } = grant
  if (exchange !== undefined && stored !== null && credential.value !== null && outcome.is === 'served' && outcome.status === 401) deps.exchange.reject(exchange, stored, credential.value)
  return outcome
}

/** What goes into the Authorization header: the stored credential, or what an exchange makes of it. */
async function bearerOf(grant: Grant, exchange: TokenExchange): Promise<{ readonly ok: true; readonly value: string | null } | { readonly ok: false; readonly refused: Refusal }> {
  const { target, credential } = grant
  if (target.exchange === undefined || credential === null) return { ok: true, value: credential }
  const token = await exchange.token(target.exchange, credential)
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

function endMessage(grant: Grant, callNumber: number, outcome: CallOutcome, path: ServingPath, latencyMs: number): FromProxy {
  const { metered } = outcome
  return {
    is: 'call-ended',
    end: {
      callNumber, taskId: grant.taskId, bot: grant.bot, path: outcome.is === 'not-served' ? path : outcome.path,
      status: outcome.is === 'served' ? outcome.status : outcome.is === 'not-served' ? outcome.refused.status : null,
      modelAnswered: metered?.modelAnswered ?? null, inputTokens: metered?.inputTokens ?? null, outputTokens: metered?.outputTokens ?? null,
      latencyMs: Math.max(0, latencyMs), failure: outcome.failure, final: outcome.is === 'not-served' && outcome.refused.final,
    },
  }
}

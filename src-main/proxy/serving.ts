import { createHash } from 'node:crypto'
import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import type { CredentialExchange } from '../../src-preload/contract/settings.ts'
import type { ServingPath } from '../../src-preload/contract/task.ts'
import type { FromProxy } from '../core/gateway/messages.ts'
import type { Admission, AdmissionDesk } from './admission.ts'
import { answer } from './answer.ts'
import { nothingUsed, type CallOutcome, type ModelCall } from './call.ts'
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
  const end = (outcome: CallOutcome, path: ServingPath = 'direct', directLeft = false): void => deps.post(endMessage(grant, callNumber, { outcome, path, directLeft }, deps.time.now() - startedAt))
  const asked: ModelCall = { callNumber, grant, api, body, sessionId: sessionIdOf(fields), outputTokensMax: null, fields, reply }
  const way = wayOf(asked, deps.doctrine())
  const unservable = unfitRequest(asked) ?? (way.obstacle === null || way.fallbacks.length > 0 ? null : obstacleRefusal(asked, way, way.obstacle))
  if (unservable !== null) {
    end({ is: 'not-served', failure: failureOf(unservable), refused: unservable, final: true })
    refuse(unservable)
    return
  }
  const answered = deps.admissions.ask({ callNumber, taskId: grant.taskId, bot: grant.bot, model: grant.target.modelId, bodyBytes: body.bytes.length, api, streams: body.json['stream'] === true, outputTokensAsked: outputTokensAsked(body) })
  const admission = answered instanceof Promise ? await answered : answered
  if (admission === null) {
    const refused = refusal(503, 'admission_unanswered', 'The app did not say whether this call may leave.')
    // The app may have reserved all the same: its answer, when it comes, finds the call ended.
    end({ is: 'not-served', failure: failure('proxy-failed', refused.message, 'Try again; if it stays, start the app again.'), refused, final: true })
    answer(reply, refused)
    return
  }
  if (!admission.admit) { refuse(finalRefusal(403, admission.code, admission.message)); return }
  const { outcome, path, directLeft } = await serveAdmitted(admitted(asked, admission), way, deps)
  end(outcome, path, directLeft)
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

/** `directLeft`: a fallback was tried after the direct call may have reached its provider. */
interface Served { readonly outcome: CallOutcome; readonly path: ServingPath; readonly directLeft?: boolean }

async function serveAdmitted(call: ModelCall, way: Way, deps: ServingDeps): Promise<Served> {
  const direct = await serveDirect(call, way, deps)
  if (direct.is !== 'not-served' || direct.final) return { outcome: direct, path: 'direct' }
  if (way.ineligible?.because === 'tools') {
    const { refused } = direct
    const standing = refused.final || refused.code === 'client_attestation_denied'
    return { outcome: { ...direct, refused: toolsRefusal({ code: refused.code, why: `direct cannot serve it: ${refused.message}`, standing }) }, path: 'direct' }
  }
  return way.text === null || way.fallbacks.length === 0 ? { outcome: direct, path: 'direct' } : { ...(await serveFallback(call, way, direct)), directLeft: direct.metered === undefined }
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
  const { target: { exchange }, credential: stored } = grant
  if (way.obstacle !== null) {
    const refused = obstacleRefusal(call, way, way.obstacle)
    return { is: 'not-served', failure: failureOf(refused), refused, final: false, metered: nothingUsed }
  }
  const exchanged = exchange === undefined || stored === null ? null : await exchangedToken(grant, exchange, stored, deps.exchange)
  const credential = exchanged ?? { ok: true as const, value: stored }
  if (!credential.ok) return { is: 'not-served', failure: failureOf(credential.refused), refused: credential.refused, final: false, metered: nothingUsed }
  const tap = new Tap({
    api, taskId: grant.taskId, sessionId, time: deps.time,
    emit: (preview) => deps.post({ is: 'preview', preview }),
    onBroken: (error) => deps.post({ is: 'log', level: 'error', message: `the tap of call ${callNumber} broke: ${error instanceof Error ? error.message : 'unknown'}` }),
  })
  const mayDeny = (): boolean => api === 'chat' && (way.ineligible?.because === 'tools' || way.fallbacks.length > 0)
  const outcome = await deps.direct.forward(call, tap, { credential: credential.value, mayDeny })
  if (exchange !== undefined && stored !== null && credential.value !== null && outcome.is === 'served' && outcome.status === 401) deps.exchange.reject(exchange, stored, credential.value)
  return outcome
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
    },
  }
}

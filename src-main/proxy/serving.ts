import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import type { FromProxy } from '../core/gateway/messages.ts'
import type { AdmissionDesk } from './admission.ts'
import { answer } from './answer.ts'
import type { CallOutcome, Fallback, ModelCall } from './call.ts'
import type { DirectPath } from './direct.ts'
import { finalRefusal, refusal, type Refusal } from './errors.ts'
import { rememberRefusal, type Grant } from './grants.ts'
import { readBody } from './request-body.ts'
import { Tap } from './tap.ts'
import type { Time } from './time.ts'
import { carriesTools } from './tools-gate.ts'

export interface ServingDeps {
  readonly direct: DirectPath
  /** In order of preference; tried for text-only chat calls, and only before the first byte of an answer. */
  readonly fallbacks: readonly Fallback[]
  readonly directEnabled: boolean
  readonly admissions: AdmissionDesk
  readonly nextCallNumber: () => number
  readonly time: Time
  readonly post: (message: FromProxy) => void
}

/** Serves one request on a model route: checks, admission, then the serving paths in order. Always answers, unless the client has gone. */
export async function serveModelCall(grant: Grant, api: 'chat' | 'responses', request: IncomingMessage, response: ServerResponse, deps: ServingDeps): Promise<void> {
  const read = await readBody(request)
  if (read === null) return
  if (!read.ok) { answer(response, read.error); return }
  const body = read.value
  const bodyDigest = createHash('sha256').update(api).update(body.bytes).digest('hex')
  const remembered = grant.refusals.get(bodyDigest)
  if (remembered !== undefined) { answer(response, remembered); return }
  const refuse = (refused: Refusal): void => {
    rememberRefusal(grant, bodyDigest, refused)
    answer(response, refused)
  }
  const startedAt = deps.time.now()
  const callNumber = deps.nextCallNumber()
  const end = (outcome: CallOutcome): void => deps.post(endMessage(grant, callNumber, outcome, deps.time.now() - startedAt))
  const call: ModelCall = { callNumber, grant, api, body, sessionId: sessionIdOf(request), request, response }
  const obstacle = notDirect(call, deps)
  const unservable = unfitRequest(call) ?? (mayFallBack(call, deps) ? null : obstacle)
  if (unservable !== null) {
    end({ is: 'not-served', failure: failureOf(unservable), refused: unservable })
    refuse(unservable)
    return
  }
  const admission = await deps.admissions.ask({ callNumber, taskId: grant.taskId, bot: grant.bot, model: grant.target.modelId, bodyBytes: body.bytes.length, api })
  if (admission === null) {
    const refused = refusal(503, 'admission_unanswered', 'The app did not say whether this call may leave.')
    // The app may have reserved all the same: its answer, when it comes, finds the call ended.
    end({ is: 'not-served', failure: failure('proxy-failed', refused.message, 'Try again; if it stays, start the app again.'), refused })
    answer(response, refused)
    return
  }
  if (!admission.admit) { refuse(finalRefusal(403, admission.code, admission.message)); return }
  const outcome = await serveAdmitted(call, obstacle, deps)
  end(outcome)
  if (outcome.is === 'not-served') answer(response, outcome.refused)
}

async function serveAdmitted(call: ModelCall, obstacle: Refusal | null, deps: ServingDeps): Promise<CallOutcome> {
  const { grant, sessionId, api, callNumber } = call
  const tap = new Tap({
    api, taskId: grant.taskId, sessionId, time: deps.time,
    emit: (preview) => deps.post({ is: 'preview', preview }),
    onBroken: (error) => deps.post({ is: 'log', level: 'error', message: `the tap of call ${callNumber} broke: ${error instanceof Error ? error.message : 'unknown'}` }),
  })
  let outcome: CallOutcome = obstacle === null ? await deps.direct.forward(call, tap) : { is: 'not-served', failure: failureOf(obstacle), refused: obstacle }
  if (!mayFallBack(call, deps)) return outcome
  for (const fallback of deps.fallbacks) {
    if (outcome.is !== 'not-served') break
    outcome = await fallback.serve(call)
  }
  return outcome
}

/** Only text-only chat calls may, and only where a fallback is turned on. */
function mayFallBack(call: ModelCall, deps: ServingDeps): boolean {
  return call.api === 'chat' && deps.fallbacks.length > 0 && !carriesTools(call.body.json)
}

/** Why a request is not one that its grant allows; null if it is. */
function unfitRequest(call: ModelCall): Refusal | null {
  const { target } = call.grant
  if (target.api !== call.api) return finalRefusal(404, 'api_not_offered', `This task uses the ${target.api === 'chat' ? 'chat completions' : 'responses'} API of ${target.providerLabel}.`)
  const asked = call.body.json['model']
  if (asked !== target.modelId) return finalRefusal(403, 'model_not_pinned', `This task is pinned to the model ${target.modelId}; the request asks for ${typeof asked === 'string' ? asked.slice(0, 200) : 'none'}.`)
  return null
}

/** Why a call cannot go direct, as its client is told; null if it can. Final: it stays so until the grant is given anew. */
function notDirect(call: ModelCall, deps: ServingDeps): Refusal | null {
  const { target, credential } = call.grant
  const missing = target.needsKey && credential === null
  if (!missing && deps.directEnabled) return null
  const why = missing ? `${target.providerLabel} has no key` : 'the direct path is turned off'
  const code = missing ? 'credential_missing' : 'direct_disabled'
  if (call.api === 'responses') return finalRefusal(404, code, `The responses API is served direct only, and ${why}.`)
  if (carriesTools(call.body.json)) return finalRefusal(502, 'tools_fallback_ineligible', `A request with tools is served direct or not at all, and ${why}. A fallback would turn its tool calls into prose.`)
  return finalRefusal(502, code, `This call cannot go out: ${why}, and no fallback is turned on.`)
}

function failureOf(refused: Refusal): Failure {
  const code = refused.code === 'credential_missing' ? 'credential-missing' : 'provider-refused'
  return failure(code, refused.message, refused.code === 'credential_missing' ? 'Enter the key of this provider in Settings.' : 'Check the task’s model and provider.')
}

function sessionIdOf(request: IncomingMessage): string | null {
  const value = request.headers['x-session-id']
  return typeof value === 'string' && /^[\x21-\x7e]{1,128}$/.test(value) ? value : null
}

function endMessage(grant: Grant, callNumber: number, outcome: CallOutcome, latencyMs: number): FromProxy {
  const served = outcome.is === 'served' ? outcome : null
  const metered = outcome.is === 'not-served' ? null : outcome.metered
  return {
    is: 'call-ended',
    end: {
      callNumber, taskId: grant.taskId, bot: grant.bot, path: served?.path ?? 'direct', status: served?.status ?? (outcome.is === 'not-served' ? outcome.refused.status : null),
      modelAnswered: metered?.modelAnswered ?? null, inputTokens: metered?.inputTokens ?? null, outputTokens: metered?.outputTokens ?? null,
      latencyMs: Math.max(0, latencyMs), failure: outcome.failure,
    },
  }
}

import { setTimeout as pause } from 'node:timers/promises'
import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import type { TaskId } from '../../src-preload/contract/ids.ts'
import type { MethodOutput } from '../../src-preload/contract/methods.ts'
import { err, ok, type Result } from '../../src-preload/contract/result.ts'
import type { GatewayCallEnd, Ids, Lead, ModelDirectory, ModelGateway } from '../engine/ports.ts'

const probePrefix = 'probe_'
const endWaitMs = 5_000

/** A gateway that admits Settings' own test calls: they belong to no task, carry no task content and are made by the owner's click. */
export function probeAware(gateway: ModelGateway): ModelGateway {
  return { ...bound(gateway), onAdmission: (decide) => { gateway.onAdmission((ask) => (ask.taskId.startsWith(probePrefix) ? Promise.resolve({ admit: true }) : decide(ask))) } }
}

function bound(gateway: ModelGateway): ModelGateway {
  return {
    open: (grant) => gateway.open(grant), close: (taskId) => gateway.close(taskId), onAdmission: (decide) => { gateway.onAdmission(decide) },
    onCallStarted: (listener) => { gateway.onCallStarted(listener) }, onCallProgress: (listener) => { gateway.onCallProgress(listener) }, onCallEnded: (listener) => { gateway.onCallEnded(listener) }, onPreview: (listener) => { gateway.onPreview(listener) },
  }
}

/** Makes one short real call to a provider, through the proxy like any other. Bounded to 30 s. */
export async function testProvider(deps: { readonly gateway: ModelGateway; readonly directory: ModelDirectory; readonly lead: Lead; readonly ids: Ids }, input: { readonly id: string; readonly modelId: string }): Promise<Result<MethodOutput<'provider.test'>, Failure>> {
  const target = deps.directory.resolve({ providerId: input.id, modelId: input.modelId })
  if (!target.ok) return target
  // What is tested is this provider, not what may stand in for it.
  const { fallback: _fallback, ...direct } = target.value
  const taskId = deps.ids.next('probe') as TaskId
  const ended = new Promise<GatewayCallEnd>((tell) => { deps.gateway.onCallEnded((end) => { if (end.taskId === taskId) tell(end) }) })
  const opened = await deps.gateway.open({ taskId, bot: 'lead', target: direct })
  if (!opened.ok) return opened
  try {
    const said = await deps.lead.ask({ ...opened.value, modelId: input.modelId, api: target.value.api, system: 'You are being tested. Answer with one short sentence.', messages: [{ role: 'user', content: 'Say hello.' }] }, () => undefined, AbortSignal.timeout(30_000))
    if (!said.ok) return said
    // The answer comes over a socket, word of the call's end over the process's channel, often a moment later.
    const end = await Promise.race([ended, pause(endWaitMs, null, { ref: false })])
    if (end === null) return err(failure('proxy-failed', 'The provider answered, but the model proxy did not say how the call went.', 'Try again; if it stays, start the app again.'))
    return ok({ status: end.status ?? 200, modelAnswered: end.modelAnswered, latencyMs: end.latencyMs, text: said.value.text.slice(0, 500) })
  } finally {
    await deps.gateway.close(taskId)
  }
}

import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import type { Bot, TaskId } from '../../../src-preload/contract/ids.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import { needsProviderHold } from '../../core/task/decide-brief.ts'
import type { TaskState } from '../../core/task/model.ts'
import type { Dispatcher } from '../dispatch.ts'
import type { ModelDirectory, ModelGateway, ModelTarget } from '../ports.ts'
import { isOver, type Run } from '../runs.ts'

export interface ModelAccess { readonly token: string; readonly socketPath: string; readonly target: ModelTarget }

/** The state of a task that effects work on; a missing one is a bug of the caller. */
export function stateOf(dispatcher: Dispatcher, taskId: TaskId): TaskState {
  const state = dispatcher.state(taskId)
  if (state === undefined) throw new Error(`no state of ${taskId}`)
  return state
}

/** A token and socket for one bot of one task, the same for the whole run. */
export async function modelAccess(deps: { readonly gateway: ModelGateway; readonly directory: ModelDirectory }, run: Run, state: TaskState, bot: Bot): Promise<Result<ModelAccess, Failure>> {
  if (needsProviderHold(state, bot)) return err(failure('provider-refused', 'This provider was not approved for this task.', 'Start the task again and approve it, or do this step yourself.'))
  const target = deps.directory.resolve(state.targets[bot].ref)
  if (!target.ok) return target
  if (!sameAsApproved(state, bot, target.value)) {
    return err(failure('digest-mismatch', `The provider "${target.value.providerLabel}" was changed after this task began.`, 'Stop this task and start it again, so that the provider is shown and approved as it is now.'))
  }
  const known = run.tokens.get(bot)
  // The lead's grant is opened anew at each of its turns, so that what was refused to it before a top-up is asked again.
  if (known !== undefined && bot === 'coder') return ok({ ...known, target: target.value })
  const opened = await deps.gateway.open({ taskId: state.taskId, bot, target: asApproved(state, bot, target.value) })
  if (!opened.ok) return opened
  if (isOver(run)) {
    await deps.gateway.close(state.taskId)
    return err(failure('cancelled', 'The task was stopped.', 'Nothing more happened.'))
  }
  run.tokens.set(bot, opened.value)
  return ok({ ...opened.value, target: target.value })
}

/** A2. What was approved is host, model and credential: a provider edited meanwhile is another one. */
function sameAsApproved(state: TaskState, bot: Bot, target: ModelTarget): boolean {
  const approved = state.targets[bot]
  const exchangeHost = target.exchange === undefined ? undefined : hostOf(target.exchange.url)
  if (approved.exchangeHost !== exchangeHost) return false
  return approved.demo === target.demo && (target.demo || approved.host === hostOf(target.baseUrl)) && approved.api === target.api && approved.needsKey === target.needsKey
}

/** A2. What may answer instead is part of what was approved: one that was turned on later, or changed, may not. */
function asApproved(state: TaskState, bot: Bot, target: ModelTarget): ModelTarget {
  const { fallback, ...rest } = target
  return fallback !== undefined && fallback === state.targets[bot].fallback ? target : rest
}

/** Host and port of a provider's base URL, as they are approved: with the scheme where it is not encrypted, so that the card says so and another one is another place. Source: the URL is of the owner's settings, checked by schema. */
export function hostOf(baseUrl: string): string {
  const { 1: plain, 2: host } = /^http(?:(:\/\/)|s:\/\/)(?:[^/@]*@)?([^/?#]+)/.exec(baseUrl) ?? []
  return host === undefined ? baseUrl : plain === undefined ? host : `http://${host}`
}

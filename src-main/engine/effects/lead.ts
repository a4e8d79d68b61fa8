import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { Brief } from '../../../src-preload/contract/task.ts'
import { leadAnswerSchema, leadBriefSchema, leadReviewSchema, parseLead, type LeadSchema } from '../../core/lead/parse.ts'
import { answerPrompt, briefPrompt, correctionText, reviewPrompt, type LeadMaterial, type LeadPrompt } from '../../core/lead/prompts.ts'
import { requestPayload } from '../../core/task/decide-brief.ts'
import { checkRequest, tidyBrief } from '../../core/task/words.ts'
import type { TaskState } from '../../core/task/model.ts'
import type { Dispatcher } from '../dispatch.ts'
import type { EffectHandlers } from '../outbox.ts'
import type { Lead, ModelDirectory, ModelGateway, Workspace } from '../ports.ts'
import { isOver, type Run, type Runs } from '../runs.ts'
import { modelAccess, stateOf } from './models.ts'

export interface LeadEffectDeps { readonly dispatcher: Dispatcher; readonly lead: Lead; readonly gateway: ModelGateway; readonly directory: ModelDirectory; readonly workspace: Workspace; readonly runs: Runs }

const stopped = failure('cancelled', 'The task was stopped.', 'Nothing more happened.')
const excerptCharsMax = 6_000
const diffCharsMax = 8_000

/** Effects of Bot A: each is one chat request, with at most two corrective retries when the output does not parse. */
export function leadEffects(deps: LeadEffectDeps): Pick<EffectHandlers, 'lead.brief' | 'lead.answer' | 'lead.review'> {
  return {
    'lead.brief': async (taskId) => {
      const state = stateOf(deps.dispatcher, taskId)
      const run = deps.runs.of(taskId)
      const said = await askParsed(deps, run, state, briefPrompt(state, await material(deps, state)), leadBriefSchema)
      if (!said.ok) return ok({ is: 'lead-failed', purpose: 'brief', questionId: null, failure: said.error })
      const { excerptIds, ...words } = said.value
      return ok({ is: 'brief-written', brief: await withExcerpts(deps, state, words, excerptIds) })
    },
    'lead.answer': async (taskId, effect) => {
      const state = stateOf(deps.dispatcher, taskId)
      const question = state.questions.get(effect.questionId)
      if (question === undefined) return ok(null)
      const said = await askParsed(deps, deps.runs.of(taskId), state, answerPrompt(state, question), leadAnswerSchema)
      if (!said.ok) return ok({ is: 'lead-failed', purpose: 'answer', questionId: effect.questionId, failure: said.error })
      return ok({ is: 'lead-answered', questionId: effect.questionId, answer: said.value.answer, why: said.value.why })
    },
    'lead.review': async (taskId) => {
      const state = stateOf(deps.dispatcher, taskId)
      const run = deps.runs.of(taskId)
      const diff = await deps.workspace.diff(taskId, run.lifetime.signal)
      const text = diff.ok ? diff.value.files.map((file) => file.patch ?? `(${file.change.path}: no text)`).join('\n').slice(0, diffCharsMax) : '(not available)'
      const said = await askParsed(deps, run, state, reviewPrompt(state, text), leadReviewSchema)
      if (!said.ok) return ok({ is: 'lead-failed', purpose: 'review', questionId: null, failure: said.error })
      return ok({ is: 'review-written', ...said.value })
    },
  }
}

/** The default of what the lead sees: file tree and README, secrets left out by the workspace. */
async function material(deps: LeadEffectDeps, state: TaskState): Promise<LeadMaterial> {
  const listing = state.base?.listing ?? []
  const readmePath = listing.find((path) => /^readme(\.(md|txt|rst))?$/i.test(path))
  const readme = readmePath === undefined ? null : await deps.workspace.readExcerpt(state.taskId, readmePath, excerptCharsMax)
  const facts = state.source.kind === 'folder' && state.testCommand === null ? await deps.workspace.inspect(state.source.path) : null
  return { listing, readme: readmePath !== undefined && readme?.ok === true ? { path: readmePath, text: readme.value } : null, testCommands: facts?.testCommands ?? [] }
}

/** Adds the named files while the whole brief stays within 16 KiB; what does not fit is left out, and the card shows what is in. */
async function withExcerpts(deps: LeadEffectDeps, state: TaskState, words: Omit<Brief, 'excerpts'>, ids: readonly string[]): Promise<Brief> {
  let brief: Brief = { ...words, excerpts: [] }
  for (const id of ids) {
    const content = await deps.workspace.readExcerpt(state.taskId, id, excerptCharsMax)
    if (!content.ok) continue
    const longer = tidyBrief({ ...brief, excerpts: [...brief.excerpts, { id, content: content.value }] })
    if (checkRequest(requestPayload(state, longer), limits.taskInputBytesMax).ok) brief = longer
  }
  return brief
}

async function askParsed<T>(deps: LeadEffectDeps, run: Run, state: TaskState, prompt: LeadPrompt, schema: LeadSchema<T>): Promise<Result<T, Failure>> {
  const { signal } = run.lifetime
  if (isOver(run)) return err(stopped)
  const access = await modelAccess(deps, run, state, 'lead')
  if (!access.ok) return access
  const messages: { role: 'user' | 'assistant'; content: string }[] = [{ role: 'user', content: prompt.user }]
  let problem = ''
  for (let attempt = 0; attempt <= limits.leadRetriesMax; attempt += 1) {
    if (isOver(run)) return err(stopped)
    const said = await deps.lead.ask({ socketPath: access.value.socketPath, token: access.value.token, modelId: access.value.target.ref.modelId, api: access.value.target.api, system: prompt.system, messages }, () => undefined, signal)
    if (!said.ok) return said
    const parsed = parseLead(schema, said.value.text)
    if (parsed.ok) return parsed
    problem = parsed.error
    messages.push({ role: 'assistant', content: said.value.text.slice(0, 8_000) }, { role: 'user', content: correctionText(problem) })
  }
  return err(failure('lead-unparsable', `Bot A's answer did not have the shape asked for, three times: ${problem}`, 'Do this step yourself in the room, or choose another model for Bot A.'))
}

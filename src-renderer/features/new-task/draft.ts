import { pilotBudget } from '../../../src-preload/contract/budgets.ts'
import type { FolderFacts, NewTask } from '../../../src-preload/contract/methods.ts'
import type { CommandId } from '../../../src-preload/contract/ids.ts'
import type { ProviderView, Settings } from '../../../src-preload/contract/settings.ts'
import type { BudgetLimits, CoderRuntime, ModelRef, TaskGrant } from '../../../src-preload/contract/task.ts'
import { t } from '../../i18n/text.ts'
import { anyModel, isKnownModel } from '../task-fields/model-field.tsx'
import { runtimeProblem } from '../task-fields/runtime-field.tsx'

/** A task that is being written. Kept outside of the screen, so that looking elsewhere loses nothing. */
export interface Draft {
  readonly source: 'sample' | 'folder'
  readonly path: string
  readonly title: string
  readonly requirement: string
  readonly criteria: readonly string[]
  readonly testCommand: string
  /** Ids of the proposals that were turned down; all others are taken. */
  readonly declinedMounts: readonly string[]
  readonly lead: ModelRef | null
  readonly coder: ModelRef | null
  readonly budget: BudgetLimits
  readonly grant: TaskGrant
  readonly runtime: CoderRuntime
}

export type DraftProblem = 'path' | 'title' | 'requirement' | 'criteria' | 'testCommand' | 'lead' | 'coder' | 'runtime'

/** The form as it opens. `settings` null: they have not come yet. */
export function emptyDraft(settings: Settings | null): Draft {
  return {
    source: 'folder', path: '', title: '', requirement: '', criteria: [''], testCommand: '', declinedMounts: [], lead: settings?.defaults.lead ?? null, coder: settings?.defaults.coder ?? null, budget: settings?.defaults.budget ?? pilotBudget,
    grant: settings?.defaults.grant ?? { edits: 'allow', testCommand: 'allow', otherCommands: 'ask' }, runtime: settings?.defaults.runtime ?? 'opencode-server',
  }
}

/** Fills in models that are not chosen or no longer configured. */
export function withModels(draft: Draft, views: readonly ProviderView[]): Draft {
  const any = anyModel(views)
  const keep = (ref: ModelRef | null): ModelRef | null => (isKnownModel(views, ref) ? ref : any)
  return { ...draft, lead: keep(draft.lead), coder: keep(draft.coder) }
}

/** What is wrong with a draft, by field, in words; empty when it can be sent. */
export function problemsOf(draft: Draft, facts: FolderFacts | null): Partial<Record<DraftProblem, string>> {
  const problems: Partial<Record<DraftProblem, string>> = {}
  if (draft.path.trim() === '') problems.path = t.newTask.needPath
  else if (facts === null) problems.path = t.newTask.needInspection
  else if (facts.refusal !== null) problems.path = facts.refusal.message
  if (draft.title.trim() === '') problems.title = t.newTask.needTitle
  if (draft.requirement.trim() === '') problems.requirement = t.newTask.needRequirement
  if (criteriaOf(draft).length > 20) problems.criteria = t.newTask.tooManyCriteria
  if (draft.testCommand.includes('\n')) problems.testCommand = t.newTask.oneLine
  if (draft.lead === null) problems.lead = t.newTask.needModel
  if (draft.coder === null) problems.coder = t.newTask.needModel
  const runtime = runtimeProblem(draft.runtime, draft.grant)
  if (runtime !== undefined) problems.runtime = runtime
  return problems
}

/** The criteria that were filled in. */
function criteriaOf(draft: Draft): readonly string[] {
  return draft.criteria.map((line) => line.trim()).filter((line) => line !== '')
}

/** What is sent. Null while something is missing. */
export function newTaskOf(draft: Draft, facts: FolderFacts | null, commandId: CommandId): NewTask | null {
  if (Object.keys(problemsOf(draft, facts)).length > 0 || facts === null || draft.lead === null || draft.coder === null) return null
  const testCommand = draft.testCommand.trim()
  return {
    commandId, title: draft.title.trim(), requirement: draft.requirement.trim(), criteria: [...criteriaOf(draft)], testCommand: testCommand === '' ? null : testCommand,
    source: { kind: 'folder', path: facts.path, mounts: facts.proposals.filter((mount) => !draft.declinedMounts.includes(mount.id)) }, models: { lead: draft.lead, coder: draft.coder }, budget: draft.budget, grant: draft.grant, runtime: draft.runtime, revisionOf: null,
  }
}

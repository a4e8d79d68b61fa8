import { failure } from '../../../src-preload/contract/failure.ts'
import type { ApprovalId, Bot, QuestionId } from '../../../src-preload/contract/ids.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import { err } from '../../../src-preload/contract/result.ts'
import type { Brief } from '../../../src-preload/contract/task.ts'
import { makeHold } from '../approval/hold.ts'
import { canonicalJson, digestOf, utf8Bytes, wellFormed } from '../digest.ts'
import { looksLikeKey, redactKeyLooking } from '../redaction.ts'
import type { EnvelopePayload } from '../envelope/codec.ts'
import type { DecideContext, HostCommand, OwnerCommand } from './commands.ts'
import { outOfBudget, toppedUpMeanwhile, topUpWaits } from './top-up.ts'
import { closing, decided, failTask, ignored, withdrawHolds, withdrawQuestions, wrongState, type Decided } from './decision.ts'
import type { TaskEvent } from './events.ts'
import { openQuestions, type TaskState } from './model.ts'
import { post } from './post.ts'
import { sessionTitle } from './turns.ts'
import { checkRequest, tidyBrief } from './words.ts'

/** What a request takes at least beside requirement and criteria: a goal and a test command. */
const smallestBriefBytes = 512
/** A task needs its request and its result. */
const messagesNeeded = 2

/** The journal would keep another command than was written, and that one would run. */
const keyInTestCommand = err(failure('invalid-input', 'The test command holds what looks like a key. That is never kept, so another command would run.', 'Put the key into a file that the tests read, or leave it out.'))

/** A task begins. */
export function openTask(command: Extract<OwnerCommand, { is: 'open-task' }>, ctx: DecideContext): Decided {
  const { task } = command
  const requirement = wellFormed(task.requirement)
  if (utf8Bytes(canonicalJson(requirement)) + smallestBriefBytes > limits.taskInputBytesMax) return err(failure('invalid-input', 'The requirement is larger than what a bot can be sent (16 KiB).', 'Shorten it, or put details into a file of the folder.'))
  if (task.runtime === 'opencode-run' && task.grant.edits === 'ask') return err(failure('invalid-input', 'The OpenCode CLI cannot ask before each edit: “opencode run” would refuse every one by itself.', 'Allow or deny edits, or choose the OpenCode server for this task.'))
  if (task.budget.messagesMax < messagesNeeded) return err(failure('invalid-input', 'The budget allows fewer than two messages between the bots.', 'Allow at least two: the request and its result.'))
  if (looksLikeKey(task.testCommand ?? '')) return keyInTestCommand
  const testCommand = task.testCommand === null || task.testCommand.trim() === '' ? null : wellFormed(task.testCommand)
  return decided([{
    type: 'task-opened', taskId: command.taskId, title: wellFormed(task.title), requirement, criteria: task.criteria.map(wellFormed), testCommand, source: task.source,
    models: task.models, targets: command.targets, budget: task.budget, grant: task.grant, revisionOf: task.revisionOf, deadlineAt: ctx.now + task.budget.deadlineMs, versions: command.versions, scriptedOwner: command.scriptedOwner,
    ...(task.runtime === undefined ? {} : { runtime: task.runtime }),
  }], [{ kind: 'workspace.prepare' }])
}

/** The workspace stands; the lead may write the brief once its provider is cleared. */
export function workspacePrepared(state: TaskState, command: Extract<HostCommand, { is: 'workspace-prepared' }>, ctx: DecideContext): Decided {
  if (state.phase !== 'preparing') return ignored
  const { is: _, ...facts } = command
  const prepared: TaskEvent = { type: 'workspace-prepared', ...facts }
  if (needsProviderHold(state, 'lead')) return decided([prepared, providerHold(state, ctx, 'lead')])
  return decided([prepared, { type: 'lead-asked', purpose: 'brief' }], [{ kind: 'lead.brief' }])
}

/** A2. A provider that is not on this machine, or that gets a credential, takes one hold per task and bot before the first byte leaves. */
export function needsProviderHold(state: TaskState, bot: Bot): boolean {
  const target = state.targets[bot]
  return (target.remote || target.needsKey) && !state.providerCleared[bot]
}

/** The hold that names host, model, credential and cap. */
export function providerHold(state: TaskState, ctx: DecideContext, bot: Bot): TaskEvent {
  const target = state.targets[bot]
  const cap = state.budget.moneyMicroUsdMax
  const exact = canonicalJson({ host: target.host, model: target.ref.modelId, credential: target.needsKey ? target.ref.providerId : null, requestsMax: state.budget.requestsMax, tokensMax: state.budget.tokensMax, moneyMicroUsdMax: cap, ...(target.exchangeHost === undefined ? {} : { exchangeHost: target.exchangeHost }), ...(target.fallback === undefined ? {} : { fallback: target.fallback }) })
  const hold = makeHold(state.taskId, ctx.mint('apr') as ApprovalId, {
    kind: 'provider', bot, generation: state.generation, turnId: null, callId: null, subject: { for: 'provider', bot },
    title: `${bot === 'lead' ? 'Bot A' : 'Bot B'} wants to use ${target.providerLabel}`, exact: { label: 'Provider and caps', text: exact, authoredBy: 'host' },
    facts: [
      { label: 'Host', value: target.host, exact: true, authoredBy: 'host' }, { label: 'Model', value: target.ref.modelId, exact: true, authoredBy: 'host' },
      { label: 'Credential', value: target.needsKey ? `the stored key of ${target.providerLabel}` : 'none', exact: false, authoredBy: 'host' },
      { label: 'Caps', value: `${String(state.budget.requestsMax)} requests, ${String(state.budget.tokensMax)} tokens, ${cap === null ? 'no money cap' : `${(cap / 1e6).toFixed(2)} USD`}`, exact: false, authoredBy: 'host' },
      { label: 'Leaves this machine', value: target.remote ? 'yes: requirement, brief, excerpts and what the bot reads of the workspace' : 'no', exact: false, authoredBy: 'host' },
      ...(target.exchangeHost === undefined ? [] : [{ label: 'Credential goes to', value: target.exchangeHost, exact: true, authoredBy: 'host' as const }]),
      ...(target.fallback === undefined ? [] : [{ label: 'May be answered instead by', value: target.fallback, exact: true, authoredBy: 'host' as const }]),
    ],
    isolation: 'Only the model proxy makes this connection; the bots have no network.', reaskReason: null,
  })
  return { type: 'hold-opened', hold }
}

/** The lead wrote a brief. The owner's own test command wins over the model's. */
export function briefWritten(state: TaskState, command: Extract<HostCommand, { is: 'brief-written' }>, ctx: DecideContext): Decided {
  if (state.phase !== 'briefing') return ignored
  const proposed = propose(state, ctx, 'lead', { ...command.brief, testCommand: state.testCommand ?? command.brief.testCommand })
  // A brief that no envelope takes is one that the lead could not write: the owner takes its place.
  return proposed.ok ? proposed : leadFailed(state, { is: 'lead-failed', purpose: 'brief', questionId: null, failure: proposed.error }, ctx)
}

/** The owner writes the brief, in the lead's place or over what the lead proposed. */
export function writeBrief(state: TaskState, command: Extract<OwnerCommand, { is: 'write-brief' }>, ctx: DecideContext): Decided {
  if (state.phase !== 'briefing' && state.phase !== 'brief-waits') return wrongState(state, 'Writing the brief')
  return propose(state, ctx, 'owner', command.brief)
}

/** What looks like a key is never kept: the card shows, and Bot B gets, what stands in its place. */
function withoutKeys(brief: Brief): Brief {
  return {
    ...brief, goal: redactKeyLooking(brief.goal), scope: redactKeyLooking(brief.scope), criteria: brief.criteria.map(redactKeyLooking),
    excerpts: brief.excerpts.map((excerpt) => ({ ...excerpt, content: redactKeyLooking(excerpt.content) })),
  }
}

function propose(state: TaskState, ctx: DecideContext, by: 'lead' | 'owner', written: Brief): Decided {
  const brief = withoutKeys(tidyBrief(written))
  if (looksLikeKey(brief.testCommand)) return keyInTestCommand
  const fits = checkRequest(requestPayload(state, brief), limits.taskInputBytesMax)
  if (!fits.ok) return err(failure('invalid-input', `This brief cannot be sent. ${fits.error}`, 'Shorten the brief, or take excerpts out of it.'))
  const text = canonicalJson(brief)
  const inputVersion = (state.brief?.inputVersion ?? 0) + 1
  const inputDigest = digestOf({ inputVersion, requirement: state.requirement, criteria: state.criteria, base: state.base?.digest ?? null, recipient: 'coder', grant: state.grant, budget: state.budget, brief })
  const hold = makeHold(state.taskId, ctx.mint('apr') as ApprovalId, {
    kind: 'brief', bot: 'lead', generation: state.generation, turnId: null, callId: null, subject: { for: 'brief', inputVersion },
    title: by === 'lead' ? 'Bot A wants to hand this brief to Bot B' : 'Your brief for Bot B', exact: { label: 'Brief (canonical bytes)', text, authoredBy: by },
    facts: [
      { label: 'Runs unasked', value: brief.testCommand, exact: true, authoredBy: by },
      { label: 'Edits', value: state.grant.edits === 'allow' ? 'in the workspace, unasked' : state.grant.edits === 'ask' ? 'each asks' : 'denied', exact: false, authoredBy: 'host' },
      ...(state.runtime === 'opencode-run' ? [{ label: 'Runtime', value: 'OpenCode CLI, one “opencode run” a turn; Bot B cannot ask questions', exact: false, authoredBy: 'host' as const }] : []),
      { label: 'Other commands', value: state.grant.otherCommands === 'ask' ? 'each asks' : 'denied', exact: false, authoredBy: 'host' },
      ...(state.source.kind === 'folder' ? state.source.mounts.map((mount) => ({ label: mount.kind === 'dependency' ? 'Tests also see' : 'Toolchain', value: `${mount.hostPath} → ${mount.into} (${mount.mode})`, exact: true, authoredBy: 'owner' as const })) : []),
      { label: `Input ${String(inputVersion)}`, value: inputDigest, exact: true, authoredBy: 'host' },
    ],
    isolation: 'Bot B works in a disposable copy without network.', reaskReason: inputVersion > 1 ? 'The brief changed, so the earlier approval does not cover it.' : null,
  })
  const retire = state.phase === 'briefing' ? (['lead.brief'] as const) : []
  return decided([
    ...withdrawHolds(state, by === 'owner' ? 'The owner wrote the brief.' : 'A newer brief takes its place.', (subject) => subject.for === 'brief' || subject.for === 'provider'), ...withdrawQuestions(state),
    { type: 'brief-proposed', by, brief, inputVersion, inputDigest }, { type: 'hold-opened', hold },
  ], [], retire)
}

/** What the request envelope carries. */
export function requestPayload(state: TaskState, brief: Brief): EnvelopePayload['request'] {
  return { requirement: state.requirement, goal: brief.goal, scope: brief.scope, criteria: brief.criteria, testCommand: brief.testCommand, excerpts: brief.excerpts }
}

/** The owner approved these exact bytes: the task is claimed, and the request goes into the room. */
export function briefApproved(state: TaskState, ctx: DecideContext, settled: TaskEvent): Decided {
  const brief = state.brief
  if (brief === null) return wrongState(state, 'Approving a brief')
  const events: TaskEvent[] = [settled, { type: 'brief-approved', inputVersion: brief.inputVersion, inputDigest: brief.inputDigest }, { type: 'claimed' },
    post(state, ctx, 'lead', 'request', null, requestPayload(state, brief.brief))]
  if (needsProviderHold(state, 'coder')) return decided([...events, providerHold(state, ctx, 'coder')])
  return decided([...events, { type: 'coder-start-intended', sessionTitle: sessionTitle(state) }], [{ kind: 'coder.start' }])
}

/** A provider hold was approved: what waited for it goes on. */
export function providerApproved(state: TaskState, bot: Bot, settled: TaskEvent): Decided {
  if (bot === 'lead') return state.phase === 'briefing' ? decided([settled, { type: 'lead-asked', purpose: 'brief' }], [{ kind: 'lead.brief' }]) : decided([settled])
  if (state.phase !== 'starting-coder' || state.coder.is !== 'none') return decided([settled])
  return decided([settled, { type: 'coder-start-intended', sessionTitle: sessionTitle(state) }], [{ kind: 'coder.start' }])
}

/** A brief or a provider was refused: the task ends, the owner's folder was not touched. */
export function denied(state: TaskState, settled: TaskEvent, what: string): Decided {
  return decided([settled, ...withdrawHolds(state, `${what} was denied.`).filter((event) => event.type === 'hold-settled' && settled.type === 'hold-settled' && event.approvalId !== settled.approvalId), ...withdrawQuestions(state),
    { type: 'noted', level: 'info', text: `${what} was denied by the owner. Nothing left this machine for it, and your folder was not touched.`, todo: null }, { type: 'task-cancelled' }], closing(state), 'all')
}

/** The lead could not do its part: the owner takes its place. */
export function leadFailed(state: TaskState, command: Extract<HostCommand, { is: 'lead-failed' }>, ctx: DecideContext): Decided {
  const failed: TaskEvent = { type: 'lead-failed', purpose: command.purpose, failure: command.failure }
  if (command.purpose === 'brief') {
    if (state.phase !== 'briefing' || openQuestions(state).length > 0) return ignored
    // B6. The owner is asked about the cap, or has raised it: the brief is written after that.
    if (topUpWaits(state) || (toppedUpMeanwhile(state) && outOfBudget.has(command.failure.code))) return decided([failed])
    if (command.failure.code === 'budget-exhausted') return failTask(state, command.failure, [failed])
    const questionId = ctx.mint('q') as QuestionId
    return decided([failed, { type: 'question-asked', questionId, envelopeId: null, upstreamId: null, purpose: 'brief', text: `Bot A could not write the brief: ${command.failure.message} Write it yourself, or stop the task.`, options: [], deadlineAt: state.deadlineAt }])
  }
  if (command.purpose === 'answer' && command.questionId !== null) {
    const question = state.questions.get(command.questionId)
    if (question?.state !== 'open') return ignored
    return decided([failed, { type: 'question-passed-to-owner', questionId: question.questionId, why: command.failure.message }])
  }
  return ignored
}

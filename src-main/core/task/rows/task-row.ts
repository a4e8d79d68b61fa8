import type { Millis, QuestionId } from '../../../../src-preload/contract/ids.ts'
import { ok } from '../../../../src-preload/contract/result.ts'
import { rowKey, type HoldRow, type TaskRow } from '../../../../src-preload/contract/rows.ts'
import type { EvidenceLevels, IsolationReport, Waiting } from '../../../../src-preload/contract/task.ts'
import { refuseConcealed, type HoldRecord } from '../../approval/hold.ts'
import { grantView, standingOffer } from '../../approval/standing-grant.ts'
import { budgetMeters } from '../budget.ts'
import { comparedExits } from '../decide-compared.ts'
import { activeTurn, isFinished, openQuestion, waitingHolds, type Phase, type TaskState } from '../model.ts'

/** What is not journaled but shown: the isolation as probed, a wait of the runtime that goes on now. */
export interface LiveFacts { readonly isolation: IsolationReport | null; readonly waiting: { readonly for: string; readonly since: Millis; readonly nextTryAt: Millis | null } | null }

/** The facet `waiting`: an answer first, since it resumes only after approvals cleared; else every hold that waits. */
export function waitingOf(state: TaskState): Waiting | null {
  const holds = waitingHolds(state)
  if (holds.length > 0) return { for: 'approval', approvalIds: holds.map((record) => record.hold.approvalId) }
  const question = openQuestion(state)
  return question === null ? null : { for: 'input', questionId: question.questionId }
}

/** The facet `recovery`, with the exits that there are, and whether a check is under way. */
function recoveryOf(state: TaskState): TaskRow['recovery'] {
  if (state.recovery === null) return null
  if (state.phase === 'acceptance-waits') return { ...state.recovery, exits: [...comparedExits] }
  return state.coder.is === 'starting' ? { ...state.recovery, checking: true } : state.recovery
}

const phaseWords: Record<Phase, string | null> = {
  preparing: 'Preparing the workspace', briefing: 'Bot A is writing the brief', 'brief-waits': null, 'starting-coder': 'Starting Bot B', coding: 'Bot B is working',
  collecting: 'Collecting the evidence', verifying: 'Bot A is verifying in a clean copy', reviewing: 'Bot A is reviewing the evidence', 'acceptance-waits': null, applying: 'Applying the result', stopping: 'Stopping', ended: null,
}

function activityOf(state: TaskState, live: LiveFacts): TaskRow['activity'] {
  if (isFinished(state.status) || state.recovery !== null) return null
  const question = openQuestion(state)
  if (question?.state === 'open') return { label: 'Bot A is answering', since: state.phaseSince, waitingFor: null }
  if (question !== null || waitingHolds(state).length > 0) return null
  const label = phaseWords[state.phase]
  return label === null ? null : { label, since: state.phaseSince, waitingFor: live.waiting?.for ?? null, waitingSince: live.waiting?.since ?? null, nextTryAt: live.waiting?.nextTryAt ?? null }
}

/** E1. Four evidence levels, each from its own fact; none implies the next. */
export function evidenceLevels(state: TaskState): EvidenceLevels {
  const served = state.calls.filter((call) => call.settled && call.ok)
  const mock = served.filter((call) => call.demo).length
  const real = served.length - mock
  return {
    offlineMock: mock > 0 ? `${String(mock)} model ${mock === 1 ? 'call' : 'calls'} answered by the embedded demo model` : null,
    realProcess: state.sessionId === null ? null : `OpenCode ${state.versions.openCode ?? 'unknown'} ran as a supervised process${state.verification?.passed === true ? '; tests re-run in a clean copy' : ''}`,
    realModel: real > 0 ? `${String(real)} model ${real === 1 ? 'call' : 'calls'} answered by ${[...new Set([state.targets.lead, state.targets.coder].filter((target) => !target.demo).map((target) => target.providerLabel))].join(', ')}` : null,
    humanAcceptance: state.status !== 'accepted' ? null : state.scriptedOwner ? null : 'accepted by the owner in the window',
  }
}

/** The task's line in the list, header and inspector. */
export function taskRow(state: TaskState, live: LiveFacts): TaskRow {
  const acceptance = waitingHolds(state).find((record) => record.hold.kind === 'acceptance')
  const ready = state.evidence !== null && (state.status === 'result-ready' || isFinished(state.status))
  return {
    kind: 'task', key: rowKey.task(state.taskId), taskId: state.taskId, title: state.title, status: state.status, generation: state.generation,
    waiting: waitingOf(state), cancel: state.cancel, recovery: recoveryOf(state), disposition: state.disposition, activity: activityOf(state, live),
    createdAt: state.createdAt, updatedAt: state.updatedAt, deadlineAt: state.deadlineAt,
    source: state.source.kind === 'sample' ? { kind: 'sample', label: 'Sample task', path: null } : { kind: 'folder', label: state.source.path.split(/[\\/]/).filter((part) => part !== '').at(-1) ?? state.source.path, path: state.source.path },
    requirement: state.requirement, criteria: [...state.criteria], revisionOf: state.revisionOf, models: { lead: state.targets.lead.ref, coder: state.targets.coder.ref },
    grant: state.grant, standingGrants: [...state.grants.values()].map((record) => grantView(record, state.generation, isFinished(state.status))), budget: state.budget, meters: budgetMeters(state), isolation: state.coder.is === 'running' ? state.coder.isolation : live.isolation,
    runtime: state.runtime, openCodeVersion: state.coder.is === 'running' ? state.coder.version : state.versions.openCode, sessionId: state.sessionId, evidenceLevels: evidenceLevels(state),
    result: ready ? { treeDigest: state.evidence.treeDigest, verified: state.verified, acceptanceId: acceptance?.hold.approvalId ?? null } : null,
    failure: state.failure,
  }
}

/** A hold as a card. */
export function holdRow(state: TaskState, record: HoldRecord): HoldRow {
  const { hold } = record
  const waits = record.outcome === 'waiting'
  const whole = waits ? refuseConcealed(state.taskId, hold) : ok(null)
  return {
    kind: 'hold', key: rowKey.hold(hold.approvalId), approvalId: hold.approvalId, taskId: state.taskId, holdKind: hold.kind, bot: hold.bot, turnId: hold.turnId, callId: hold.callId,
    digest: hold.digest, title: hold.title, outcome: record.outcome, openedAt: record.openedAt, shownAt: record.shownAt, order: record.order, alarm: record.alarm,
    exact: hold.exact, facts: [...hold.facts], isolation: hold.isolation, reaskReason: hold.reaskReason, standing: waits && whole.ok ? standingOffer(state.taskId, hold) : null,
    ...(hold.subject.for === 'budget' && hold.subject.offer !== undefined ? { raise: hold.subject.offer } : {}), ...(whole.ok ? {} : { denyOnly: whole.error }),
  }
}

/** Deadlines that the clock must watch for this task. */
export function deadlines(state: TaskState): { readonly taskAt: Millis | null; readonly question: { readonly id: QuestionId; readonly at: Millis } | null } {
  if (isFinished(state.status)) return { taskAt: null, question: null }
  const question = openQuestion(state)
  return { taskAt: state.status === 'result-ready' ? null : state.deadlineAt, question: question === null || activeTurn(state) === null ? null : { id: question.questionId, at: question.deadlineAt } }
}

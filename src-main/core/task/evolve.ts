import type { CallId, Millis } from '../../../src-preload/contract/ids.ts'
import { isEditTool } from '../approval/edit-call.ts'
import { workspaceRoot } from '../approval/path-pattern.ts'
import { emptyBudget } from '../budget/budget.ts'
import { spendOn } from './budget.ts'
import type { TaskEvent } from './events.ts'
import { isFinished, openQuestion, waitingHolds, type Phase, type TaskState } from './model.ts'
import { SeenCalls } from './seen-calls.ts'

type Opened = Extract<TaskEvent, { type: 'task-opened' }>

/** The state right after a task was opened. */
export function opened(event: Opened, at: Millis): TaskState {
  return {
    version: 1, taskId: event.taskId, title: event.title, requirement: event.requirement, criteria: event.criteria, testCommand: event.testCommand, source: event.source,
    targets: event.targets, budget: event.budget, grant: event.grant, revisionOf: event.revisionOf, createdAt: at, updatedAt: at, deadlineAt: event.deadlineAt, versions: event.versions, scriptedOwner: event.scriptedOwner, runtime: event.runtime ?? 'opencode-server',
    status: 'open', phase: 'preparing', phaseSince: at, generation: 1, cancel: null, cancelThen: null, recovery: null, disposition: null, failure: null,
    base: null, brief: null, holds: new Map(), grants: new Map(), providerCleared: { lead: false, coder: false }, coder: { is: 'none' }, sessionId: null, turns: [], questions: new Map(),
    openTools: new Map(), editLeaves: new Map(), endedTools: SeenCalls.none(), lastTestRun: null, envelopeSeq: { lead: 0, coder: 0 }, lastEnvelope: { lead: null, coder: null }, calls: [], spending: emptyBudget, raisedInTurn: null, evidence: null, summary: '', verification: null, verified: false, reviewText: null, workspaceDisposed: false,
  }
}

/** Folds one event. `order` is its journal seq: unique and ascending. */
export function evolve(state: TaskState, event: TaskEvent, at: Millis, order: number): TaskState {
  const next = { ...apply(state, event, at, order), version: state.version + 1, updatedAt: at }
  return isFinished(next.status) ? next : withBlocked(next)
}

/**
 * T1. Between claimed and result-ready, `blocked` is exactly: an approval or an answer is waited for. Before that it is exactly: the owner
 * takes the lead's place. The brief's own approval blocks nothing that has begun.
 */
function withBlocked(state: TaskState): TaskState {
  const before = state.status === 'open' || (state.status === 'blocked' && state.brief?.approved !== true)
  if (!before && state.status !== 'working' && state.status !== 'blocked') return state
  const waits = openQuestion(state) !== null || (!before && waitingHolds(state).length > 0)
  const status = waits ? 'blocked' : before ? 'open' : 'working'
  return status === state.status ? state : { ...state, status }
}

function phase(state: TaskState, to: Phase, at: Millis): TaskState {
  return { ...state, phase: to, phaseSince: at }
}

function apply(state: TaskState, event: TaskEvent, at: Millis, order: number): TaskState {
  switch (event.type) {
    case 'task-opened': return state
    case 'workspace-prepared': return phase({ ...state, base: { digest: event.baseDigest, commit: event.baseCommit, listing: event.listing } }, 'briefing', at)
    case 'brief-proposed': return phase({ ...state, brief: { brief: event.brief, inputVersion: event.inputVersion, inputDigest: event.inputDigest, approved: false } }, 'brief-waits', at)
    case 'brief-approved': return phase({ ...state, brief: state.brief === null ? null : { ...state.brief, approved: true } }, 'starting-coder', at)
    case 'claimed': return { ...state, status: 'claimed' }
    case 'envelope-posted': return { ...state, spending: spendOn(state, event), envelopeSeq: { ...state.envelopeSeq, [event.from]: event.seq }, lastEnvelope: { ...state.lastEnvelope, [event.from]: event.eventId } }
    case 'evidence-recorded': return phase({ ...state, evidence: event.evidence, summary: event.summary, verification: null, verified: false }, 'verifying', at)
    case 'verification-ended': return { ...state, verification: event.verification, verified: event.verification.passed }
    case 'lead-asked': return event.purpose === 'review' ? phase(state, 'reviewing', at) : state
    case 'result-became-ready': return { ...phase(state, 'acceptance-waits', at), status: 'result-ready', verified: event.verified }
    case 'workspace-disposed': return { ...state, workspaceDisposed: true }
    case 'review-said': return { ...state, reviewText: event.text }
    case 'command-ran': return noteTestRun(state, event)
    case 'hold-opened': case 'hold-shown': case 'hold-alarmed': case 'hold-settled': return evolveHolds(state, event, at, order)
    case 'coder-start-intended': case 'coder-started': case 'session-bound': case 'coder-gone': case 'turn-intended': case 'turn-submitted': case 'turn-found-absent': case 'turn-ended': return evolveCoder(state, event, at)
    case 'tool-started': case 'tool-ended': return evolveTools(state, event)
    case 'question-asked': case 'question-passed-to-owner': case 'question-answered': case 'question-closed': return evolveQuestions(state, event)
    case 'call-reserved': case 'call-settled': case 'call-lost': return evolveCalls(state, event)
    case 'apply-intended': case 'apply-refused': case 'accepted': case 'rejected': case 'revision-requested': case 'cancel-requested': case 'cancel-observed': case 'task-cancelled': case 'task-failed': case 'recovery-needed': case 'recovery-resolved': return evolveEnd(state, event, at)
    case 'grant-given': case 'grant-revoked': case 'permission-ruled': return evolveGrants(state, event, at)
    case 'answer-undelivered': case 'lead-failed': case 'message-said': case 'verification-started': case 'noted': return state
    case 'call-refused': return { ...state, raisedInTurn: null }
    case 'budget-raised': return { ...state, budget: event.budget, raisedInTurn: state.turns.length, spending: { ...state.spending, moneyAccepted: state.spending.moneyAccepted || event.acceptsUnknown } }
  }
}

function noteTestRun(state: TaskState, event: Extract<TaskEvent, { type: 'command-ran' }>): TaskState {
  if (event.refused !== null || event.text !== state.brief?.brief.testCommand || event.cwd !== workspaceRoot) return state
  return { ...state, lastTestRun: { command: event.text, exitCode: event.exitCode, logDigest: event.logDigest, logTail: event.logTail, durationMs: event.durationMs } }
}

type HoldEvent = Extract<TaskEvent, { type: 'hold-opened' | 'hold-shown' | 'hold-alarmed' | 'hold-settled' }>
function evolveHolds(state: TaskState, event: HoldEvent, at: Millis, order: number): TaskState {
  const holds = new Map(state.holds)
  if (event.type === 'hold-opened') {
    holds.set(event.hold.approvalId, { hold: event.hold, openedAt: at, order, shownAt: null, alarm: false, outcome: 'waiting' })
    return { ...state, holds }
  }
  const record = holds.get(event.approvalId)
  if (record === undefined) return state
  if (event.type === 'hold-shown') holds.set(event.approvalId, { ...record, shownAt: record.shownAt ?? at, alarm: false })
  if (event.type === 'hold-alarmed') holds.set(event.approvalId, { ...record, alarm: true })
  if (event.type !== 'hold-settled') return { ...state, holds }
  holds.set(event.approvalId, { ...record, outcome: event.outcome, alarm: false })
  const subject = record.hold.subject
  const cleared = subject.for === 'provider' && event.outcome === 'approved'
  const disposition = subject.for === 'brief' && event.outcome === 'denied' ? 'brief-denied' : state.disposition
  return { ...state, holds, disposition, providerCleared: cleared ? { ...state.providerCleared, [subject.bot]: true } : state.providerCleared }
}

function evolveGrants(state: TaskState, event: Extract<TaskEvent, { type: 'grant-given' | 'grant-revoked' | 'permission-ruled' }>, at: Millis): TaskState {
  const grants = new Map(state.grants)
  if (event.type === 'grant-given') return { ...state, grants: grants.set(event.grant.grantId, { grant: event.grant, givenAt: at, revokedAt: null, uses: 0, lastUsedAt: null }) }
  const editLeaves = event.type === 'permission-ruled' && event.ruling === 'granted' && event.callId !== null && event.change !== undefined ? new Map(state.editLeaves).set(event.callId, event.change) : state.editLeaves
  const record = event.grantId === undefined ? undefined : grants.get(event.grantId)
  if (record === undefined) return { ...state, editLeaves }
  return { ...state, editLeaves, grants: grants.set(record.grant.grantId, event.type === 'grant-revoked' ? { ...record, revokedAt: record.revokedAt ?? at } : { ...record, uses: record.uses + 1, lastUsedAt: at }) }
}

type CoderEvent = Extract<TaskEvent, { type: 'coder-start-intended' | 'coder-started' | 'session-bound' | 'coder-gone' | 'turn-intended' | 'turn-submitted' | 'turn-found-absent' | 'turn-ended' }>
function evolveCoder(state: TaskState, event: CoderEvent, at: Millis): TaskState {
  switch (event.type) {
    case 'coder-start-intended': return { ...state, coder: { is: 'starting' } }
    case 'coder-started': return { ...state, coder: { is: 'running', version: event.version, pid: event.pid, startTime: event.startTime, isolation: event.isolation } }
    case 'coder-gone': return { ...state, coder: { is: 'gone' } }
    case 'session-bound': return { ...state, sessionId: event.sessionId }
    case 'turn-intended': return phase({ ...state, spending: spendOn(state, event), turns: [...state.turns, { turnId: event.turnId, index: state.turns.length + 1, kind: event.kind, messageId: event.messageId, partId: event.partId, text: event.text, contentDigest: event.contentDigest, generation: state.generation, state: 'intended', absent: false }] }, 'coding', at)
    case 'turn-found-absent': return { ...state, turns: state.turns.map((turn) => (turn.turnId === event.turnId ? { ...turn, absent: true } : turn)) }
    case 'turn-submitted': return { ...withTurn(state, event.turnId, 'submitted'), status: state.status === 'claimed' ? 'working' : state.status }
    case 'turn-ended': {
      const ended = { ...withTurn(state, event.turnId, 'ended'), spending: spendOn(state, event) }
      // A turn that has completed was worked on, whether or not its arrival was seen.
      return event.outcome === 'completed' ? { ...phase(ended, 'collecting', at), summary: event.text, status: state.status === 'claimed' ? 'working' : state.status } : ended
    }
  }
}

function withTurn(state: TaskState, turnId: string, to: 'submitted' | 'ended'): TaskState {
  return { ...state, turns: state.turns.map((turn) => (turn.turnId === turnId ? { ...turn, state: to, absent: false } : turn)) }
}

function evolveTools(state: TaskState, event: Extract<TaskEvent, { type: 'tool-started' | 'tool-ended' }>): TaskState {
  const openTools = new Map(state.openTools)
  if (event.type === 'tool-started') { openTools.set(event.callId, { tool: event.tool, inputDigest: event.inputDigest }); return { ...state, openTools } }
  const input = openTools.get(event.callId)?.inputDigest ?? null
  openTools.delete(event.callId)
  // A later edit makes an earlier test run stale: evidence needs a run after the last edit.
  const edited = event.state === 'done' && isEditTool(event.tool)
  return { ...state, openTools, editLeaves: withoutLeave(state.editLeaves, event.callId), endedTools: state.endedTools.with(event.callId, input), lastTestRun: edited ? null : state.lastTestRun }
}

function withoutLeave(leaves: TaskState['editLeaves'], callId: CallId): TaskState['editLeaves'] {
  return leaves.has(callId) ? new Map([...leaves].filter(([granted]) => granted !== callId)) : leaves
}

function evolveQuestions(state: TaskState, event: Extract<TaskEvent, { type: 'question-asked' | 'question-passed-to-owner' | 'question-answered' | 'question-closed' }>): TaskState {
  const questions = new Map(state.questions)
  if (event.type === 'question-asked') {
    questions.set(event.questionId, { questionId: event.questionId, envelopeId: event.envelopeId, upstreamId: event.upstreamId, purpose: event.purpose, text: event.text, options: event.options, deadlineAt: event.deadlineAt, state: event.purpose === 'brief' ? 'asked-owner' : 'open', answer: null })
    return { ...state, questions }
  }
  const question = questions.get(event.questionId)
  if (question === undefined) return state
  if (event.type === 'question-passed-to-owner') questions.set(event.questionId, { ...question, state: 'asked-owner' })
  if (event.type === 'question-answered') questions.set(event.questionId, { ...question, state: 'answered', answer: event.text })
  if (event.type === 'question-closed') questions.set(event.questionId, { ...question, state: event.how })
  return { ...state, questions }
}

function evolveCalls(state: TaskState, event: Extract<TaskEvent, { type: 'call-reserved' | 'call-settled' | 'call-lost' }>): TaskState {
  // B1. A call whose outcome nobody saw keeps its reservation: it counts as spent.
  if (event.type === 'call-lost') return { ...state, calls: state.calls.map((call, index) => (index + 1 === event.call ? { ...call, settled: true } : call)) }
  if (event.type === 'call-reserved') return { ...state, spending: spendOn(state, event), calls: [...state.calls, { bot: event.bot, answered: null, turn: state.turns.length, demo: state.targets[event.bot].demo, settled: false, ok: false }] }
  return { ...state, spending: spendOn(state, event), calls: state.calls.map((call, index) => (index + 1 === event.call ? { ...call, settled: true, ok: event.failure === null, answered: event.modelAnswered } : call)) }
}

type EndEvent = Extract<TaskEvent, { type: 'apply-intended' | 'apply-refused' | 'accepted' | 'rejected' | 'revision-requested' | 'cancel-requested' | 'cancel-observed' | 'task-cancelled' | 'task-failed' | 'recovery-needed' | 'recovery-resolved' }>
function evolveEnd(state: TaskState, event: EndEvent, at: Millis): TaskState {
  switch (event.type) {
    case 'apply-intended': return phase(state, 'applying', at)
    case 'apply-refused': return phase(state, 'acceptance-waits', at)
    case 'accepted': return { ...phase(state, 'ended', at), status: 'accepted' }
    case 'rejected': return { ...phase(state, 'ended', at), status: 'cancelled', disposition: 'rejected' }
    case 'revision-requested': return { ...phase(state, 'ended', at), status: 'cancelled', disposition: 'revision-requested' }
    case 'cancel-requested': return { ...phase(state, 'stopping', at), generation: event.generation, cancel: { state: 'requested', at, cause: event.cause }, cancelThen: { then: event.then, failure: event.failure }, turns: state.turns.map((turn) => ({ ...turn, state: 'ended' as const })) }
    case 'cancel-observed': return { ...state, cancel: state.cancel === null ? null : { state: 'observed', at, requestedAt: state.cancel.state === 'requested' ? state.cancel.at : state.cancel.requestedAt, cause: state.cancel.cause, proof: event.proof } }
    case 'task-cancelled': return { ...phase(state, 'ended', at), status: 'cancelled', disposition: state.disposition ?? 'stopped', recovery: null }
    case 'task-failed': return { ...phase(state, 'ended', at), status: 'failed', failure: event.failure, recovery: null }
    case 'recovery-needed': return { ...state, recovery: { state: 'uncertain', since: state.recovery?.since ?? at, what: event.what, ...(event.late === true || state.recovery?.late === true ? { late: true } : {}), ...(event.resending === true ? { resending: true } : {}) } }
    // What history lacked once is not known to be lacking once it was sent again.
    case 'recovery-resolved': return { ...state, recovery: null, turns: state.turns.map((turn) => (turn.absent ? { ...turn, absent: false } : turn)) }
  }
}

/** Folds a whole history. Null when it does not begin with `task-opened`. */
export function fold(events: Iterable<{ readonly payload: TaskEvent; readonly at: Millis; readonly seq: number }>): TaskState | null {
  let state: TaskState | null = null
  for (const stored of events) {
    if (state === null) state = stored.payload.type === 'task-opened' ? opened(stored.payload, stored.at) : null
    else state = evolve(state, stored.payload, stored.at, stored.seq)
  }
  return state
}


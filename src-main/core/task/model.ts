import type { ApprovalId, Bot, CallId, Digest, Generation, GrantId, Millis, QuestionId, TaskId, TurnId } from '../../../src-preload/contract/ids.ts'
import type { Failure } from '../../../src-preload/contract/failure.ts'
import type { Brief, BudgetLimits, Cancel, CoderRuntime, Evidence, IsolationReport, Recovery, TaskGrant, TaskSource, TaskStatus, TestRun, Verification } from '../../../src-preload/contract/task.ts'
import type { BudgetState } from '../budget/budget.ts'
import type { HoldRecord } from '../approval/hold.ts'
import type { GrantRecord } from '../approval/standing-grant.ts'
import { wellFormed } from '../digest.ts'
import type { RunVersions, TargetFacts, TurnKind } from './events.ts'
import type { SeenCalls } from './seen-calls.ts'

/** What the host is busy with, beside the status. Each task is in exactly one. */
export type Phase =
  | 'preparing' | 'briefing' | 'brief-waits' | 'starting-coder' | 'coding' | 'collecting' | 'verifying' | 'reviewing' | 'acceptance-waits' | 'applying' | 'stopping' | 'ended'

export interface Turn {
  readonly turnId: TurnId
  readonly index: number
  readonly kind: TurnKind
  readonly messageId: string
  readonly partId: string
  readonly text: string
  readonly contentDigest: Digest
  readonly generation: Generation
  readonly state: 'intended' | 'submitted' | 'ended'
  /** History was read and does not have it. */
  readonly absent: boolean
}

export interface Question {
  readonly questionId: QuestionId
  /** The envelope that asked, which the answer replies to; null for the host's questions. */
  readonly envelopeId: string | null
  /** The runtime's own id while the question is live there; null for the host's questions. */
  readonly upstreamId: string | null
  readonly purpose: 'work' | 'brief'
  readonly text: string
  readonly options: readonly string[]
  readonly deadlineAt: Millis
  readonly state: 'open' | 'asked-owner' | 'answered' | 'expired' | 'withdrawn'
  readonly answer: string | null
}

/** The supervised process of a task. `gone` after it ended; a new start makes it `starting` again. */
export type CoderState =
  | { readonly is: 'none' }
  | { readonly is: 'starting' }
  | { readonly is: 'running'; readonly version: string; readonly pid: number; readonly startTime: string; readonly isolation: IsolationReport }
  | { readonly is: 'gone' }

/** `turn`: how many turns had begun when it was reserved; `answered`: by which model, as the vendor named it. */
export interface ModelCallRecord { readonly answered: string | null; readonly bot: Bot; readonly turn: number; readonly demo: boolean; readonly settled: boolean; readonly ok: boolean }

/** State of one task: what decisions need, folded from its events. */
export interface TaskState {
  /** Number of events folded. */
  readonly version: number
  readonly taskId: TaskId
  readonly title: string
  readonly requirement: string
  readonly criteria: readonly string[]
  readonly testCommand: string | null
  readonly source: TaskSource
  readonly targets: { readonly lead: TargetFacts; readonly coder: TargetFacts }
  readonly budget: BudgetLimits
  readonly grant: TaskGrant
  readonly runtime: CoderRuntime
  readonly revisionOf: TaskId | null
  readonly createdAt: Millis
  readonly updatedAt: Millis
  readonly deadlineAt: Millis
  readonly versions: RunVersions
  readonly scriptedOwner: boolean

  readonly status: TaskStatus
  readonly phase: Phase
  readonly phaseSince: Millis
  readonly generation: Generation
  readonly cancel: Cancel | null
  readonly cancelThen: { readonly then: 'cancelled' | 'failed'; readonly failure: Failure | null } | null
  readonly recovery: Recovery | null
  readonly disposition: 'rejected' | 'revision-requested' | 'stopped' | 'brief-denied' | null
  readonly failure: Failure | null

  readonly base: { readonly digest: Digest; readonly commit: string | null; readonly listing: readonly string[] } | null
  readonly brief: { readonly brief: Brief; readonly inputVersion: number; readonly inputDigest: Digest; readonly approved: boolean } | null
  readonly holds: ReadonlyMap<ApprovalId, HoldRecord>
  /** The owner's standing grants, in the order they were given. */
  readonly grants: ReadonlyMap<GrantId, GrantRecord>
  readonly providerCleared: { readonly lead: boolean; readonly coder: boolean }
  readonly coder: CoderState
  readonly sessionId: string | null
  readonly turns: readonly Turn[]
  readonly questions: ReadonlyMap<QuestionId, Question>
  /** Tool calls that have started and not ended. */
  readonly openTools: ReadonlyMap<CallId, { readonly tool: string; readonly inputDigest: Digest }>
  /** Edits that were granted and have not ended: what each call may do. */
  readonly editLeaves: ReadonlyMap<CallId, Digest>
  /** Calls that have their one final record. */
  readonly endedTools: SeenCalls
  readonly lastTestRun: TestRun | null
  readonly envelopeSeq: { readonly lead: number; readonly coder: number }
  /** The newest envelope of each bot: what the other's next word replies to. */
  readonly lastEnvelope: { readonly lead: string | null; readonly coder: string | null }
  readonly calls: readonly ModelCallRecord[]
  readonly spending: BudgetState
  /** How many turns had begun when the budget was last raised, and no call has been refused since. */
  readonly raisedInTurn: number | null
  readonly evidence: Evidence | null
  readonly summary: string
  readonly verification: Verification | null
  readonly verified: boolean
  /** What Bot A said of the evidence. */
  readonly reviewText: string | null
  readonly workspaceDisposed: boolean
}

/** The turn that is intended or submitted and not ended, if any. At most one. */
export function activeTurn(state: TaskState): Turn | null {
  return state.turns.find((turn) => turn.state !== 'ended') ?? null
}

/** Statuses from which nothing revives a task. */
export function isFinished(status: TaskStatus): boolean {
  return status === 'accepted' || status === 'cancelled' || status === 'failed'
}

/** What is uncertain, in words, within what its facet holds. */
export function uncertain(what: string): string {
  return what.length <= uncertainCharsMax ? what : `${wellFormed(what.slice(0, uncertainCharsMax - 1))}…`
}
const uncertainCharsMax = 1_000

/** Holds that wait for the owner, first in first out. */
export function waitingHolds(state: TaskState): readonly HoldRecord[] {
  return [...state.holds.values()].filter((record) => record.outcome === 'waiting').sort((a, b) => a.order - b.order)
}

/** Questions that wait for an answer, in the order they were asked. */
export function openQuestions(state: TaskState): readonly Question[] {
  return [...state.questions.values()].filter((question) => question.state === 'open' || question.state === 'asked-owner')
}

/** The first question that waits for an answer, if any. */
export function openQuestion(state: TaskState): Question | null {
  return openQuestions(state)[0] ?? null
}

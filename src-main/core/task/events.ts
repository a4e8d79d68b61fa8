import type { ApprovalId, Bot, CallId, Digest, Generation, GrantId, Millis, QuestionId, TaskId, TurnId } from '../../../src-preload/contract/ids.ts'
import type { Failure } from '../../../src-preload/contract/failure.ts'
import type { HoldOutcome } from '../../../src-preload/contract/rows.ts'
import type {
  Brief, BudgetLimits, CoderRuntime, Evidence, IsolationReport, ModelRef, RecoveryExit, ServingPath, StopProof, TaskGrant, TaskSource, Verification,
} from '../../../src-preload/contract/task.ts'
import type { Hold } from '../approval/hold.ts'
import type { StandingGrant } from '../approval/standing-grant.ts'
import type { OutputBound } from '../budget/fit.ts'

/** What is known of the model that plays a bot, as far as decisions and cards need it. Holds no secret. `exchangeHost`: where its credential goes first; `fallback`: what may answer text-only calls instead. */
export interface TargetFacts { readonly ref: ModelRef; readonly providerLabel: string; readonly host: string; readonly api: 'chat' | 'responses'; readonly remote: boolean; readonly demo: boolean; readonly needsKey: boolean; readonly exchangeHost?: string; readonly fallback?: string }

/** Versions that every run records. */
export interface RunVersions { readonly app: string; readonly electron: string; readonly sqlite: string; readonly openCode: string | null }

export type TurnKind = 'request' | 'answer' | 'correction' | 'continue'

/**
 * All facts of a task, in the past tense. Append only: a type, once released, keeps its meaning for ever,
 * since every journal ever written must fold to the same state.
 */
export type TaskEvent =
  | { readonly type: 'task-opened'; readonly taskId: TaskId; readonly title: string; readonly requirement: string; readonly criteria: readonly string[]; readonly testCommand: string | null; readonly source: TaskSource; readonly models: { readonly lead: ModelRef; readonly coder: ModelRef }; readonly targets: { readonly lead: TargetFacts; readonly coder: TargetFacts }; readonly budget: BudgetLimits; readonly grant: TaskGrant; readonly revisionOf: TaskId | null; readonly deadlineAt: Millis; readonly versions: RunVersions; readonly scriptedOwner: boolean; readonly runtime?: CoderRuntime }
  | { readonly type: 'workspace-prepared'; readonly baseDigest: Digest; readonly baseCommit: string | null; readonly files: number; readonly bytes: number; readonly notes: readonly string[]; readonly listing: readonly string[] }
  | { readonly type: 'hold-opened'; readonly hold: Hold }
  | { readonly type: 'hold-shown'; readonly approvalId: ApprovalId }
  | { readonly type: 'hold-alarmed'; readonly approvalId: ApprovalId }
  | { readonly type: 'hold-settled'; readonly approvalId: ApprovalId; readonly outcome: Exclude<HoldOutcome, 'waiting'>; readonly digest: Digest; readonly cause: string | null; readonly chosen?: ChosenAmount }
  | { readonly type: 'lead-asked'; readonly purpose: LeadPurpose }
  | { readonly type: 'lead-failed'; readonly purpose: LeadPurpose; readonly failure: Failure }
  | { readonly type: 'brief-proposed'; readonly by: 'lead' | 'owner'; readonly brief: Brief; readonly inputVersion: number; readonly inputDigest: Digest }
  | { readonly type: 'brief-approved'; readonly inputVersion: number; readonly inputDigest: Digest }
  | { readonly type: 'claimed' }
  | { readonly type: 'envelope-posted'; readonly from: Bot; readonly kind: string; readonly seq: number; readonly eventId: string; readonly text: string; readonly digest: Digest }
  | { readonly type: 'coder-start-intended'; readonly sessionTitle: string }
  | { readonly type: 'coder-started'; readonly version: string; readonly pid: number; readonly startTime: string; readonly isolation: IsolationReport }
  | { readonly type: 'session-bound'; readonly sessionId: string }
  | { readonly type: 'turn-intended'; readonly turnId: TurnId; readonly kind: TurnKind; readonly messageId: string; readonly partId: string; readonly text: string; readonly contentDigest: Digest }
  | { readonly type: 'turn-submitted'; readonly turnId: TurnId }
  | { readonly type: 'turn-found-absent'; readonly turnId: TurnId }
  | { readonly type: 'turn-ended'; readonly turnId: TurnId; readonly outcome: 'completed' | 'failed' | 'aborted' | 'interrupted' | 'suspended'; readonly text: string; readonly failure: Failure | null }
  | { readonly type: 'message-said'; readonly author: Bot; readonly name: string; readonly text: string; readonly reasoning: boolean }
  | { readonly type: 'tool-started'; readonly callId: CallId; readonly tool: string; readonly target: string | null; readonly input: string; readonly inputDigest: Digest; readonly inputBytes: number; readonly parentCallId: CallId | null }
  | { readonly type: 'tool-ended'; readonly callId: CallId; readonly tool: string; readonly state: 'done' | 'failed' | 'interrupted' | 'uncertain'; readonly output: string; readonly outputTruncated: boolean; readonly exitCode: number | null; readonly title: string | null; readonly reason: string | null }
  | { readonly type: 'permission-ruled'; readonly permissionId: string; readonly callId: CallId | null; readonly ruling: 'granted' | 'denied'; readonly by: string; readonly text: string; readonly grantId?: GrantId; /** Of an edit that is granted: what its call may do. */ readonly change?: Digest }
  | { readonly type: 'grant-given'; readonly grant: StandingGrant }
  | { readonly type: 'grant-revoked'; readonly grantId: GrantId }
  | { readonly type: 'answer-undelivered'; readonly permissionId: string; readonly approvalId: ApprovalId | null; readonly failure: Failure }
  | { readonly type: 'command-ran'; readonly text: string; readonly cwd: string; readonly exitCode: number | null; readonly refused: string | null; readonly logDigest: Digest; readonly logTail: string; readonly durationMs: number; readonly limitHit: string | null }
  | { readonly type: 'question-asked'; readonly questionId: QuestionId; readonly envelopeId: string | null; readonly upstreamId: string | null; readonly purpose: 'work' | 'brief'; readonly text: string; readonly options: readonly string[]; readonly deadlineAt: Millis }
  | { readonly type: 'question-passed-to-owner'; readonly questionId: QuestionId; readonly why: string }
  | { readonly type: 'question-answered'; readonly questionId: QuestionId; readonly by: 'lead' | 'owner'; readonly text: string }
  | { readonly type: 'question-closed'; readonly questionId: QuestionId; readonly how: 'expired' | 'withdrawn' }
  | ({ readonly type: 'call-reserved'; readonly call: number; readonly bot: Bot; readonly model: string; readonly bodyBytes: number; readonly tokens: number; readonly moneyMicroUsd: number | null } & OutputBound)
  | { readonly type: 'call-settled'; readonly call: number; readonly path: ServingPath; readonly status: number | null; readonly modelAnswered: string | null; readonly inputTokens: number | null; readonly outputTokens: number | null; readonly costMicroUsd: number | null; readonly latencyMs: number; readonly failure: Failure | null; readonly directLeft?: boolean }
  | { readonly type: 'call-lost'; readonly call: number }
  | { readonly type: 'call-refused'; readonly bot: Bot; readonly code: string; readonly message: string; readonly passing?: boolean }
  | { readonly type: 'budget-raised'; readonly budget: BudgetLimits; readonly acceptsUnknown: boolean }
  | { readonly type: 'evidence-recorded'; readonly evidence: Evidence; readonly summary: string }
  | { readonly type: 'verification-started' }
  | { readonly type: 'verification-ended'; readonly verification: Verification }
  | { readonly type: 'review-said'; readonly text: string; readonly recommendation: 'accept' | 'reject' | 'unsure' }
  | { readonly type: 'result-became-ready'; readonly treeDigest: Digest; readonly verified: boolean }
  | { readonly type: 'apply-intended'; readonly treeDigest: Digest }
  | { readonly type: 'apply-refused'; readonly failure: Failure }
  | { readonly type: 'accepted'; readonly treeDigest: Digest; readonly how: 'folder' | 'patch-file'; readonly detail: string; readonly patchPath: string | null }
  | { readonly type: 'rejected'; readonly reason: string | null }
  | { readonly type: 'revision-requested'; readonly revision: TaskId; readonly requirement: string }
  | { readonly type: 'cancel-requested'; readonly generation: Generation; readonly cause: string; readonly then: 'cancelled' | 'failed'; readonly failure: Failure | null }
  | { readonly type: 'cancel-observed'; readonly proof: StopProof }
  | { readonly type: 'coder-gone'; readonly how: string; readonly proof: StopProof | null }
  | { readonly type: 'task-cancelled' }
  | { readonly type: 'task-failed'; readonly failure: Failure }
  | { readonly type: 'recovery-needed'; readonly what: string; /** The deadline passed while it was uncertain. */ readonly late?: true; /** The owner chose to resend; what may still run is stopped first. */ readonly resending?: true }
  | { readonly type: 'recovery-resolved'; readonly exit: RecoveryExit; readonly detail: string }
  | { readonly type: 'workspace-disposed' }
  | { readonly type: 'noted'; readonly level: 'info' | 'warning' | 'error'; readonly text: string; readonly todo: string | null }

/** What the owner raised a cap to. `digest` covers it together with the digest of the hold: nothing else was granted. */
export interface ChosenAmount { readonly to: number; readonly digest: Digest }

export type LeadPurpose = 'brief' | 'answer' | 'review'

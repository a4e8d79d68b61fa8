import type { ApprovalId, Bot, CallId, CommandId, Digest, GrantId, Millis, QuestionId, TaskId, TurnId } from '../../../src-preload/contract/ids.ts'
import type { Failure } from '../../../src-preload/contract/failure.ts'
import type { NewTask } from '../../../src-preload/contract/methods.ts'
import type { Brief, Evidence, IsolationReport, RecoveryExit, ServingPath, StopProof, Verification } from '../../../src-preload/contract/task.ts'
import type { EditCall } from '../approval/edit-call.ts'
import type { EditedFile } from '../approval/path-pattern.ts'
import type { LeadPurpose, RunVersions, TargetFacts } from './events.ts'

/** The owner's commands. Only these come from the window. */
export type OwnerCommand =
  | { readonly is: 'open-task'; readonly taskId: TaskId; readonly task: NewTask; readonly targets: { readonly lead: TargetFacts; readonly coder: TargetFacts }; readonly versions: RunVersions; readonly scriptedOwner: boolean }
  | { readonly is: 'decide-hold'; readonly approvalId: ApprovalId; readonly digest: Digest; readonly verdict: 'approved' | 'denied'; readonly reason: string | null; readonly standing?: Digest | null; /** What the cap is raised to; else the suggested amount. */ readonly amount?: number }
  | { readonly is: 'revoke-grant'; readonly grantId: GrantId }
  | { readonly is: 'hold-shown'; readonly approvalId: ApprovalId; readonly digest: Digest }
  | { readonly is: 'write-brief'; readonly brief: Brief }
  | { readonly is: 'answer-question'; readonly questionId: QuestionId; readonly text: string }
  | { readonly is: 'stop-task' }
  | { readonly is: 'request-revision'; readonly revision: TaskId; readonly requirement: string }
  | { readonly is: 'resolve-recovery'; readonly exit: RecoveryExit }
  | { readonly is: 'clean-up' }

/** What the host observed. Outcomes of effects, signals of the coder, the clock. */
export type HostCommand =
  | { readonly is: 'workspace-prepared'; readonly baseDigest: Digest; readonly baseCommit: string | null; readonly files: number; readonly bytes: number; readonly notes: readonly string[]; readonly listing: readonly string[] }
  | { readonly is: 'brief-written'; readonly brief: Brief }
  | { readonly is: 'lead-answered'; readonly questionId: QuestionId; readonly answer: string | null; readonly why: string }
  | { readonly is: 'review-written'; readonly text: string; readonly recommendation: 'accept' | 'reject' | 'unsure' }
  | { readonly is: 'lead-failed'; readonly purpose: LeadPurpose; readonly questionId: QuestionId | null; readonly failure: Failure }
  | { readonly is: 'coder-started'; readonly version: string; readonly pid: number; readonly startTime: string; readonly isolation: IsolationReport; readonly notes?: readonly string[] }
  | { readonly is: 'session-bound'; readonly sessionId: string }
  | { readonly is: 'turn-submitted'; readonly turnId: TurnId }
  | { readonly is: 'turn-ambiguous'; readonly turnId: TurnId; readonly what: string }
  | { readonly is: 'turn-reconciled'; readonly turnId: TurnId; readonly state: 'absent' | 'running' | 'completed' | 'failed' | 'interrupted'; readonly text: string }
  | { readonly is: 'turn-ended'; readonly messageId: string; readonly outcome: 'completed' | 'failed' | 'aborted'; readonly text: string; readonly failure: Failure | null }
  | { readonly is: 'message-said'; readonly name: string; readonly text: string; readonly reasoning: boolean }
  | { readonly is: 'tool-started'; readonly callId: CallId; readonly tool: string; readonly target: string | null; readonly input: string; readonly inputDigest: Digest; readonly inputBytes: number; readonly parentCallId?: CallId | null }
  | { readonly is: 'tool-ended'; readonly callId: CallId; readonly tool: string; readonly parentCallId?: CallId | null; readonly state: 'done' | 'failed' | 'interrupted'; readonly input: string; readonly inputDigest: Digest; /** Of a call that edits: what its leave is compared with. */ readonly change?: Digest | null; /** What a granted edit left that is other than approved. */ readonly strayed?: string; readonly inputBytes: number; readonly target: string | null; readonly output: string; readonly outputTruncated: boolean; readonly exitCode: number | null; readonly title: string | null }
  | { readonly is: 'call-id-used-twice'; readonly callId: CallId; readonly tool: string | null }
  | { readonly is: 'permission-asked'; readonly permissionId: string; readonly callId: CallId | null; readonly permission: string; readonly patterns: readonly string[]; readonly command: { readonly text: string; readonly cwd: string } | null; readonly files: readonly EditedFile[]; readonly diff: string | null; readonly isolation: string; /** Of an edit: the call that asks. */ readonly edit?: EditCall; /** A subagent asks: the call that began it. */ readonly parentCallId?: CallId | null }
  | { readonly is: 'foreign-permission-answer'; readonly permissionId: string; readonly reply: string }
  | { readonly is: 'command-asked'; readonly askId: string; readonly text: string; readonly cwd: string; readonly isolation: string }
  | { readonly is: 'ask-gone'; readonly askId: string }
  | { readonly is: 'command-ran'; readonly text: string; readonly cwd: string; readonly exitCode: number | null; readonly refused: string | null; readonly logDigest: Digest; readonly logTail: string; readonly durationMs: number; readonly limitHit: string | null }
  | { readonly is: 'question-asked'; readonly upstreamId: string; readonly text: string; readonly options: readonly string[] }
  | { readonly is: 'coder-exited'; readonly how: string }
  | { readonly is: 'coder-stopped'; readonly proof: StopProof }
  | { readonly is: 'call-wanted'; readonly bot: Bot; readonly model: string; readonly bodyBytes: number; readonly price: { readonly inputMicroUsd: number; readonly outputMicroUsd: number } | null; readonly outputTokensMax: number; readonly streams?: boolean; readonly outputTokensAsked?: number | null; readonly choices?: number | undefined }
  | { readonly is: 'call-ended'; readonly call: number; readonly path: ServingPath; readonly status: number | null; readonly modelAnswered: string | null; readonly inputTokens: number | null; readonly outputTokens: number | null; readonly costMicroUsd: number | null; readonly latencyMs: number; readonly failure: Failure | null; readonly directLeft?: boolean }
  | { readonly is: 'call-unservable'; readonly failure: Failure }
  | { readonly is: 'evidence-collected'; readonly evidence: Evidence }
  | { readonly is: 'verified'; readonly verification: Verification }
  | { readonly is: 'applied'; readonly how: 'folder' | 'patch-file'; readonly detail: string; readonly patchPath: string | null }
  | { readonly is: 'apply-refused'; readonly failure: Failure }
  | { readonly is: 'workspace-disposed' }
  | { readonly is: 'effect-failed'; readonly effect: string; readonly failure: Failure; /** Which ask was to be answered. */ readonly permissionId?: string }
  | { readonly is: 'deadline-passed' }
  | { readonly is: 'question-expired'; readonly questionId: QuestionId }
  /** What stands in the workspace of a result that waits; `found` null: it could not be read. `asked`: the owner asked for it. */
  | { readonly is: 'result-compared'; readonly expected: Digest; readonly found: Digest | null; readonly why: string | null; readonly asked: boolean }
  | { readonly is: 'apply-unclear' }
  | { readonly is: 'hold-not-shown'; readonly approvalId: ApprovalId }
  | { readonly is: 'app-restarted'; readonly proof: StopProof }

export type TaskCommand = OwnerCommand | HostCommand

/** Handed into `decide`: time, ids made from the command's id, the runtime's message ids. Pure: same input, same output. */
export interface DecideContext {
  readonly now: Millis
  readonly commandId: CommandId | string
  /** A new id, derived from the command's id and a counter. */
  readonly mint: (prefix: string) => string
  /** Ids for a turn's message, ascending as the coder's runtime wants them. */
  readonly messageIds: () => { readonly messageId: string; readonly partId: string }
}

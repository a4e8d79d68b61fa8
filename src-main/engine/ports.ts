/** What the engine needs of the outside. Each port has one adapter folder; the engine never imports an adapter. */
import type { Digest, Millis, TaskId, CallId, Bot } from '../../src-preload/contract/ids.ts'
import type { EditCall } from '../core/approval/edit-call.ts'
import type { EditedFile } from '../core/approval/path-pattern.ts'
import type { OutputBound } from '../core/budget/fit.ts'
import type { Peer, Route } from '../core/envelope/mailbox.ts'
import type { Failure } from '../../src-preload/contract/failure.ts'
import type { Result } from '../../src-preload/contract/result.ts'
import type { CallWaits, CoderRuntime, FileChange, IsolationReport, ModelRef, Mount, SandboxLimits, ServingPath, StopProof, TaskSource } from '../../src-preload/contract/task.ts'
import type { FolderFacts } from '../../src-preload/contract/methods.ts'
import type { CredentialExchange } from '../../src-preload/contract/settings.ts'

export interface Clock { now(): Millis }

/** Mints ids: `prefix_` and at least 96 random bits, ascending by time. */
export interface Ids { next(prefix: string): string }

/** Calls back once after `ms` unless the signal aborts first. */
export interface Timers { after(ms: number, signal: AbortSignal, run: () => void): void }

// ---------------------------------------------------------------- journal

export interface JournalEvent { readonly type: string; readonly payload: unknown }
export interface StoredEvent extends JournalEvent { readonly seq: number; readonly stream: string; readonly version: number; readonly at: Millis; readonly commandId: string; readonly actor: string; readonly hash: string }
export interface EffectRecord { readonly id: string; readonly stream: string; readonly kind: string; readonly payload: unknown; readonly state: 'pending' | 'started' | 'done' | 'retired'; readonly attempts: number; readonly commandId: string }

/** One transaction: receipt of the command, its events, its effects. `expectedVersion` is the stream's event count before it. */
export interface Commit {
  readonly stream: string
  readonly commandId: string
  /** Of what the command says, kept with its receipt: the same id with other content is another command, never this one again. */
  readonly contentDigest: Digest
  readonly actor: string
  readonly at: Millis
  readonly expectedVersion: number
  readonly events: readonly JournalEvent[]
  readonly effects: readonly { readonly id: string; readonly kind: string; readonly payload: unknown }[]
  /** Effects whose outcome this command reports: marked done in the same transaction. */
  readonly settles: readonly string[]
  /** Effects that must not run any more: marked retired in the same transaction. */
  readonly retires: readonly string[]
}
/** `duplicate`: this command was committed before. `other-content`: another command was, under this id. Either way nothing was written. */
export type CommitOutcome = { readonly is: 'committed'; readonly stored: readonly StoredEvent[] } | { readonly is: 'duplicate' } | { readonly is: 'other-content' } | { readonly is: 'conflict'; readonly version: number } | { readonly is: 'failed'; readonly failure: Failure }

/** What every call but `commit` throws when the disk refuses: an error with the failure for the owner. The call may be tried again. */
export interface JournalRefusal extends Error { readonly failure: Failure }

export interface Journal {
  commit(commit: Commit): CommitOutcome
  /** The receipt of the command that was committed under this id; null: none was. `contentDigest` null: an app committed it that did not keep one. */
  receiptOf(commandId: string): { readonly contentDigest: Digest | null } | null
  streams(): readonly string[]
  /** Events of one stream, in order, from `fromVersion` (0 = all). */
  read(stream: string, fromVersion?: number): Iterable<StoredEvent>
  openEffects(): readonly EffectRecord[]
  /** pending → started: written before the remote call is made. Returns false when the effect is not pending any more. Throws a `JournalRefusal` when the disk refuses. */
  startEffect(id: string, at: Millis): boolean
  /** started or pending → done or retired without a command, for effects whose outcome needs no event. Throws a `JournalRefusal` when the disk refuses. */
  endEffect(id: string, state: 'done' | 'retired', at: Millis): void
}

// ---------------------------------------------------------------- sandbox

/**
 * Where things are for a task's agent, as a program inside has to name them: the launcher says so, since not every system can give a folder another
 * name. To the room, and so on cards, in patterns and in the journal, the workspace is `/workspace` on all of them.
 */
export interface AgentPlaces {
  readonly workspace: string
  readonly home: string
  /** For short-lived files. */
  readonly temporary: string
  /** The command broker's client, which stands in for the agent's shell. */
  readonly shell: string
  readonly proxyBaseUrl: string
  /** A port for the agent to listen on. */
  readonly controlPort: number
  /** Where its own programs are looked for, as in `PATH`. */
  readonly searchPath: string
}
/** Folder paths are of the host. */
export interface AgentSpec {
  readonly label: string
  /** Those that were told for this launch; where they are always the same, it goes without. */
  readonly places?: AgentPlaces
  readonly workspaceDir: string
  readonly stateDir: string
  /** Read-only inside: as `/opt/opencode/opencode`, or at its own path where no folder can be given another name. */
  readonly binaryPath: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Host Unix socket of the model proxy; inside it is where `places` say. It stands alone in its folder, which is what the sandbox sees: a proxy that comes back is reached again. */
  readonly egressSocketPath: string
  /** Port that the agent listens on inside; reachable from the host by `controlSocketPath` only. */
  readonly controlPort: number
  /** Start counts as done when a stdout line matches; bounded by `readyWithinMs`. */
  readonly readyLine: RegExp
  readonly readyWithinMs: number
  readonly mounts: readonly Mount[]
  /** Files of the app that it may read: host path → inside path, which belongs to nothing else. */
  readonly readOnlyFiles?: readonly { readonly hostPath: string; readonly into: string }[]
  /** Asked for each command that reaches the broker, at the moment of execution, with its exact bytes. Nothing runs unless it answers `run`. */
  readonly decideCommand: (ask: CommandAsk, signal: AbortSignal) => Promise<CommandVerdict>
  readonly onCommandEnded: (run: CommandRun) => void
  readonly onLine: (stream: 'stdout' | 'stderr', line: string) => void
  /** What it and each of its commands may use: those of the report that the owner is shown. Absent: those in force now. */
  readonly limits?: SandboxLimits | undefined
}
export interface CommandAsk { readonly askId: string; readonly text: string; readonly cwd: string }
/** `stands`: whether the standing grant that lets it run still does. It may have to wait for its turn, so it is asked after that. */
/** `stands`: whether what allows it still does, where that may end; once it does not, the command is refused for `otherwise`, or decided anew where there is none. */
export type CommandVerdict = { readonly verdict: 'run'; readonly stands?: () => boolean; readonly otherwise?: string } | { readonly verdict: 'refuse'; readonly reason: string }
/** `limits`: what its sandbox let it use at most; absent where nothing ran. */
export interface CommandRun { readonly askId: string; readonly text: string; readonly cwd: string; readonly exitCode: number | null; readonly refused: string | null; readonly logDigest: Digest; readonly logTail: string; readonly durationMs: number; readonly limitHit: string | null; readonly limits?: SandboxLimits }

export interface AgentProcess {
  readonly controlSocketPath: string
  readonly pid: number
  /** Process start time as the system counts it (Linux: field 22 of /proc/PID/stat), to tell a pid from its successor. */
  readonly startTime: string
  /** `limitHit`: which bound of the sandbox it passed, in words that continue “the coder …”. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null; readonly limitHit?: string | null }>
  /** Ends the whole tree and proves that it is empty; idempotent. */
  stop(): Promise<StopProof>
}
/** `cwd` and `into` as the room names them. */
export interface CommandSpec {
  readonly workspaceDir: string; readonly text: string; readonly cwd: string; readonly mounts: readonly Mount[]; readonly timeoutMs: number; readonly outputBytesMax: number
  /** Extra read-only folders: host path → inside path. `variable`: names, in the command's environment, where the folder is; a system that cannot give it another name needs that. */
  readonly readOnly: readonly { readonly hostPath: string; readonly into: string; readonly variable?: string }[]
}
export interface Sandbox {
  /** Runs the real argument list with `true`, bounded; cached for some seconds. */
  probe(): Promise<IsolationReport>
  /** Where things will be for an agent that is launched on these folders of the host; each answer is for one launch. */
  places(at: Pick<AgentSpec, 'workspaceDir' | 'stateDir'>): Promise<Result<AgentPlaces, Failure>>
  launch(spec: AgentSpec, signal: AbortSignal): Promise<Result<AgentProcess, Failure>>
  /** One command in a sandbox of its own, without network, agent home or sockets. */
  run(spec: CommandSpec, signal: AbortSignal): Promise<Result<CommandRun, Failure>>
  /** Ends processes that an earlier run of the app left, by recorded pid and start time. */
  endOrphans(recorded: readonly { readonly pid: number; readonly startTime: string }[]): Promise<StopProof>
}

/**
 * A vendor's own program, which answers text-only calls when direct cannot (contracts 3). It gets a home of its own, an empty working folder
 * and one way out; none of our tools, sockets, workspaces or the agent's state. Paths are of the host.
 */
export interface VendorSpec {
  readonly label: string
  readonly programPath: string
  /** `{port}` and `{promptFile}` stand for what they are inside. */
  readonly args: readonly string[]
  /** HOME inside: the one folder that it can write to and that stays. */
  readonly homeDir: string
  /** What else it may read, at the same path inside. */
  readonly readOnlyDirs: readonly string[]
  /** Becomes the prompt file; null: there is none. */
  readonly prompt: string | null
  /** The program listens on its `{port}`, and `socketPath` of the process leads there. */
  readonly serves: boolean
  /** Host Unix socket of an HTTP proxy (CONNECT), which is its only way out; it stands alone in its folder. */
  readonly egressSocketPath: string
  /** What it prints on stdout is kept up to this many bytes; more ends it. */
  readonly outputBytesMax: number
}
export interface VendorProcess {
  /** Leads to the program's port; null when it does not serve. */
  readonly socketPath: string | null
  /** Resolves when nobody is left of it. `text`: what it printed on stdout, for one that serves the last of it; `limitHit`: why it was ended from inside here. */
  readonly ended: Promise<{ readonly exitCode: number | null; readonly text: string; readonly lastWords: string; readonly limitHit: string | null }>
  /** Ends the whole tree and proves that it is empty; idempotent. */
  stop(): Promise<StopProof>
}
export interface VendorSandbox { launch(spec: VendorSpec, signal: AbortSignal): Promise<Result<VendorProcess, Failure>> }

// ---------------------------------------------------------------- coder

export interface CoderSpec {
  readonly taskId: TaskId; readonly runtime: CoderRuntime; readonly workspaceDir: string; readonly stateDir: string; readonly mounts: readonly Mount[]
  readonly egressSocketPath: string; readonly token: string; readonly model: { readonly api: 'chat' | 'responses'; readonly modelId: string; readonly contextTokens: number; readonly outputTokens: number }
  readonly permissions: { readonly edit: 'allow' | 'ask' | 'deny'; readonly bash: 'ask' | 'deny' }
  readonly decideCommand: AgentSpec['decideCommand']; readonly onCommandEnded: AgentSpec['onCommandEnded']
  readonly onSignal: (signal: CoderSignal) => void
  readonly onWriteWait: (wait: WriteWait) => void
}
/** A write that may be made has to wait for its turn: for commands that run, or for an edit that is being made. `for` null: it waits no longer. */
export interface WriteWait { readonly of: { readonly is: 'edit'; readonly callId: CallId } | { readonly is: 'command'; readonly askId: string; readonly text: string }; readonly for: 'command' | 'edit' | null }
/** What the coder's runtime lets us observe, as ours. `signalId` = upstream id + revision: duplicates carry the same id. */
export type CoderSignal = { readonly signalId: string; readonly sessionId: string; readonly parentSessionId: string | null; /** The call that began this session, where the runtime says so. */ readonly parentCallId?: CallId } & (
  | { readonly is: 'busy' }
  | { readonly is: 'idle' }
  | { readonly is: 'retrying'; readonly attempt: number; readonly message: string; readonly nextAt: Millis }
  /** Text so far, whole. `done` when the part ended. */
  | { readonly is: 'text'; readonly partId: string; readonly reasoning: boolean; readonly text: string; readonly done: boolean }
  /**
   * `wireCallId`: the vendor's id, where the call could not be named by it. `target`: the file that it names, where the runtime tells it;
   * `begun`: its arguments are complete and it runs, though what they are is told only at its end.
   */
  | { readonly is: 'tool-pending'; readonly callId: CallId; readonly tool: string; readonly wireCallId?: string; readonly target?: string | null; readonly begun?: boolean }
  | { readonly is: 'tool-running'; readonly callId: CallId; readonly tool: string; readonly input: unknown; readonly output: string | null }
  | { readonly is: 'tool-ended'; readonly callId: CallId; readonly tool: string; readonly outcome: 'done' | 'failed' | 'interrupted'; readonly input: unknown; readonly output: string; readonly title: string | null; readonly exitCode: number | null; /** Of an edit that was let through: what was found to be other than approved when it had ended. */ readonly strayed?: string }
  | { readonly is: 'permission-asked'; readonly permissionId: string; readonly callId: CallId | null; readonly permission: string; readonly patterns: readonly string[]; readonly command: string | null; readonly workdir: string | null; readonly files: readonly EditedFile[]; readonly diff: string | null; /** Of an edit, where the runtime says which call asks. */ readonly edit?: EditCall }
  | { readonly is: 'permission-replied'; readonly permissionId: string; readonly reply: string }
  | { readonly is: 'question-asked'; readonly questionId: string; readonly callId: CallId | null; readonly questions: readonly { readonly question: string; readonly header: string; readonly options: readonly string[]; readonly multiple: boolean }[] }
  /** The turn's loop has ended, read back from history: what the last assistant message says. */
  | { readonly is: 'turn-ended'; readonly messageId: string; readonly outcome: 'completed' | 'failed' | 'aborted'; readonly finish: string | null; readonly text: string; readonly error: string | null; readonly errorCode: string | null }
  | { readonly is: 'exited'; readonly code: number | null; readonly signal: string | null; readonly limitHit?: string | null }
)
export interface CoderRun {
  readonly version: string; readonly pid: number; readonly startTime: string; readonly isolation: IsolationReport
  /** What the owner should know of this run beforehand, each a sentence. */
  readonly notes?: readonly string[]
  createSession(title: string): Promise<Result<{ readonly sessionId: string }, Failure>>
  /** Sessions that exist, for reconciliation. */
  findSession(title: string): Promise<Result<{ readonly sessionId: string } | null, Failure>>
  /** Idempotent by messageId and partId; resolves when accepted (204), not when the turn ends. A failure with code `submit-ambiguous` may have been accepted. */
  submit(turn: { readonly sessionId: string; readonly messageId: string; readonly partId: string; readonly text: string; readonly system: string }): Promise<Result<null, Failure>>
  /** `stands`: whether what allows it still does. An edit may have to wait before it goes on, so it is asked after that. */
  answerPermission(permissionId: string, reply: { readonly allow: true; readonly stands?: () => boolean } | { readonly allow: false; readonly message: string }): Promise<Result<null, Failure>>
  answerQuestion(questionId: string, answers: readonly (readonly string[])[]): Promise<Result<null, Failure>>
  rejectQuestion(questionId: string): Promise<Result<null, Failure>>
  /** abort → wait → clear ghosts; the observation that the turn is over. */
  abort(sessionId: string): Promise<Result<{ readonly observed: boolean; readonly how: string }, Failure>>
  /** What history says of a submitted message: for reconciliation after a crash. */
  reconcile(sessionId: string, messageId: string): Promise<Result<{ readonly found: boolean; readonly state: 'absent' | 'running' | 'completed' | 'failed' | 'interrupted'; readonly text: string }, Failure>>
  stop(): Promise<StopProof>
}
export interface Coder {
  /** Version and usability of the configured binary; bounded to 3 s, shared, cached (contracts 4). */
  probe(): Promise<Result<{ readonly version: string; readonly binaryPath: string }, Failure>>
  start(spec: CoderSpec, signal: AbortSignal): Promise<Result<CoderRun, Failure>>
  /** Ids that ascend as OpenCode's own do: `msg_…`, `prt_…`. */
  mintIds(now: Millis): { readonly messageId: string; readonly partId: string }
}

// ---------------------------------------------------------------- transport

/**
 * One bot's end of a way for envelopes. It vouches for who stands at both ends: `from` of what is sent is this end, whoever asks; what it
 * carries vouches for nothing. Bytes may come twice, late, out of order or never. There is no key by which a send is known again.
 */
export interface Transport {
  readonly id: string
  readonly scope: Route['scope']
  send(conversation: string, to: Peer, bytes: Uint8Array): Promise<Result<null, Failure>>
  /** One listener an end. */
  onArrival(listener: (route: Route, bytes: Uint8Array) => void): void
}

/** A transport seen from both of its ends, where both are of this app. */
export interface RoomCarrier { end(self: Peer): Transport }

// ---------------------------------------------------------------- models

/** `exchange`: the stored credential is exchanged for a token first. `fallback`: what may answer text-only calls instead, in words for the owner; absent: nothing may. */
export interface ModelTarget { readonly ref: ModelRef; readonly providerLabel: string; readonly baseUrl: string; readonly api: 'chat' | 'responses'; readonly remote: boolean; readonly demo: boolean; readonly needsKey: boolean; readonly contextTokens: number; readonly outputTokens: number; readonly price: { readonly inputMicroUsd: number; readonly outputMicroUsd: number; readonly asOf: string } | null; readonly exchange?: CredentialExchange; readonly fallback?: string }
/** Asked before each model request leaves; the engine reserves in the journal and answers. A refusal is final for that request. */
export interface AdmissionAsk { readonly callNumber: number; readonly taskId: TaskId; readonly bot: Bot; readonly model: string; readonly bodyBytes: number; readonly api: 'chat' | 'responses'; readonly streams?: boolean; readonly outputTokensAsked?: number | null; readonly choices?: number | undefined }
/** `again`: it could not be decided, and may be asked again at once. `passing`: what other calls hold until they end was in the way. */
export type Admission = ({ readonly admit: true } & OutputBound) | { readonly admit: false; readonly code: string; readonly message: string; readonly again?: true; readonly passing?: true }
/** `final`: it was refused, and the same request will be. */
export interface GatewayCallEnd { readonly callNumber: number; readonly taskId: TaskId; readonly bot: Bot; readonly path: ServingPath; readonly status: number | null; readonly modelAnswered: string | null; readonly inputTokens: number | null; readonly outputTokens: number | null; readonly latencyMs: number; readonly failure: Failure | null; readonly final?: boolean; readonly directLeft?: boolean | undefined; /** After how long the provider that refused wants to be asked again. */ readonly retryAfterMs?: number | undefined }
/** What an open call waits for has changed. Display only. */
export interface CallProgress { readonly callNumber: number; readonly taskId: TaskId; readonly bot: Bot; readonly waits: CallWaits }
/** A growing tool call as the wire tap sees it. Display only. `sessionId` from the request's own header, null if unknown. */
export interface ToolPreview {
  readonly taskId: TaskId; readonly sessionId: string | null; readonly callId: CallId; readonly tool: string | null
  readonly argumentBytes: number; readonly target: string | null; readonly tail: string; readonly tailOf: string | null; readonly contentLines: number | null
  /** Of an edit: what it replaces. `fields`: the small arguments. `idUsedTwice`: two calls of one reply have this id. */
  readonly before: string | null; readonly fields: readonly { readonly name: string; readonly value: string }[]; readonly idUsedTwice: boolean
  readonly state: 'growing' | 'complete' | 'interrupted'; readonly seenAt: Millis
}
export interface ModelGateway {
  /** A bearer token for one bot of one task, and the Unix socket that serves it. A request under it for another model than the target's is refused; bodies are never rewritten. */
  open(grant: { readonly taskId: TaskId; readonly bot: Bot; readonly target: ModelTarget }): Promise<Result<{ readonly token: string; readonly socketPath: string }, Failure>>
  close(taskId: TaskId): Promise<void>
  onAdmission(decide: (ask: AdmissionAsk) => Promise<Admission>): void
  onCallStarted(listener: (call: AdmissionAsk) => void): void
  onCallProgress(listener: (progress: CallProgress) => void): void
  onCallEnded(listener: (end: GatewayCallEnd) => void): void
  onPreview(listener: (preview: ToolPreview) => void): void
}
/** Resolves what Settings and the environment say. The demo provider is always there. */
export interface ModelDirectory { resolve(ref: ModelRef): Result<ModelTarget, Failure> }

/** Bot A: text only; one chat request a turn. Text streams to `onText` (whole text so far). The output is unparsed; core parses it by schema. */
export interface Lead {
  ask(turn: { readonly socketPath: string; readonly token: string; readonly modelId: string; readonly api: 'chat' | 'responses'; readonly system: string; readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[] }, onText: (text: string) => void, signal: AbortSignal): Promise<Result<{ readonly text: string }, Failure>>
}

// ---------------------------------------------------------------- workspace

export interface PreparedWorkspace { readonly workspaceDir: string; readonly stateDir: string; readonly baseDigest: Digest; readonly baseCommit: string | null; readonly files: number; readonly bytes: number; readonly notes: readonly string[]; readonly listing: readonly string[]; readonly readme: { readonly path: string; readonly text: string } | null }
/** `notes`: what the workspace holds and the diff does not, such as links that lead out. */
export interface WorkspaceDiff { readonly treeDigest: Digest; readonly diffDigest: Digest; readonly files: readonly { readonly change: FileChange; readonly patch: string | null }[]; readonly notes?: readonly string[] }
/** Keeps for each task: the base (untouched copy), the workspace, the private state. Never follows a link, never runs a hook. */
export interface Workspace {
  inspect(folder: string): Promise<FolderFacts>
  prepare(taskId: TaskId, source: TaskSource, signal: AbortSignal): Promise<Result<PreparedWorkspace, Failure>>
  /** Where a prepared task's folders are (after a restart too), or null. */
  locate(taskId: TaskId): Promise<{ readonly workspaceDir: string; readonly stateDir: string } | null>
  readExcerpt(taskId: TaskId, path: string, charsMax: number): Promise<Result<string, Failure>>
  diff(taskId: TaskId, signal: AbortSignal): Promise<Result<WorkspaceDiff, Failure>>
  /** Base copy + diff, in a fresh folder; checks the tree digest. `oracleDir` holds the held criteria tests, outside the copy, or null. `release` removes it. */
  cleanCopy(taskId: TaskId, expected: Digest, signal: AbortSignal): Promise<Result<{ readonly dir: string; readonly treeDigest: Digest; readonly oracleDir: string | null; readonly oracleCommand: string | null; release(): Promise<void> }, Failure>>
  /** All or nothing; refused when the folder changed since `prepare`. For the sample a patch file is left instead. */
  apply(taskId: TaskId, expected: Digest): Promise<Result<{ readonly how: 'folder' | 'patch-file'; readonly detail: string; readonly patchPath: string | null }, Failure>>
  /** For an apply whose outcome is unknown after a crash. */
  observeApply(taskId: TaskId, expected: Digest): Promise<'applied' | 'not-applied' | 'unclear'>
  writePatch(taskId: TaskId, toPath: string): Promise<Result<null, Failure>>
  /** Snapshot of the workspace first, then removal. */
  dispose(taskId: TaskId): Promise<Result<null, Failure>>
  /** Removes all that is on disk of a task, its snapshot too. */
  remove(taskId: TaskId): Promise<Result<null, Failure>>
  usage(): Promise<readonly { readonly taskId: TaskId; readonly bytes: number }[]>
}

/** Tells the owner outside the window; holds no task content. */
export interface Notifier { holdWaiting(count: number): void }


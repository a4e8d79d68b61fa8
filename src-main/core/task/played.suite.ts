import type { ApprovalId, CallId, CommandId, Digest, TaskId } from '../../../src-preload/contract/ids.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import type { NewTask } from '../../../src-preload/contract/methods.ts'
import type { Brief, StopProof } from '../../../src-preload/contract/task.ts'
import { digestOfText } from '../digest.ts'
import type { DecideContext, TaskCommand } from './commands.ts'
import { decide } from './decide.ts'
import type { Decided } from './decision.ts'
import type { Effect } from './effects.ts'
import type { TargetFacts, TaskEvent } from './events.ts'
import { evolve, opened } from './evolve.ts'
import type { PlacedEvent } from './laws.ts'
import { activeTurn, waitingHolds, type TaskState } from './model.ts'

export const demoTarget: TargetFacts = { ref: { providerId: 'demo', modelId: 'demo' }, providerLabel: 'Demo', host: '127.0.0.1:1', api: 'chat', remote: false, demo: true, needsKey: false }
export const remoteTarget: TargetFacts = { ...demoTarget, providerLabel: 'Remote', host: 'models.example', remote: true, demo: false, needsKey: true }
export const aTask: NewTask = {
  commandId: 'click-1' as CommandId, title: 'A task', requirement: 'Make it work', criteria: ['it works'], testCommand: null, source: { kind: 'sample' },
  models: { lead: demoTarget.ref, coder: demoTarget.ref },
  budget: { profile: 'pilot', turnsMax: 4, messagesMax: 8, requestsMax: 20, tokensMax: 1_000_000, moneyMicroUsdMax: null, deadlineMs: 600_000 },
  grant: { edits: 'allow', testCommand: 'allow', otherCommands: 'ask' }, revisionOf: null,
}
export const aBrief: Brief = { goal: 'Do it', scope: '', criteria: ['it works'], testCommand: 'bun test', excerpts: [] }
export const aProof: StopProof = { at: 1, method: 'pid-namespace-empty', checkedProcesses: 3, detail: 'nothing left' }
const isolation = { usable: true, level: 'bubblewrap', summary: 'bubblewrap', detail: '', checkedAt: 1, failure: null } as const
const digest = (of: string): Digest => digestOfText(of)

/** Commands as the host and the owner give them, short. */
export const say = {
  open: (change: { readonly task?: Partial<NewTask>; readonly lead?: TargetFacts; readonly coder?: TargetFacts } = {}): TaskCommand => ({ is: 'open-task', taskId: 'task_1' as TaskId, task: { ...aTask, ...change.task }, targets: { lead: change.lead ?? demoTarget, coder: change.coder ?? demoTarget }, versions: { app: '0', electron: '0', sqlite: '0', openCode: null }, scriptedOwner: false }),
  prepared: { is: 'workspace-prepared', baseDigest: digest('base'), baseCommit: null, files: 1, bytes: 1, notes: [], listing: ['a.ts'] } satisfies TaskCommand,
  brief: { is: 'brief-written', brief: aBrief } satisfies TaskCommand,
  started: { is: 'coder-started', version: '1.18.30', pid: 7, startTime: '70', isolation } satisfies TaskCommand,
  bound: { is: 'session-bound', sessionId: 'ses_1' } satisfies TaskCommand,
  stopped: { is: 'coder-stopped', proof: aProof } satisfies TaskCommand,
  restarted: { is: 'app-restarted', proof: aProof } satisfies TaskCommand,
  verified: (passed: boolean): TaskCommand => ({ is: 'verified', verification: { passed, treeDigest: digest('tree'), treeMatches: true, testRun: { command: 'bun test', exitCode: passed ? 0 : 1, logDigest: digest('log'), logTail: '', durationMs: 1 }, oracle: null, failure: null } }),
  reviewed: { is: 'review-written', text: 'Right.', recommendation: 'accept' } satisfies TaskCommand,
  question: (upstreamId: string, text = 'Which?', options: readonly string[] = []): TaskCommand => ({ is: 'question-asked', upstreamId, text, options }),
  bash: (permissionId: string, text: string, cwd = '/workspace'): TaskCommand => ({ is: 'permission-asked', permissionId, callId: null, permission: 'bash', patterns: [text], command: { text, cwd }, files: [], diff: null, isolation: 'bubblewrap' }),
  toolStarted: (callId: string): TaskCommand => ({ is: 'tool-started', callId: callId as CallId, tool: 'bash', target: null, input: '{}', inputDigest: digest('{}'), inputBytes: 2 }),
  toolEnded: (callId: string): TaskCommand => ({ is: 'tool-ended', callId: callId as CallId, tool: 'bash', state: 'done', input: '{}', inputDigest: digest('{}'), inputBytes: 2, target: null, output: '', outputTruncated: false, exitCode: 0, title: null }),
}

/** One task played by hand: each command is decided, its events folded, its effects kept in order. */
export interface Played {
  readonly state: TaskState
  readonly events: readonly TaskEvent[]
  /** The events as a journal has them. */
  readonly history: readonly PlacedEvent[]
  /** Effects of the last command that was given. */
  readonly effects: readonly Effect[]
  now: number
  give(command: TaskCommand): Decided
  /** Gives commands that must all be taken. */
  play(...commands: readonly TaskCommand[]): Played
  /** Puts a waiting hold on screen, and lets a person's time pass. */
  show(approvalId: ApprovalId): void
  /** Shows the first hold that waits, and decides it. */
  decideHold(verdict: 'approved' | 'denied', approvalId?: ApprovalId, amount?: number): Decided
  endTurn(outcome?: 'completed' | 'failed' | 'aborted', text?: string): Decided
}

/** A task that was just opened. */
export function playTask(first: TaskCommand = say.open()): Played {
  let state: TaskState | null = null
  let given = 0
  let messages = 0
  const history: PlacedEvent[] = []
  let effects: readonly Effect[] = []
  const here = (): TaskState => { if (state === null) throw new Error('the task was not opened'); return state }
  const played: Played = {
    get state() { return here() }, get events() { return history.map(({ payload }) => payload) }, history, get effects() { return effects }, now: 1_000,
    give: (command) => {
      given += 1
      let minted = 0
      const ctx: DecideContext = {
        now: played.now, commandId: `cmd_${String(given)}`, mint: (prefix) => { minted += 1; return `${prefix}_${String(given)}_${String(minted)}` },
        messageIds: () => { messages += 1; return { messageId: `msg_${String(messages)}`, partId: `prt_${String(messages)}` } },
      }
      const decision = decide(state, command, ctx)
      effects = decision.ok ? decision.value.effects : []
      for (const event of decision.ok ? decision.value.events : []) {
        history.push({ payload: event, at: played.now, seq: history.length + 1 })
        state = state === null && event.type === 'task-opened' ? opened(event, played.now) : evolve(here(), event, played.now, history.length)
      }
      return decision
    },
    play: (...commands) => {
      for (const command of commands) {
        const decision = played.give(command)
        if (!decision.ok) throw new Error(`${command.is}: ${decision.error.message}`)
      }
      return played
    },
    show: (approvalId) => {
      const record = here().holds.get(approvalId)
      if (record?.outcome !== 'waiting' || record.shownAt !== null) return
      played.play({ is: 'hold-shown', approvalId, digest: record.hold.digest })
      played.now += limits.humanDecisionMs
    },
    decideHold: (verdict, approvalId, amount) => {
      const record = approvalId === undefined ? waitingHolds(here())[0] : here().holds.get(approvalId)
      if (record === undefined) throw new Error('no hold waits')
      played.show(record.hold.approvalId)
      return played.give({ is: 'decide-hold', approvalId: record.hold.approvalId, digest: record.hold.digest, verdict, reason: null, ...(amount === undefined ? {} : { amount }) })
    },
    endTurn: (outcome = 'completed', text = 'done') => played.give({ is: 'turn-ended', messageId: activeTurn(here())?.messageId ?? 'none', outcome, text, failure: null }),
  }
  return played.play(first)
}

/** Plays up to the coder's start. */
export function playToStart(first: TaskCommand = say.open()): Played {
  const task = playTask(first).play(say.prepared)
  if (waitingHolds(task.state).length > 0) task.decideHold('approved')
  task.play(say.brief)
  task.decideHold('approved')
  if (waitingHolds(task.state).length > 0) task.decideHold('approved')
  return task
}

/** Plays up to the first turn, of which nobody knows yet that it arrived. */
export function playToSend(first: TaskCommand = say.open()): Played {
  return playToStart(first).play(say.started, say.bound)
}

/** Plays up to the first submitted turn. */
export function playToWork(first: TaskCommand = say.open()): Played {
  return submitTurn(playToSend(first))
}

/** The runtime took the active turn. */
export function submitTurn(task: Played): Played {
  const turn = activeTurn(task.state)
  return turn === null ? task : task.play({ is: 'turn-submitted', turnId: turn.turnId })
}

/** What the host collects at the end of a completed turn. */
export function collect(task: Played): Played {
  return task.play({ is: 'evidence-collected', evidence: { turnId: task.state.turns.at(-1)?.turnId ?? '', baseDigest: digest('base'), treeDigest: digest('tree'), diffDigest: digest('diff'), files: [], testRun: null } })
}

/** Plays up to a result that waits for the owner. */
export function playToResult(first: TaskCommand = say.open()): Played {
  const task = playToWork(first)
  task.endTurn()
  return collect(task).play(say.verified(true), say.reviewed)
}

/** Plays up to the owner's click on Accept: the result is being applied. */
export function playToApply(first: TaskCommand = say.open()): Played {
  const task = playToResult(first)
  task.decideHold('approved')
  return task
}

import type { CallId, CommandId, TaskId } from '../../../src-preload/contract/ids.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import type { IsolationReport } from '../../../src-preload/contract/task.ts'
import { digestOfText } from '../../../src-main/core/digest.ts'
import type { TaskCommand } from '../../../src-main/core/task/commands.ts'
import { decide } from '../../../src-main/core/task/decide.ts'
import type { TargetFacts, TaskEvent } from '../../../src-main/core/task/events.ts'
import { evolve, opened } from '../../../src-main/core/task/evolve.ts'
import { activeTurn, waitingHolds, type TaskState } from '../../../src-main/core/task/model.ts'

const target: TargetFacts = { ref: { providerId: 'demo', modelId: 'demo' }, providerLabel: 'Demo', host: '127.0.0.1:1', api: 'chat', remote: false, demo: true, needsKey: false }
const isolation: IsolationReport = { usable: true, level: 'bubblewrap', summary: 'bubblewrap', detail: '', checkedAt: 1, failure: null }
const proof = { at: 1, method: 'pid-namespace-empty', checkedProcesses: 3, detail: 'nothing left' } as const
const output = 'The file was read: 1,204 lines of TypeScript, without a syntax error in it.\n'.repeat(5)

/** All events of one accepted task whose coder made `calls` tool calls with a few words before each: what the core itself decides, in order. */
export function acceptedTask(taskId: TaskId, calls: number, startedAt: number): readonly TaskEvent[] {
  const task = new Player(startedAt)
  const digest = digestOfText(taskId)
  task.give({ is: 'open-task', taskId, targets: { lead: target, coder: target }, versions: { app: '0', electron: '0', sqlite: '0', openCode: '1.18.30' }, scriptedOwner: false, task: {
    commandId: `click-${taskId}` as CommandId, title: `Task ${taskId.slice(-4)}`, requirement: 'Make it work as the text says.', criteria: ['it works'], testCommand: 'bun test', source: { kind: 'sample' }, models: { lead: target.ref, coder: target.ref },
    budget: { profile: 'pilot', turnsMax: 4, messagesMax: 8, requestsMax: 60, tokensMax: 1_000_000, moneyMicroUsdMax: null, deadlineMs: 600_000 }, grant: { edits: 'allow', testCommand: 'allow', otherCommands: 'ask' }, revisionOf: null,
  } })
  task.give({ is: 'workspace-prepared', baseDigest: digest, baseCommit: null, files: 12, bytes: 40_000, notes: [], listing: ['src/index.ts'] })
  task.give({ is: 'brief-written', brief: { goal: 'Make it work', scope: '', criteria: ['it works'], testCommand: 'bun test', excerpts: [] } })
  task.approve()
  task.give({ is: 'coder-started', version: '1.18.30', pid: 7, startTime: '70', isolation })
  task.give({ is: 'session-bound', sessionId: `ses_${taskId}` })
  task.submit()
  for (let call = 0; call < calls; call++) {
    const input = JSON.stringify({ filePath: `/workspace/src/part-${call}.ts`, offset: call })
    const about = { callId: `call_${taskId}_${call}` as CallId, tool: 'read', target: `src/part-${call}.ts`, input, inputDigest: digest, inputBytes: input.length }
    task.give({ is: 'message-said', name: `msg_${call}`, text: `I look at part ${call} of the library, since the requirement names what it does at its edges.`, reasoning: false })
    task.give({ is: 'tool-started', ...about })
    task.give({ is: 'tool-ended', ...about, state: 'done', output, outputTruncated: false, exitCode: null, title: about.target })
  }
  task.endTurn()
  task.give({ is: 'evidence-collected', evidence: { turnId: task.state.turns.at(-1)?.turnId ?? '', baseDigest: digest, treeDigest: digest, diffDigest: digest, files: [], testRun: null } })
  task.give({ is: 'verified', verification: { passed: true, treeDigest: digest, treeMatches: true, testRun: { command: 'bun test', exitCode: 0, logDigest: digest, logTail: '12 pass', durationMs: 900 }, oracle: null, failure: null } })
  task.give({ is: 'review-written', text: 'Right.', recommendation: 'accept' })
  task.give({ is: 'coder-stopped', proof })
  task.approve()
  task.give({ is: 'applied', how: 'patch-file', detail: 'The result was left as a patch file.', patchPath: null })
  task.give({ is: 'workspace-disposed' })
  if (task.state.status !== 'accepted') throw new Error(`the history ends as ${task.state.status}, not as accepted`)
  return task.events
}

/** Gives commands to the core and keeps what it decides. */
class Player {
  readonly events: TaskEvent[] = []
  #state: TaskState | null = null
  #given = 0
  #now: number

  constructor(startedAt: number) {
    this.#now = startedAt
  }

  get state(): TaskState {
    if (this.#state === null) throw new Error('no task was opened')
    return this.#state
  }

  give(command: TaskCommand): void {
    this.#given += 1
    this.#now += 1
    let minted = 0
    const decision = decide(this.#state, command, {
      now: this.#now, commandId: `cmd_${this.#given}`, mint: (prefix) => `${prefix}_${this.#given}_${++minted}`, messageIds: () => ({ messageId: `msg_${this.#given}`, partId: `prt_${this.#given}` }),
    })
    if (!decision.ok) throw new Error(`${command.is}: ${decision.error.message}`)
    for (const event of decision.value.events) {
      this.events.push(event)
      this.#state = this.#state === null && event.type === 'task-opened' ? opened(event, this.#now) : evolve(this.state, event, this.#now, this.events.length)
    }
  }

  /** Shows the hold that waits, and approves it after a person's time. */
  approve(): void {
    const [record] = waitingHolds(this.state)
    if (record === undefined) throw new Error('no hold waits')
    this.give({ is: 'hold-shown', approvalId: record.hold.approvalId, digest: record.hold.digest })
    this.#now += limits.humanDecisionMs
    this.give({ is: 'decide-hold', approvalId: record.hold.approvalId, digest: record.hold.digest, verdict: 'approved', reason: null })
  }

  submit(): void {
    const turn = activeTurn(this.state)
    if (turn === null) throw new Error('no turn was begun')
    this.give({ is: 'turn-submitted', turnId: turn.turnId })
  }

  endTurn(): void {
    this.give({ is: 'turn-ended', messageId: activeTurn(this.state)?.messageId ?? '', outcome: 'completed', text: 'It works now.', failure: null })
  }
}

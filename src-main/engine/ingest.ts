import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import type { CallId, GrantId, Millis, TaskId } from '../../src-preload/contract/ids.ts'
import { limits } from '../../src-preload/contract/limits.ts'
import { rowKey } from '../../src-preload/contract/rows.ts'
import { editDigest, isEditTool } from '../core/approval/edit-call.ts'
import { workspaceRoot } from '../core/approval/path-pattern.ts'
import { digestOfText, utf8Bytes, wellFormed } from '../core/digest.ts'
import type { HostCommand } from '../core/task/commands.ts'
import { targetText } from './command-row.ts'
import type { Clock, CommandAsk, CommandRun, CommandVerdict, CoderSignal } from './ports.ts'
import type { Dispatcher } from './dispatch.ts'
import type { Lanes } from './lanes.ts'
import type { Previews } from './previews.ts'
import type { Room } from './room.ts'
import { grantStands, isOver, refuseAll, takeGrant, type Run, type Runs } from './runs.ts'

export interface IngestDeps { readonly clock: Clock; readonly dispatcher: Dispatcher; readonly lanes: Lanes; readonly room: Room; readonly runs: Runs; readonly previews: Previews; readonly log: (level: 'info' | 'error', msg: string, fields: Record<string, unknown>) => void }

const inputCharsHeld = 8_000
const messageCharsHeld = 16_000

/**
 * Takes what the coder's runtime lets us observe. I1. Each signal's id is its command's id: a double is dropped by the journal.
 * I2. Text that still grows is drawn, not journaled. I4. After `close` nothing is taken: a quit is like a crash.
 */
export class Ingest {
  readonly #deps: IngestDeps
  #closed = false

  constructor(deps: IngestDeps) {
    this.#deps = deps
  }

  /** From now on nothing is taken, and every command that asks is refused. */
  close(): void {
    this.#closed = true
  }

  /** One signal of a task's run. */
  signal(taskId: TaskId, signal: CoderSignal): void {
    if (this.#closed) return
    const run = this.#deps.runs.peek(taskId)
    if (run !== undefined) noteFamily(run, signal)
    switch (signal.is) {
      case 'busy': case 'idle': this.#waiting(taskId, null); return
      case 'retrying': this.#waiting(taskId, `the model: attempt ${String(signal.attempt)} failed: ${signal.message.slice(0, 200)}`, signal.nextAt); return
      case 'text': this.#text(taskId, signal); return
      case 'tool-pending': this.#sayTexts(taskId, signal.signalId); this.#deps.previews.pending(taskId, signal); return
      case 'tool-running': this.#sayTexts(taskId, signal.signalId); this.#send(taskId, signal.signalId, { is: 'tool-started', callId: signal.callId, tool: signal.tool, parentCallId: signal.parentCallId ?? null, ...inputOf(signal.input) }); return
      case 'tool-ended': this.#toolEnded(taskId, signal); return
      default: this.#fact(taskId, signal)
    }
  }

  /** The wire has two calls of one reply under one id: on record, once. */
  idUsedTwice(taskId: TaskId, callId: CallId, tool: string | null): void {
    this.#send(taskId, `${taskId}:twice:${callId}`, { is: 'call-id-used-twice', callId, tool })
  }

  #fact(taskId: TaskId, signal: CoderSignal): void {
    switch (signal.is) {
      case 'permission-asked': this.#send(taskId, signal.signalId, {
        is: 'permission-asked', permissionId: signal.permissionId, callId: signal.callId, permission: signal.permission, patterns: signal.patterns,
        command: signal.command === null ? null : { text: signal.command, cwd: signal.workdir ?? workspaceRoot }, files: signal.files, diff: signal.diff, isolation: this.#isolation(taskId), parentCallId: signal.parentCallId ?? null, ...(signal.edit === undefined ? {} : { edit: signal.edit }),
      }); return
      case 'permission-replied': this.#send(taskId, signal.signalId, { is: 'foreign-permission-answer', permissionId: signal.permissionId, reply: signal.reply }); return
      case 'question-asked': {
        const text = signal.questions.map((question) => question.question).join('\n')
        this.#send(taskId, signal.signalId, { is: 'question-asked', upstreamId: signal.questionId, text, options: signal.questions.flatMap((question) => [...question.options]) })
        return
      }
      case 'turn-ended': {
        this.#sayTexts(taskId, signal.signalId)
        const run = this.#deps.runs.peek(taskId)
        run?.texts.clear()
        this.#deps.previews.settle(taskId, 'The turn ended before the call was complete.')
        this.#waiting(taskId, null)
        if (run !== undefined) run.failedCalls = 0
        // G3. A grant is for its turn: what was approved and did not run is asked for again.
        run?.grants.splice(0)
        this.#send(taskId, signal.signalId, { is: 'turn-ended', messageId: signal.messageId, outcome: signal.outcome, text: wellFormed(signal.text).slice(0, messageCharsHeld), failure: signal.outcome === 'completed' ? null : turnFailure(signal.error, signal.errorCode) })
        return
      }
      case 'exited':
        this.#sayTexts(taskId, signal.signalId)
        this.#deps.runs.peek(taskId)?.texts.clear()
        this.#deps.previews.settle(taskId, 'OpenCode ended.')
        this.#send(taskId, signal.signalId, { is: 'coder-exited', how: signal.limitHit ?? signal.signal ?? `code ${String(signal.code)}` })
        refuseAll(this.#deps.runs.peek(taskId), 'OpenCode ended')
        return
      default: return
    }
  }

  /** G2. At the moment of execution: a one-use grant for exactly these bytes, or the task's own rule, or the owner. */
  async decideCommand(taskId: TaskId, ask: CommandAsk, signal: AbortSignal): Promise<CommandVerdict> {
    const run = this.#deps.runs.peek(taskId)
    if (this.#closed || run === undefined || isOver(run)) return { verdict: 'refuse', reason: 'the task does not run' }
    const refused = this.#deps.lanes.ready(taskId)
    if (refused !== null) return { verdict: 'refuse', reason: refused.message }
    if (signal.aborted) return { verdict: 'refuse', reason: 'its caller is gone' }
    const stands = (grantId: GrantId): boolean => grantStands(this.#deps.dispatcher.state(taskId), grantId, this.#deps.clock.now())
    const taken = takeGrant(run, ask.text, ask.cwd, stands)
    if (taken !== null) {
      const { grantId } = taken
      return grantId === undefined ? { verdict: 'run' } : { verdict: 'run', stands: () => stands(grantId) }
    }
    return new Promise((answer) => {
      let goesOn = (): void => undefined
      const resolve = (verdict: CommandVerdict): void => { goesOn(); answer(verdict) }
      run.asks.set(ask.askId, resolve)
      const refuse = (reason: string): void => { run.asks.delete(ask.askId); resolve({ verdict: 'refuse', reason }) }
      signal.addEventListener('abort', () => {
        if (!run.asks.has(ask.askId)) return
        refuse('its caller is gone')
        this.#send(taskId, `${taskId}:gone:${ask.askId}`, { is: 'ask-gone', askId: ask.askId })
      }, { once: true })
      const sent = this.#deps.dispatcher.dispatch(taskId, { is: 'command-asked', askId: ask.askId, text: ask.text, cwd: ask.cwd, isolation: this.#isolation(taskId) }, { commandId: `${taskId}:ask:${ask.askId}`, actor: 'host' })
      if (!sent.ok) refuse(sent.error.message)
      else if (sent.value.events.length === 0) refuse('no turn is active')
      // A runtime that does not ask itself says that the call runs: its row is told whom it waits for.
      else if (sent.value.events.some(({ type }) => type === 'hold-opened')) goesOn = this.#deps.previews.asksOwner(taskId, ask.text)
    })
  }

  /** A command ended (or was refused): on record with its exit code and log digest. */
  commandEnded(taskId: TaskId, command: CommandRun): void {
    this.#send(taskId, `${taskId}:ran:${command.askId}`, { is: 'command-ran', text: wellFormed(command.text), cwd: command.cwd, exitCode: command.exitCode, refused: command.refused, logDigest: command.logDigest, logTail: wellFormed(command.logTail).slice(-inputCharsHeld), durationMs: command.durationMs, limitHit: command.limitHit })
  }

  #isolation(taskId: TaskId): string {
    const state = this.#deps.dispatcher.state(taskId)
    return state?.coder.is === 'running' ? state.coder.isolation.summary : 'unknown'
  }

  /** One wait keeps its beginning however often it is told of. */
  #waiting(taskId: TaskId, waitingFor: string | null, nextTryAt: Millis | null = null): void {
    const run = this.#deps.runs.peek(taskId)
    if (run === undefined || (run.waiting === null && waitingFor === null)) return
    run.waiting = waitingFor === null ? null : { for: waitingFor, since: run.waiting?.since ?? this.#deps.clock.now(), nextTryAt }
    this.#deps.dispatcher.touch(taskId)
  }

  #text(taskId: TaskId, signal: Extract<CoderSignal, { is: 'text' }>): void {
    const run = this.#deps.runs.peek(taskId)
    if (run === undefined || this.#deps.dispatcher.state(taskId)?.coder.is !== 'running' || signal.text.trim() === '') return
    const text = wellFormed(signal.text).slice(0, messageCharsHeld)
    const said = run.texts.get(signal.partId)?.said ?? ''
    if (signal.done) {
      run.texts.delete(signal.partId)
      if (text !== said) this.#send(taskId, signal.signalId, { is: 'message-said', name: signal.partId, text, reasoning: signal.reasoning })
      return
    }
    run.texts.set(signal.partId, { text, reasoning: signal.reasoning, said })
    const key = rowKey.entry(taskId, `said:${signal.partId}`)
    const before = this.#deps.room.get(taskId, key)
    const { order, at } = before?.kind === 'entry' ? before : this.#deps.previews.next()
    this.#deps.room.put(taskId, [{ kind: 'entry', key, taskId, order, at, author: 'coder', turnId: null, body: { is: 'message', text, streaming: true, reasoning: signal.reasoning } }])
  }

  /** I3. A tool row stands after the words before it: runtimes end a text only with the whole answer, so what streamed so far is journaled first. */
  #sayTexts(taskId: TaskId, signalId: string): void {
    for (const [partId, { text, reasoning, said }] of this.#deps.runs.peek(taskId)?.texts ?? []) {
      if (text === said) continue
      this.#send(taskId, `${signalId}:text:${partId}`, { is: 'message-said', name: partId, text, reasoning })
      this.#deps.runs.peek(taskId)?.texts.set(partId, { text, reasoning, said: text })
    }
  }

  #toolEnded(taskId: TaskId, signal: Extract<CoderSignal, { is: 'tool-ended' }>): void {
    const output = wellFormed(signal.output)
    this.#send(taskId, signal.signalId, {
      is: 'tool-ended', callId: signal.callId, tool: signal.tool, parentCallId: signal.parentCallId ?? null, state: signal.outcome, ...inputOf(signal.input), output: output.slice(0, limits.toolOutputHeldBytesMax), outputTruncated: output.length > limits.toolOutputHeldBytesMax,
      exitCode: signal.exitCode, title: signal.title, ...(isEditTool(signal.tool) ? { change: editDigest(signal.tool, signal.input) } : {}), ...(signal.strayed === undefined ? {} : { strayed: signal.strayed }),
    })
  }

  #send(taskId: TaskId, signalId: string, command: HostCommand): void {
    if (this.#closed) return
    this.#deps.lanes.take(taskId, () => {
      const recorded = this.#deps.dispatcher.record(taskId, command, { commandId: signalId, actor: 'host' })
      if (recorded.is === 'journal-refused') return recorded.failure
      if (!recorded.result.ok) this.#deps.log('error', 'a signal was refused', { taskId, is: command.is, code: recorded.result.error.code })
      return null
    })
  }
}

/** Sessions that the task's own began, at any depth, and the calls that began them. */
function noteFamily(run: Run, { sessionId, parentSessionId, parentCallId }: CoderSignal): void {
  if (parentSessionId === null || !run.sessions.has(parentSessionId)) return
  run.sessions.add(sessionId)
  if (parentCallId !== undefined) run.parentCalls.set(sessionId, parentCallId)
}

/** Why a turn failed, in words: the proxy's own refusals are readable by their code. */
function turnFailure(error: string | null, code: string | null): Failure {
  const words = (error ?? 'no reason was given').slice(0, 1_000)
  if (code === 'budget_exhausted') return failure('budget-exhausted', words, 'Start a new task with a larger budget.')
  if (code === 'tools_fallback_ineligible') return failure('provider-refused', words, 'Mend the provider in Settings → Providers: requests with tools are served direct or not at all.')
  if (code === 'requests_per_turn') return failure('limit-hit', words, 'Look at what Bot B did in this turn, then start the task again with a narrower requirement.')
  if (code === 'usage_unknown') return failure('usage-unknown', words, 'Remove the money cap, or choose a model with a known price and usage.')
  return failure('provider-refused', `Bot B's model call failed: ${words}`, 'Look at the model call rows for status and path; check the provider in Settings, then start the task again.')
}

const targetKeys = ['filePath', 'path', 'file', 'command', 'pattern', 'url'] as const

/** A call's complete arguments: bounded text for the row, digest and size of the whole. */
function inputOf(input: unknown): { readonly input: string; readonly inputDigest: ReturnType<typeof digestOfText>; readonly inputBytes: number; readonly target: string | null } {
  const whole = wellFormed(JSON.stringify(input ?? {}) )
  return { input: whole.slice(0, inputCharsHeld), inputDigest: digestOfText(whole), inputBytes: utf8Bytes(whole), target: targetOf(input) }
}

function targetOf(input: unknown): string | null {
  if (typeof input !== 'object' || input === null) return null
  for (const key of targetKeys) {
    const value = (input as Record<string, unknown>)[key]
    if (typeof value === 'string') return targetText(value)
  }
  const patch = (input as Record<string, unknown>)['patchText']
  const file = typeof patch === 'string' ? /^\*\*\* (?:Add|Update|Delete) File: (.+)$/m.exec(patch)?.[1] : undefined
  return file ?? null
}


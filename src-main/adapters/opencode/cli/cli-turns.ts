import { failure, type Failure } from '../../../../src-preload/contract/failure.ts'
import { limits } from '../../../../src-preload/contract/limits.ts'
import { err, ok, type Result } from '../../../../src-preload/contract/result.ts'
import type { CoderRun, CoderSignal, Timers } from '../../../engine/ports.ts'
import type { ControlClient } from '../control-client.ts'
import type { LogLine } from '../observer.ts'
import { takeEarlierCalls } from '../earlier-calls.ts'
import { newTranslation, type Translation } from '../translation.ts'
import type { WireMessage } from '../wire.ts'
import { turnOrder, type CliGround } from './orders.ts'
import { createRecords, type Records } from './records.ts'
import { startCli, type CliEnd, type CliRun } from './runner-client.ts'

export interface CliTurnsDeps {
  readonly client: ControlClient
  readonly ground: CliGround
  readonly timers: Timers
  readonly log: (line: LogLine) => void
  readonly onSignal: (signal: CoderSignal) => void
  /** Waits until no other run of the task's OpenCode is under way, then does this one. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>
  /** What a session's history has, when no turn runs; empty for one that was made here. */
  readonly earlier: (sessionId: string) => Promise<Result<readonly WireMessage[], string>>
  /** What runs can neither be followed nor ended by itself: the sandbox must end. */
  readonly onLost: () => void
}

type Submission = Parameters<CoderRun['submit']>[0]

export interface CliTurns {
  /** Resolves when `opencode run` has been started, not when it ends. At most one turn at a time. */
  submit(turn: Submission): Promise<Result<null, Failure>>
  /** Kills the turn that runs, and waits until nobody is left of it. */
  abort(): Promise<Result<{ readonly observed: boolean; readonly how: string }, Failure>>
  /** The turn that runs: its message. */
  open(): { readonly sessionId: string; readonly messageId: string } | null
  /** The sandbox is gone: ends the calls of the turn that ran, whose own end nobody knows. */
  interrupt(why: string): void
}

/** `begun`: settled when it is known whether the turn runs; `over`: when it has ended. */
interface OpenTurn extends Pick<Submission, 'sessionId' | 'messageId'> { readonly records: Records; run: CliRun | null; killed: boolean; begun: Promise<unknown>; over: Promise<CliEnd | null> }

const killedWithinMs = 15_000

/** Follows each turn from the start of its `opencode run` to the end of that process, and tells that end once. */
export function createCliTurns(deps: CliTurnsDeps): CliTurns {
  const known = new Set<string>()
  /** One for all turns: a vendor may count its calls anew in each of them. */
  const state = newTranslation()
  const knownSessions = new Set<string>()
  let open: OpenTurn | null = null
  const close = (turn: OpenTurn): void => { if (open === turn) open = null }
  return {
    open: () => open,
    async submit(turn) {
      if (known.has(turn.messageId)) return ok(null)
      if (open !== null) return err(failure('too-busy', 'The session still works on another turn.', 'Wait for its end, or stop the task.'))
      const begun: OpenTurn = { sessionId: turn.sessionId, messageId: turn.messageId, records: createRecords(turn.sessionId, state), run: null, killed: false, begun: Promise.resolve(), over: Promise.resolve(null) }
      known.add(turn.messageId)
      open = begun
      const sent = new Promise<Result<null, Failure>>((answered, broke) => {
        deps.alone(async () => {
          const earlier = knownSessions.has(turn.sessionId) ? ok(null) : await takeEarlier(deps, state, turn.sessionId)
          if (earlier.ok) knownSessions.add(turn.sessionId)
          const started = earlier.ok ? await start(deps, turn, begun) : earlier
          if (started.ok) begun.over = follow(deps, begun, close)
          else close(begun)
          if (!started.ok && started.error.code === 'submit-failed') known.delete(turn.messageId)
          answered(started)
          await begun.over
        }).catch(broke)
      })
      begun.begun = sent
      return await sent
    },
    async abort() {
      const turn = open
      // One that is on its way has no run to kill yet, and would begin after it was said that nothing runs.
      await turn?.begun
      if (turn?.run == null) return ok({ observed: true, how: 'no turn was open; nothing of OpenCode runs between turns' })
      turn.killed = true
      if (!(await turn.run.kill())) return ok({ observed: false, how: 'the sandbox did not take the order to kill “opencode run”' })
      return await killed(deps.timers, turn)
    },
    interrupt(why) {
      for (const signal of open?.records.interrupt(why) ?? []) deps.onSignal(signal)
      open = null
    },
  }
}

/** Before the first turn of this process in a session: the calls of it that another process saw have their names already. */
async function takeEarlier(deps: CliTurnsDeps, state: Translation, sessionId: string): Promise<Result<null, Failure>> {
  const history = await deps.earlier(sessionId)
  if (!history.ok) return err(failure('submit-failed', `The session's earlier calls could not be read: ${history.error}.`, 'Start the turn again.'))
  for (const item of takeEarlierCalls(state, history.value)) if (item.is === 'signal') deps.onSignal(item.signal)
  return ok(null)
}

async function start(deps: CliTurnsDeps, turn: Submission, open: OpenTurn): Promise<Result<null, Failure>> {
  const started = await startCli(deps.client, turnOrder(deps.ground, turn), (line) => { for (const signal of open.records.take(line)) deps.onSignal(signal) })
  if (started.is === 'not-started') return err(failure('submit-failed', `“opencode run” was not started: ${started.why}.`, 'Start the turn again.'))
  if (started.is === 'unknown') {
    // It may run, and nobody reads what it says: it is ended with its sandbox, and its session's history tells.
    deps.onLost()
    return err(failure('submit-ambiguous', `It is not known whether “opencode run” was started: ${started.why}.`, 'Check again; the session’s history tells.'))
  }
  open.run = started.run
  deps.onSignal({ signalId: `${turn.messageId}:busy`, sessionId: turn.sessionId, parentSessionId: null, is: 'busy' })
  return ok(null)
}

async function follow(deps: CliTurnsDeps, turn: OpenTurn, close: (turn: OpenTurn) => void): Promise<CliEnd | null> {
  const end = (await turn.run?.ended) ?? null
  if (end === null) { deps.onLost(); return null }
  if (end.left > 0) { deps.log({ level: 'error', msg: 'processes of a turn did not end', left: end.left }); deps.onLost(); return end }
  const { signals, end: how } = turn.records.conclude(end, turn.killed)
  close(turn)
  for (const signal of signals) deps.onSignal(signal)
  if (turn.records.ignored() > 0) deps.log({ level: 'info', msg: 'lines of “opencode run” meant nothing', lines: turn.records.ignored() })
  if (turn.records.missed() > 0) deps.log({ level: 'warn', msg: 'the observer of “opencode run” failed and early rows may be missing', failures: turn.records.missed() })
  deps.onSignal({
    signalId: `${turn.messageId}:ended`, sessionId: turn.sessionId, parentSessionId: null,
    is: 'turn-ended', messageId: turn.messageId, outcome: how.outcome, finish: how.finish, text: how.text, error: how.error?.slice(0, limits.progressCharsMax) ?? null, errorCode: how.errorCode,
  })
  return end
}

async function killed(timers: Timers, turn: OpenTurn): Promise<Result<{ readonly observed: boolean; readonly how: string }, Failure>> {
  const bound = new AbortController()
  const late = new Promise<'late'>((done) => { timers.after(killedWithinMs, bound.signal, () => { done('late') }) })
  const end = await Promise.race([turn.over, late])
  bound.abort()
  if (end === 'late' || end === null || end.left > 0) return ok({ observed: false, how: `it did not show within ${String(killedWithinMs)} ms that “opencode run” has ended` })
  return ok({ observed: true, how: end.signal === null ? '“opencode run” had ended before; nobody is left of it' : '“opencode run” was killed; nobody is left of it' })
}

import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import type { CallId } from '../../../src-preload/contract/ids.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { StopProof } from '../../../src-preload/contract/task.ts'
import type { Clock, Coder, CoderRun, CoderSignal, CoderSpec } from '../../engine/ports.ts'
import { createGates, type Gates } from './gates.ts'

/** A signal without what the double fills in. */
type Spoken = CoderSignal extends infer S ? (S extends CoderSignal ? Omit<S, 'signalId' | 'sessionId' | 'parentSessionId'> : never) : never

/** One scripted process: what it was told, and a mouth to speak its signals with. */
export interface ScriptedRun {
  readonly spec: CoderSpec
  readonly pid: number
  readonly submitted: { readonly sessionId: string; readonly messageId: string; readonly text: string }[]
  readonly permissions: { readonly permissionId: string; readonly allow: boolean }[]
  readonly answers: string[]
  readonly aborted: string[]
  stopped: boolean
  say(signal: Spoken, signalId?: string): void
}

/** A coder without a process: tests speak its signals and read what it was told. */
export interface ScriptedCoder extends Coder {
  readonly runs: ScriptedRun[]
  readonly gates: Gates<'start' | 'submit' | 'abort' | 'stop' | 'reconcile' | 'answerQuestion'>
  /** The latest run, of one task when named. */
  run(taskId?: string): ScriptedRun
  /** What the next submits answer; default: accepted. */
  submitAnswer: Result<null, Failure>
  /** What history says of a turn. */
  history: 'absent' | 'running' | 'completed' | 'failed' | 'interrupted'
  /** What aborting, permissions, questions and the version probe answer; default: fine. */
  abortAnswer: Result<{ readonly observed: boolean; readonly how: string }, Failure>
  permissionAnswer: Result<null, Failure>
  questionAnswer: Result<null, Failure>
  probeAnswer: Result<{ readonly version: string; readonly binaryPath: string }, Failure>
  startAnswer: Failure | null
  sessionAnswer: Failure | null
  reconcileAnswer: Failure | null
  /** Called after a prompt or an answer was taken, so that a script can go on by itself. */
  onTaken: ((run: ScriptedRun, what: 'prompt' | 'answer') => void) | null
  /** While true, ending a process cannot be proven. */
  unprovable: boolean
}

/** Creates the double. Over a restart of it, sessions (`known`: title → session id) and the count of ids survive only where they are handed in. */
export function createScriptedCoder(clock: Clock, known = new Map<string, string>(), messages = { minted: 0 }): ScriptedCoder {
  const coder: ScriptedCoder = {
    runs: [], gates: createGates(), submitAnswer: ok(null), history: 'interrupted', abortAnswer: ok({ observed: true, how: 'scripted' }), permissionAnswer: ok(null), questionAnswer: ok(null),
    probeAnswer: ok({ version: '1.18.30', binaryPath: '/scripted' }), startAnswer: null, sessionAnswer: null, reconcileAnswer: null, onTaken: null, unprovable: false,
    run: (taskId) => {
      const run = coder.runs.findLast((each) => taskId === undefined || each.spec.taskId === taskId)
      if (run === undefined) throw new Error('no coder was started')
      return run
    },
    probe: () => Promise.resolve(coder.probeAnswer),
    mintIds: () => { messages.minted += 1; return { messageId: `msg_${String(messages.minted).padStart(6, '0')}`, partId: `prt_${String(messages.minted).padStart(6, '0')}` } },
    start: async (spec, signal) => {
      await coder.gates.pass('start')
      if (signal.aborted) return err(failure('cancelled', 'The start was stopped.', 'Nothing to do.'))
      return coder.startAnswer === null ? ok(startRun(coder, spec, clock, known)) : err(coder.startAnswer)
    },
  }
  return coder
}

function startRun(coder: ScriptedCoder, spec: CoderSpec, clock: Clock, known: Map<string, string>): CoderRun {
  const index = coder.runs.length + 1
  let spoken = 0
  let session = ''
  const run: ScriptedRun = {
    spec, pid: 1_000 + index, submitted: [], permissions: [], answers: [], aborted: [], stopped: false,
    say: (signal, signalId) => { spoken += 1; spec.onSignal({ ...signal, signalId: signalId ?? `${spec.taskId}-run${String(index)}-${String(spoken)}`, sessionId: session, parentSessionId: null }) },
  }
  coder.runs.push(run)
  const found = (title: string): { readonly sessionId: string } | null => {
    session = known.get(title) ?? session
    return known.has(title) ? { sessionId: session } : null
  }
  const answer = <T>(refusal: Failure | null, value: () => T): Promise<Result<T, Failure>> => Promise.resolve(refusal === null ? ok(value()) : err(refusal))
  return {
    version: '1.18.30', pid: run.pid, startTime: String(index), isolation: { usable: true, level: 'bubblewrap', summary: 'scripted', detail: '', checkedAt: clock.now(), failure: null },
    createSession: (title) => answer(coder.sessionAnswer, () => { session = `ses_${String(known.size + 1)}`; known.set(title, session); return { sessionId: session } }),
    findSession: (title) => answer(coder.sessionAnswer, () => found(title)),
    submit: async (turn) => {
      session = turn.sessionId
      await coder.gates.pass('submit')
      // Idempotent by message id, as the runtime is.
      if (!run.submitted.some((known) => known.messageId === turn.messageId)) run.submitted.push({ sessionId: turn.sessionId, messageId: turn.messageId, text: turn.text })
      if (coder.submitAnswer.ok) coder.onTaken?.(run, 'prompt')
      return coder.submitAnswer
    },
    answerPermission: (permissionId, reply) => { run.permissions.push({ permissionId, allow: reply.allow }); return Promise.resolve(coder.permissionAnswer) },
    answerQuestion: async (_questionId, answers) => {
      await coder.gates.pass('answerQuestion')
      if (coder.questionAnswer.ok) { run.answers.push(answers.flat().join(' ')); coder.onTaken?.(run, 'answer') }
      return coder.questionAnswer
    },
    rejectQuestion: () => Promise.resolve(ok(null)),
    abort: async (sessionId) => { run.aborted.push(sessionId); await coder.gates.pass('abort'); return coder.abortAnswer },
    reconcile: async () => { await coder.gates.pass('reconcile'); return await answer(coder.reconcileAnswer, () => ({ found: coder.history !== 'absent', state: coder.history, text: 'from history' })) },
    stop: async (): Promise<StopProof> => {
      await coder.gates.pass('stop')
      if (coder.unprovable) throw new Error('a process would not end')
      run.stopped = true
      return { at: clock.now(), method: 'pid-namespace-empty', checkedProcesses: 3, detail: 'scripted: nothing left' }
    },
  }
}

/** A write tool call from pending to done, as a runtime tells it. */
export function sayWrite(run: ScriptedRun, callId: string, filePath: string, content: string): void {
  const call = callId as CallId
  run.say({ is: 'tool-pending', callId: call, tool: 'write' })
  run.say({ is: 'tool-running', callId: call, tool: 'write', input: { filePath, content }, output: null })
  run.say({ is: 'tool-ended', callId: call, tool: 'write', outcome: 'done', input: { filePath, content }, output: 'Wrote file', title: filePath, exitCode: null })
}

/** The end of the run's last turn, as history has it. */
export function sayTurnEnded(run: ScriptedRun, text = 'done', outcome: 'completed' | 'failed' | 'aborted' = 'completed'): void {
  run.say({ is: 'turn-ended', messageId: run.submitted.at(-1)?.messageId ?? 'none', outcome, finish: outcome === 'completed' ? 'stop' : 'error', text, error: outcome === 'completed' ? null : 'scripted', errorCode: null })
}

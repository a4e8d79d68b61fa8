import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import type { CallId } from '../../../src-preload/contract/ids.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { StopProof } from '../../../src-preload/contract/task.ts'
import type { Clock, Coder, CoderRun, CoderSignal, CoderSpec } from '../../engine/ports.ts'
import { createGates, type Gates } from './gates.ts'

/** A signal without what the double fills in. */
type Spoken = CoderSignal extends infer S ? (S extends CoderSignal ? Omit<S, 'signalId' | 'sessionId' | 'parentSessionId'> : never) : never

/** What the runtime keeps on its disk: it outlives its process and the app. */
export interface RuntimeStore {
  /** Session title → session id. */
  readonly sessions: Map<string, string>
  /** By message id: what became of a prompt, and in which process it was taken. */
  readonly prompts: Map<string, { readonly sessionId: string; readonly process: number; state: 'running' | 'completed' | 'failed' }>
  /** Message ids that were sent again although the runtime had them: each is a turn dispatched twice. */
  readonly doubled: string[]
  minted: number
  processes: number
}
export function createRuntimeStore(): RuntimeStore {
  return { sessions: new Map(), prompts: new Map(), doubled: [], minted: 0, processes: 0 }
}

/** One scripted process: what it was told, and a mouth to speak its signals with. */
export interface ScriptedRun {
  readonly spec: CoderSpec
  readonly pid: number
  readonly submitted: { readonly sessionId: string; readonly messageId: string; readonly text: string }[]
  readonly permissions: { readonly permissionId: string; readonly allow: boolean }[]
  readonly answers: string[]
  readonly aborted: string[]
  readonly store: RuntimeStore
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
  /** What history says of a turn; default: what the store has. */
  history: 'as-it-was' | 'absent' | 'running' | 'completed' | 'failed' | 'interrupted'
  /** What aborting, permissions, questions and the version probe answer; default: fine. */
  abortAnswer: Result<{ readonly observed: boolean; readonly how: string }, Failure>
  permissionAnswer: Result<null, Failure>
  questionAnswer: Result<null, Failure>
  probeAnswer: Result<{ readonly version: string; readonly binaryPath: string }, Failure>
  startAnswer: Failure | null
  sessionAnswer: Failure | null
  reconcileAnswer: Failure | null
  /** Called after the runtime took something, so that a script can go on by itself. */
  onTaken: ((run: ScriptedRun, what: 'prompt' | 'answer' | 'permission') => void) | null
  /** While true, ending a process cannot be proven. */
  unprovable: boolean
}

/** Creates the double. Over a restart of it, only `store` survives. */
export function createScriptedCoder(clock: Clock, store = createRuntimeStore()): ScriptedCoder {
  const coder: ScriptedCoder = {
    runs: [], gates: createGates(), submitAnswer: ok(null), history: 'as-it-was', abortAnswer: ok({ observed: true, how: 'scripted' }), permissionAnswer: ok(null), questionAnswer: ok(null),
    probeAnswer: ok({ version: '1.18.30', binaryPath: '/scripted' }), startAnswer: null, sessionAnswer: null, reconcileAnswer: null, onTaken: null, unprovable: false,
    run: (taskId) => {
      const run = coder.runs.findLast((each) => taskId === undefined || each.spec.taskId === taskId)
      if (run === undefined) throw new Error('no coder was started')
      return run
    },
    probe: () => Promise.resolve(coder.probeAnswer),
    mintIds: () => { store.minted += 1; return { messageId: `msg_${String(store.minted).padStart(6, '0')}`, partId: `prt_${String(store.minted).padStart(6, '0')}` } },
    start: async (spec, signal) => {
      await coder.gates.pass('start')
      if (signal.aborted) return err(failure('cancelled', 'The start was stopped.', 'Nothing to do.'))
      return coder.startAnswer === null ? ok(startRun(coder, spec, clock, store)) : err(coder.startAnswer)
    },
  }
  return coder
}

function startRun(coder: ScriptedCoder, spec: CoderSpec, clock: Clock, store: RuntimeStore): CoderRun {
  store.processes += 1
  const index = store.processes
  let spoken = 0
  let session = ''
  const run: ScriptedRun = {
    spec, pid: 1_000 + index, submitted: [], permissions: [], answers: [], aborted: [], store, stopped: false,
    say: (signal, signalId) => { spoken += 1; spec.onSignal({ ...signal, signalId: signalId ?? `${spec.taskId}-run${String(index)}-${String(spoken)}`, sessionId: session, parentSessionId: null }) },
  }
  coder.runs.push(run)
  const found = (title: string): { readonly sessionId: string } | null => {
    session = store.sessions.get(title) ?? session
    return store.sessions.has(title) ? { sessionId: session } : null
  }
  const answer = <T>(refusal: Failure | null, value: () => T): Promise<Result<T, Failure>> => Promise.resolve(refusal === null ? ok(value()) : err(refusal))
  return {
    version: '1.18.30', pid: run.pid, startTime: String(index), isolation: { usable: true, level: 'bubblewrap', summary: 'scripted', detail: '', checkedAt: clock.now(), failure: null },
    createSession: (title) => answer(coder.sessionAnswer, () => { session = `ses_${String(store.sessions.size + 1)}`; store.sessions.set(title, session); return { sessionId: session } }),
    findSession: (title) => answer(coder.sessionAnswer, () => found(title)),
    submit: async (turn) => {
      session = turn.sessionId
      await coder.gates.pass('submit')
      const taken = coder.submitAnswer.ok || coder.submitAnswer.error.code === 'submit-ambiguous'
      if (run.stopped) return err(failure('submit-ambiguous', 'The process ended meanwhile.', 'Check again.'))
      // Idempotent by message id, as the runtime is.
      if (store.prompts.has(turn.messageId)) store.doubled.push(turn.messageId)
      if (!taken || store.prompts.has(turn.messageId)) return coder.submitAnswer
      store.prompts.set(turn.messageId, { sessionId: turn.sessionId, process: index, state: 'running' })
      run.submitted.push({ sessionId: turn.sessionId, messageId: turn.messageId, text: turn.text })
      coder.onTaken?.(run, 'prompt')
      return coder.submitAnswer
    },
    answerPermission: (permissionId, reply) => {
      run.permissions.push({ permissionId, allow: reply.allow && reply.stands?.() !== false })
      if (coder.permissionAnswer.ok) coder.onTaken?.(run, 'permission')
      return Promise.resolve(coder.permissionAnswer)
    },
    answerQuestion: async (_questionId, answers) => {
      await coder.gates.pass('answerQuestion')
      if (coder.questionAnswer.ok) { run.answers.push(answers.flat().join(' ')); coder.onTaken?.(run, 'answer') }
      return coder.questionAnswer
    },
    rejectQuestion: () => Promise.resolve(ok(null)),
    abort: async (sessionId) => { run.aborted.push(sessionId); await coder.gates.pass('abort'); return coder.abortAnswer },
    reconcile: async (_sessionId, messageId) => {
      await coder.gates.pass('reconcile')
      const state = coder.history === 'as-it-was' ? historyOf(store, messageId, index) : coder.history
      return await answer(coder.reconcileAnswer, () => ({ found: state !== 'absent', state, text: 'from history' }))
    },
    stop: async (): Promise<StopProof> => {
      await coder.gates.pass('stop')
      if (coder.unprovable) throw new Error('a process would not end')
      run.stopped = true
      return { at: clock.now(), method: 'pid-namespace-empty', checkedProcesses: 3, detail: 'scripted: nothing left' }
    },
  }
}

function historyOf(store: RuntimeStore, messageId: string, process: number): 'absent' | 'running' | 'completed' | 'failed' | 'interrupted' {
  const prompt = store.prompts.get(messageId)
  if (prompt === undefined) return 'absent'
  return prompt.state === 'running' && prompt.process !== process ? 'interrupted' : prompt.state
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
  const prompt = run.store.prompts.get(run.submitted.at(-1)?.messageId ?? '')
  if (prompt !== undefined) prompt.state = outcome === 'completed' ? 'completed' : 'failed'
  run.say({ is: 'turn-ended', messageId: run.submitted.at(-1)?.messageId ?? 'none', outcome, finish: outcome === 'completed' ? 'stop' : 'error', text, error: outcome === 'completed' ? null : 'scripted', errorCode: null })
}

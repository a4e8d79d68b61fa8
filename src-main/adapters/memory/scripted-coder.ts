import { ok, type Result } from '../../../src-preload/contract/result.ts'
import type { Failure } from '../../../src-preload/contract/failure.ts'
import type { CallId } from '../../../src-preload/contract/ids.ts'
import type { Clock, Coder, CoderRun, CoderSignal, CoderSpec } from '../../engine/ports.ts'

/** A signal without what the double fills in. */
type Spoken = CoderSignal extends infer S ? (S extends CoderSignal ? Omit<S, 'signalId' | 'sessionId' | 'parentSessionId'> : never) : never

/** One scripted process: what it was told, and a mouth to speak its signals with. */
export interface ScriptedRun {
  readonly spec: CoderSpec
  readonly submitted: { readonly messageId: string; readonly text: string }[]
  readonly permissions: { readonly permissionId: string; readonly allow: boolean }[]
  readonly answers: string[]
  stopped: boolean
  say(signal: Spoken, signalId?: string): void
}

/** A coder without a process: tests speak its signals and read what it was told. */
export interface ScriptedCoder extends Coder {
  readonly runs: ScriptedRun[]
  /** The latest run. */
  run(): ScriptedRun
  /** What the next submits answer; default: accepted. */
  submitAnswer: Result<null, Failure>
  /** What history says of a turn. */
  history: 'absent' | 'running' | 'completed' | 'failed' | 'interrupted'
}

/** Creates the double. Sessions survive a restart of it only through `known`. */
export function createScriptedCoder(clock: Clock, known = new Map<string, string>()): ScriptedCoder {
  let minted = 0
  const coder: ScriptedCoder = {
    runs: [], submitAnswer: ok(null), history: 'interrupted',
    run: () => {
      const run = coder.runs.at(-1)
      if (run === undefined) throw new Error('no coder was started')
      return run
    },
    probe: () => Promise.resolve(ok({ version: '1.18.30', binaryPath: '/scripted' })),
    mintIds: () => { minted += 1; return { messageId: `msg_${String(minted).padStart(6, '0')}`, partId: `prt_${String(minted).padStart(6, '0')}` } },
    start: (spec) => { const started = startRun(coder, spec, clock, known); return Promise.resolve(ok(started)) },
  }
  return coder
}

function startRun(coder: ScriptedCoder, spec: CoderSpec, clock: Clock, known: Map<string, string>): CoderRun {
  const index = coder.runs.length + 1
  let spoken = 0
  let session = [...known.values()].at(-1) ?? ''
  const run: ScriptedRun = {
    spec, submitted: [], permissions: [], answers: [], stopped: false,
    say: (signal, signalId) => { spoken += 1; spec.onSignal({ ...signal, signalId: signalId ?? `run${String(index)}-${String(spoken)}`, sessionId: session, parentSessionId: null }) },
  }
  coder.runs.push(run)
  return {
    version: '1.18.30', pid: 1_000 + index, startTime: String(index), isolation: { usable: true, level: 'bubblewrap', summary: 'scripted', detail: '', checkedAt: clock.now(), failure: null },
    createSession: (title) => { session = `ses_${String(known.size + 1)}`; known.set(title, session); return Promise.resolve(ok({ sessionId: session })) },
    findSession: (title) => { const found = known.get(title); if (found !== undefined) session = found; return Promise.resolve(ok(found === undefined ? null : { sessionId: found })) },
    submit: (turn) => { run.submitted.push({ messageId: turn.messageId, text: turn.text }); return Promise.resolve(coder.submitAnswer) },
    answerPermission: (permissionId, reply) => { run.permissions.push({ permissionId, allow: reply.allow }); return Promise.resolve(ok(null)) },
    answerQuestion: (_questionId, answers) => { run.answers.push(answers.flat().join(' ')); return Promise.resolve(ok(null)) },
    rejectQuestion: () => Promise.resolve(ok(null)),
    abort: () => Promise.resolve(ok({ observed: true, how: 'scripted' })),
    reconcile: () => Promise.resolve(ok({ found: coder.history !== 'absent', state: coder.history, text: 'from history' })),
    stop: () => { run.stopped = true; return Promise.resolve({ at: clock.now(), method: 'pid-namespace-empty', checkedProcesses: 3, detail: 'scripted: nothing left' }) },
  }
}

/** A write tool call from pending to done, as a runtime tells it. */
export function sayWrite(run: ScriptedRun, callId: string, filePath: string, content: string): void {
  const call = callId as CallId
  run.say({ is: 'tool-pending', callId: call, tool: 'write' })
  run.say({ is: 'tool-running', callId: call, tool: 'write', input: { filePath, content }, output: null })
  run.say({ is: 'tool-ended', callId: call, tool: 'write', outcome: 'done', input: { filePath, content }, output: 'Wrote file', title: filePath, exitCode: null })
}

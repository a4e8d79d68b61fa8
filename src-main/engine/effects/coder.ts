import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import type { GrantId, TaskId } from '../../../src-preload/contract/ids.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { StopProof } from '../../../src-preload/contract/task.ts'
import { sessionTitle } from '../../core/task/turns.ts'
import { coderSystem } from '../../core/task/turn-text.ts'
import type { Dispatcher } from '../dispatch.ts'
import type { EffectHandlers } from '../outbox.ts'
import type { Clock, Coder, CoderRun, CoderSignal, CommandAsk, CommandRun, CommandVerdict, ModelDirectory, ModelGateway, Timers, Workspace, WriteWait } from '../ports.ts'
import { grantStands, isOver, type Runs } from '../runs.ts'
import { modelAccess, stateOf } from './models.ts'

/** An abort that is not answered within this time is not waited for: the process tree is ended anyway. */
const abortWithinMs = 10_000

export interface CoderEffectDeps {
  readonly dispatcher: Dispatcher; readonly coder: Coder; readonly gateway: ModelGateway; readonly directory: ModelDirectory; readonly workspace: Workspace; readonly runs: Runs; readonly clock: Clock; readonly timers: Timers
  /** Resolves when no effect of the task holds a process or folder any more. */
  readonly quiet: (taskId: TaskId) => Promise<void>
  /** Whether the other bot has taken all that was said to it about this task. */
  readonly carried: (taskId: TaskId) => Promise<Result<null, Failure>>
  readonly onSignal: (taskId: TaskId, signal: CoderSignal) => void
  readonly decideCommand: (taskId: TaskId, ask: CommandAsk, signal: AbortSignal) => Promise<CommandVerdict>
  readonly onCommandEnded: (taskId: TaskId, run: CommandRun) => void
  readonly onWriteWait: (taskId: TaskId, wait: WriteWait) => void
  readonly log: (level: 'info' | 'error', msg: string, fields: Record<string, unknown>) => void
}

type Kinds = 'coder.start' | 'coder.session' | 'coder.submit' | 'coder.answerQuestion' | 'coder.answerPermission' | 'coder.answerCommand' | 'coder.reconcile' | 'coder.stop'

/** Effects on Bot B's process. */
export function coderEffects(deps: CoderEffectDeps): Pick<EffectHandlers, Kinds> {
  return { ...lifecycle(deps), ...conversation(deps) }
}

const stoppedMeanwhile = failure('cancelled', 'The task was stopped while Bot B started.', 'Nothing more happened.')
const notRunning = failure('opencode-exited', 'Bot B is not running any more.', 'Choose one of the exits in the task\'s header, or start the task again.')

function lifecycle(deps: CoderEffectDeps): Pick<EffectHandlers, 'coder.start' | 'coder.session' | 'coder.stop' | 'coder.reconcile'> {
  return {
    'coder.start': async (taskId) => {
      const state = stateOf(deps.dispatcher, taskId)
      // This run's lifetime from the first step on: a stop in between must find it, and end it.
      const run = deps.runs.of(taskId)
      const access = await modelAccess(deps, run, state, 'coder')
      if (!access.ok) return access
      const folders = await deps.workspace.locate(taskId)
      if (folders === null) return err(failure('workspace-failed', 'The task\'s workspace is gone.', 'Start the task again.'))
      if (isOver(run)) return err(stoppedMeanwhile)
      // What a process of before still says is not of this one: its late end must not count as this one's.
      run.process += 1
      const process = run.process
      const ours = (): boolean => deps.runs.peek(taskId) === run && run.process === process
      const { target } = access.value
      const started = await deps.coder.start({
        taskId, runtime: state.runtime, workspaceDir: folders.workspaceDir, stateDir: folders.stateDir, mounts: state.source.kind === 'folder' ? state.source.mounts : [],
        egressSocketPath: access.value.socketPath, token: access.value.token, model: { api: target.api, modelId: target.ref.modelId, contextTokens: target.contextTokens, outputTokens: target.outputTokens },
        permissions: { edit: state.grant.edits, bash: state.grant.testCommand === 'deny' && state.grant.otherCommands === 'deny' ? 'deny' : 'ask' },
        decideCommand: (ask, signal) => (ours() ? deps.decideCommand(taskId, ask, signal) : Promise.resolve({ verdict: 'refuse', reason: 'its process was replaced' })),
        onCommandEnded: (command) => { deps.onCommandEnded(taskId, command) },
        // An end is taken of any process: nothing that is gone waits.
        onWriteWait: (wait) => { if (ours() || wait.for === null) deps.onWriteWait(taskId, wait) },
        onSignal: (signal) => { if (ours()) deps.onSignal(taskId, signal) },
      }, run.lifetime.signal)
      if (!started.ok) return started
      run.coder = started.value
      if (isOver(run)) return err(stoppedMeanwhile)
      const { version, pid, startTime, isolation, notes = [] } = started.value
      return ok({ is: 'coder-started', version, pid, startTime, isolation, notes })
    },
    // S1. Found by its title before one is made: a session made just before a crash is not made twice.
    'coder.session': async (taskId) => {
      const run = deps.runs.of(taskId)
      if (run.coder === null) return err(notRunning)
      const title = sessionTitle(stateOf(deps.dispatcher, taskId))
      const found = await run.coder.findSession(title)
      if (!found.ok) return found
      const session = found.value === null ? await run.coder.createSession(title) : found
      if (!session.ok) return session
      const sessionId = session.value?.sessionId
      if (sessionId === undefined) return err(failure('session-failed', 'OpenCode gave no session.', 'Start the task again.'))
      run.sessions.add(sessionId)
      return ok({ is: 'session-bound', sessionId })
    },
    'coder.reconcile': async (taskId, effect) => {
      const state = stateOf(deps.dispatcher, taskId)
      const turn = state.turns.find((candidate) => candidate.turnId === effect.turnId)
      const { coder } = deps.runs.of(taskId)
      if (coder === null || state.sessionId === null || turn === undefined) return err(notRunning)
      const seen = await coder.reconcile(state.sessionId, turn.messageId)
      if (!seen.ok) return seen
      return ok({ is: 'turn-reconciled', turnId: effect.turnId, state: seen.value.state, text: seen.value.text })
    },
    'coder.stop': async (taskId) => {
      const proof = await stopRun(deps, taskId)
      return proof.ok ? ok({ is: 'coder-stopped', proof: proof.value }) : proof
    },
  }
}

/** Abort first, so that history has it; then everything of the task lets go, and the whole tree ends, with proof. */
async function stopRun(deps: CoderEffectDeps, taskId: TaskId): Promise<Result<StopProof, Failure>> {
  const run = deps.runs.peek(taskId)
  const state = deps.dispatcher.state(taskId)
  if (run?.coder != null && state?.sessionId != null && state.cancel !== null) await abortAsked(deps, run.coder, state.sessionId)
  run?.lifetime.abort()
  await deps.quiet(taskId)
  const coder = run?.coder ?? null
  const proof: Result<StopProof, Failure> = coder === null
    ? ok({ at: deps.clock.now(), method: 'never-started', checkedProcesses: 0, detail: 'No process of Bot B was running, and no check of this task runs any more.' })
    : await provenStop(coder)
  if (!proof.ok) return proof
  deps.runs.end(taskId, 'the task was stopped')
  await deps.gateway.close(taskId)
  return proof
}

/** Asks the runtime to stop. What it answers proves nothing, and whether it answers changes nothing: the tree is ended next. */
async function abortAsked(deps: CoderEffectDeps, coder: CoderRun, sessionId: string): Promise<void> {
  const answered = new AbortController()
  await Promise.race([
    coder.abort(sessionId).then(() => undefined, (error: unknown) => { deps.log('error', 'an abort broke', { error: String(error) }) }),
    new Promise<void>((late) => { deps.timers.after(abortWithinMs, answered.signal, late) }),
  ])
  answered.abort()
}

/** C2. Without proof the task does not count as stopped. */
async function provenStop(coder: CoderRun): Promise<Result<StopProof, Failure>> {
  try {
    return ok(await coder.stop())
  } catch (error) {
    return err(failure('sandbox-failed', `Bot B's processes could not be proven to have ended: ${error instanceof Error ? error.message : String(error)}`, 'Press Stop again. If it stays, end the processes named in the log and restart the app.'))
  }
}

/** G5. What a standing grant allows may wait for its turn, and the grant may be taken back or run out meanwhile. */
function standing(deps: CoderEffectDeps, taskId: TaskId, grantId: GrantId | undefined): { readonly stands?: () => boolean } {
  return grantId === undefined ? {} : { stands: () => grantStands(deps.dispatcher.state(taskId), grantId, deps.clock.now()) }
}

function conversation(deps: CoderEffectDeps): Pick<EffectHandlers, 'coder.submit' | 'coder.answerQuestion' | 'coder.answerPermission' | 'coder.answerCommand'> {
  return {
    'coder.submit': async (taskId, effect) => {
      const state = stateOf(deps.dispatcher, taskId)
      const turn = state.turns.find((candidate) => candidate.turnId === effect.turnId)
      const run = deps.runs.of(taskId)
      if (turn === undefined) return ok(null)
      const carried = await deps.carried(taskId)
      if (!carried.ok) return carried
      if (run.coder === null || state.sessionId === null) return err(notRunning)
      run.sessions.add(state.sessionId)
      const sent = await run.coder.submit({ sessionId: state.sessionId, messageId: turn.messageId, partId: turn.partId, text: turn.text, system: coderSystem(state.runtime) })
      if (sent.ok) return ok({ is: 'turn-submitted', turnId: turn.turnId })
      if (sent.error.code === 'submit-ambiguous') return ok({ is: 'turn-ambiguous', turnId: turn.turnId, what: `${sent.error.message} It was not sent again.` })
      return sent
    },
    'coder.answerQuestion': async (taskId, effect) => {
      const state = stateOf(deps.dispatcher, taskId)
      const question = state.questions.get(effect.questionId)
      const { coder } = deps.runs.of(taskId)
      if (coder === null || question === undefined || question.upstreamId === null || question.answer === null) return err(notRunning)
      const carried = await deps.carried(taskId)
      if (!carried.ok) return carried
      const answered = await coder.answerQuestion(question.upstreamId, [[question.answer]])
      return answered.ok ? ok({ is: 'turn-submitted', turnId: effect.turnId }) : answered
    },
    // A4. The grant for the broker is in place before the runtime may go on. The broker asks at the command's execution whether that still stands.
    'coder.answerPermission': async (taskId, effect) => {
      const run = deps.runs.of(taskId)
      if (run.coder === null) return err(notRunning)
      const grant = effect.allow && effect.command !== null ? { ...effect.command, ...(effect.grantId === undefined ? {} : { grantId: effect.grantId }) } : null
      if (grant !== null) run.grants.push(grant)
      const answered = await run.coder.answerPermission(effect.permissionId, effect.allow ? { allow: true, ...standing(deps, taskId, effect.command === null ? effect.grantId : undefined) } : { allow: false, message: effect.message })
      if (answered.ok) return ok(null)
      // What was not allowed in the runtime must not be allowed at the broker later.
      if (grant !== null && run.grants.includes(grant)) run.grants.splice(run.grants.indexOf(grant), 1)
      return answered
    },
    'coder.answerCommand': async (taskId, effect) => {
      const run = deps.runs.of(taskId)
      const answer = run.asks.get(effect.askId)
      run.asks.delete(effect.askId)
      // Its ask has been used up by this answer: it cannot be decided anew.
      answer?.(effect.allow ? { verdict: 'run', ...standing(deps, taskId, effect.grantId), otherwise: 'the standing grant that covered it has ended' } : { verdict: 'refuse', reason: effect.message })
      if (answer === undefined && effect.allow) return Promise.resolve(err(failure('command-refused', 'The command that you approved does not wait any more, so it did not run.', 'Nothing to do. If Bot B needs it, it will ask again.')))
      return Promise.resolve(ok(null))
    },
  }
}

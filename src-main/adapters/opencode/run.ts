import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { AgentProcess, Clock, CoderRun, CoderSignal, Timers } from '../../engine/ports.ts'
import { abortSession } from './abort-session.ts'
import type { ControlCall, ControlClient } from './control-client.ts'
import type { EditWatch } from './edit-watch.ts'
import { followEvents } from './event-stream.ts'
import { createKeptRejects } from './kept-rejects.ts'
import { agentName, modelAlias, providerId } from './launch-config.ts'
import { createObserver, type LogLine, type Observer } from './observer.ts'
import { answerCalls, refuseAsk } from './permission-answers.ts'
import { reconcileTurn } from './reconcile.ts'
import type { RefusedCommands } from './refused-commands.ts'
import { createReplyLedger, type ReplyLedger } from './reply-ledger.ts'
import { createSignalPace } from './signal-pace.ts'
import { createTurns, type Turns } from './turns.ts'
import { bodies } from './wire.ts'

export interface RunDeps {
  readonly client: ControlClient
  readonly process: AgentProcess
  readonly clock: Clock
  readonly timers: Timers
  readonly log: (line: LogLine) => void
  readonly refused: RefusedCommands
  readonly edits: EditWatch
  /** The workspace, as it is named inside. */
  readonly workspace: string
  readonly onSignal: (signal: CoderSignal) => void
}
/** The conversation with a started agent; what identifies it is added by the caller. */
export type Conversation = Omit<CoderRun, 'version' | 'pid' | 'startTime' | 'isolation'>

/** That the agent's process has ended and how: with the bound of its sandbox that it passed, so that the owner is told which. */
export function exitedSignal(agent: Pick<AgentProcess, 'pid' | 'startTime'>, { code, signal, limitHit = null }: Awaited<AgentProcess['exited']>, sessionId: string): Extract<CoderSignal, { is: 'exited' }> {
  return { signalId: `exit:${agent.pid}:${agent.startTime}`, sessionId, parentSessionId: null, is: 'exited', code, signal, limitHit }
}

/** A canary: the stream's first event must come within this time, else nothing is submitted. */
const canaryMs = 15_000
const callMs = 15_000
const submitMs = 30_000
const lostLinesMax = 3

/** Follows a started agent until its process ends. Resolves when its event stream has proven to work. */
export async function openConversation(deps: RunDeps): Promise<Result<Conversation, Failure>> {
  const lifetime = new AbortController()
  const ledger = createReplyLedger((sessionId) => [...observer.state.waitingAsks.values()].some((ask) => ask.sessionID === sessionId))
  const pace = createSignalPace(deps.timers, lifetime.signal, (signal) => { deps.onSignal(deps.edits.seen(deps.refused.shown(signal))) })
  const answering = { ...deps, ledger, kept: createKeptRejects(ledger), ended: () => lifetime.signal.aborted, questionsIn: (questionId: string): number => observer.state.questionCounts.get(questionId) ?? 1, tell: (signal: CoderSignal) => { pace.push(signal) } }
  const end = (): void => { deps.process.stop().catch((cause: unknown) => { deps.log({ level: 'error', msg: 'a wedged agent could not be ended', cause: String(cause) }) }) }
  const observer = createObserver({
    workspace: deps.workspace, client: deps.client, pace, ledger, log: deps.log,
    hooks: {
      idleSeen: (sessionId) => { turns.wake(sessionId) },
      sessionError: (sessionId, error) => { turns.noteError(sessionId, error) },
      refuse: (permissionId, sessionId, reason) => { refuseAsk(answering, permissionId, sessionId, reason) },
    },
  })
  const turns = createTurns({ observer, edits: deps.edits, clock: deps.clock, timers: deps.timers, lifetime: lifetime.signal, log: deps.log, onWedged: () => { deps.log({ level: 'error', msg: 'OpenCode does not answer any more and is ended' }); end() } })
  let stopping = false
  const canary = listen(deps, observer, lifetime.signal, () => stopping)
  const over = deps.process.exited.then((how) => {
    observer.interrupt('OpenCode ended.')
    const exited = exitedSignal(deps.process, how, [...observer.state.sessions.keys()][0] ?? '')
    observer.tell(exited)
    pace.flush()
    lifetime.abort()
    deps.log({ level: 'info', msg: 'OpenCode ended', code: exited.code, signal: exited.signal, limitHit: exited.limitHit, ignored: observer.ignored() })
    return deps.client.close()
  })
  const seen = await canary
  if (seen === 'late') lifetime.abort()
  if (seen !== 'open') return err(seen === 'late' ? failure('opencode-failed', `OpenCode's event stream did not open within ${canaryMs} ms.`, 'Try again; a loaded machine may need longer.') : failure('opencode-exited', 'OpenCode ended while it started.', 'Try again; check the chosen OpenCode in Settings.'))
  const parts = { ...deps, observer, turns, ledger }
  return ok({
    ...sessions(parts), ...answerCalls(answering),
    submit: (turn) => submit(parts, turn),
    abort: (sessionId) => abortSession(parts, sessionId),
    reconcile: (sessionId, messageId) => reconcileTurn(deps.client, sessionId, messageId),
    async stop() {
      stopping = true
      const proof = await deps.process.stop()
      await over
      return proof
    },
  })
}

interface Parts extends RunDeps { readonly observer: Observer; readonly turns: Turns; readonly ledger: ReplyLedger }

/** Follows the event stream; resolves to whether its canary came in time, or the process ended first. A stop may end the stream before the process is known to have ended. */
function listen(deps: RunDeps, observer: Observer, lifetime: AbortSignal, stopping: () => boolean): Promise<'open' | 'late' | 'ended'> {
  return new Promise((resolve) => {
    const over = new AbortController()
    deps.timers.after(canaryMs, over.signal, () => { resolve('late') })
    lifetime.addEventListener('abort', () => { over.abort(); resolve('ended') }, { once: true })
    followEvents(deps, {
      connected(again) {
        over.abort()
        resolve('open')
        if (again) resync(deps, observer, lifetime)
      },
      event: observer.take,
      lost(why, attempt) { if (attempt <= lostLinesMax && !stopping()) deps.log({ level: 'warn', msg: 'the event stream of OpenCode broke', why, attempt }) },
    }, lifetime).catch((cause: unknown) => { deps.log({ level: 'error', msg: 'OpenCode’s events are not followed any more', cause: String(cause) }) })
  })
}

/** Reads everything again, until it could be read. A turn's own watch keeps looking meanwhile. */
function resync(deps: RunDeps, observer: Observer, lifetime: AbortSignal): void {
  if (lifetime.aborted) return
  observer.resync().then((whole) => { if (!whole) deps.timers.after(1_000, lifetime, () => { resync(deps, observer, lifetime) }) }, (cause: unknown) => {
    deps.log({ level: 'error', msg: 'OpenCode’s state could not be read again', cause: String(cause) })
  })
}

function sessions({ client }: Parts): Pick<CoderRun, 'createSession' | 'findSession'> {
  return {
    async createSession(title) {
      const made = await client.read({ method: 'POST', path: '/session', body: { title }, deadlineMs: callMs }, bodies.session)
      return made.is === 'read' ? ok({ sessionId: made.value.id }) : err(failure('session-failed', `OpenCode made no session that could be read: ${made.why}.`, 'Look for it again before another one is made.'))
    },
    async findSession(title) {
      const listed = await client.read({ method: 'GET', path: '/session', query: { search: title, limit: '1000' }, deadlineMs: callMs }, bodies.sessions)
      if (listed.is === 'unread') return err(failure('session-failed', `OpenCode's sessions could not be read: ${listed.why}.`, 'Try again.'))
      // The search finds parts of titles as well. The newest wins, as it is the one that would have been used.
      const [found] = listed.value.filter((session) => session.title === title && session.parentID === undefined).toSorted((a, b) => b.time.updated - a.time.updated)
      return ok(found === undefined ? null : { sessionId: found.id })
    },
  }
}

type Submission = Parameters<CoderRun['submit']>[0]

/** At most one open turn a session: OpenCode would merge a second prompt into the running loop. */
async function submit({ client, observer, turns }: Parts, turn: Submission): Promise<Result<null, Failure>> {
  if (!turns.begin(turn.sessionId, turn.messageId)) return err(failure('too-busy', 'The session still works on another turn.', 'Wait for its end, or stop the task.'))
  const earlier = await observer.readEarlierCalls(turn.sessionId)
  if (earlier.is === 'unread') {
    turns.drop(turn.messageId)
    return err(failure('submit-failed', `The session's earlier calls could not be read: ${earlier.why}.`, 'Start the turn again.'))
  }
  const outcome = await client.call({
    method: 'POST', path: `/session/${turn.sessionId}/prompt_async`, deadlineMs: submitMs,
    body: { messageID: turn.messageId, agent: agentName, model: { providerID: providerId, modelID: modelAlias }, system: turn.system, parts: [{ id: turn.partId, type: 'text', text: turn.text }] },
  })
  // Aborted while it was sent: the abort may have come before the prompt.
  if (turns.abortAsked(turn.messageId)) await client.call(abortCall(turn.sessionId))
  if (outcome.is === 'answered' && outcome.status >= 200 && outcome.status < 300) { turns.submitted(turn.messageId, 'accepted'); return ok(null) }
  if (outcome.is === 'not-sent' || (outcome.is === 'answered' && outcome.status < 500)) {
    turns.drop(turn.messageId)
    return err(failure('submit-failed', `OpenCode did not take the prompt: ${outcome.is === 'answered' ? `HTTP ${outcome.status}` : outcome.why}.`, 'Start the turn again.'))
  }
  // A server error can leave the message behind (opencode.md, “Identity”).
  turns.submitted(turn.messageId, 'unsure')
  return err(failure('submit-ambiguous', `It is not known whether OpenCode took the prompt: ${outcome.is === 'answered' ? `HTTP ${outcome.status}` : outcome.why}.`, 'Check again; the session’s history tells.'))
}

/** The request that stops a session's loop. It says “true” for unknown sessions as well. */
function abortCall(sessionId: string): ControlCall {
  return { method: 'POST', path: `/session/${sessionId}/abort`, deadlineMs: callMs }
}

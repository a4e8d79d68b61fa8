import { failure, type Failure } from '../../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../../src-preload/contract/result.ts'
import type { Clock, CoderRun, Timers } from '../../../engine/ports.ts'
import type { ControlClient } from '../control-client.ts'
import { reconciledOf, unreadable, type Reconciled } from '../reconcile.ts'
import { verdictOfTurn } from '../turn-verdict.ts'
import { bodies, type WireMessage } from '../wire.ts'
import { jsonOf } from './json-text.ts'
import { exportOrder, importOrder, listOrder, type CliGround } from './orders.ts'
import { startCli, type CliOrder } from './runner-client.ts'

export interface SessionDeps {
  readonly client: ControlClient
  readonly ground: CliGround
  readonly clock: Clock
  readonly timers: Timers
  /** An id that no session has yet. */
  readonly newSessionId: () => string
}

/** Commands that read or make sessions take seconds; the bound is for loaded machines. */
const commandMs = 60_000

/** Makes a session before the first turn, so that a crash in that turn leaves no doubt whose it was. */
export async function createSession(deps: SessionDeps, title: string): ReturnType<CoderRun['createSession']> {
  const sessionId = deps.newSessionId()
  const made = await printed(deps, importOrder(deps.ground, { sessionId, title, at: deps.clock.now() }))
  if (made.ok && made.value.includes(sessionId)) return ok({ sessionId })
  return err(failure('session-failed', `OpenCode made no session: ${made.ok ? made.value.slice(0, 300) : made.error}.`, 'Look for it again before another one is made.'))
}

/** The newest session of exactly this title. */
export async function findSession(deps: SessionDeps, title: string): ReturnType<CoderRun['findSession']> {
  const listed = await printed(deps, listOrder(deps.ground))
  if (!listed.ok) return err(failure('session-failed', `OpenCode's sessions could not be read: ${listed.error}.`, 'Try again.'))
  // Without any session it prints nothing.
  const sessions = bodies.listed.safeParse(listed.value.trim() === '' ? [] : jsonOf(listed.value))
  if (!sessions.success) return err(failure('session-failed', 'OpenCode\'s list of sessions has another shape than expected.', 'Use the OpenCode that ships with the app.'))
  const [found] = sessions.data.filter((session) => session.title === title).toSorted((a, b) => b.updated - a.updated)
  return ok(found === undefined ? null : { sessionId: found.id })
}

/**
 * What a session's history has of a turn, when no turn runs. Its message is known by the name of the agent that it was sent to, which is
 * the turn's own; OpenCode writes it before it asks the model, so a turn that history does not have has done nothing.
 */
export async function reconcileSession(deps: SessionDeps, sessionId: string, messageId: string): Promise<Result<Reconciled, Failure>> {
  const history = await readSession(deps, sessionId)
  if (!history.ok) return err(unreadable(history.error))
  const messages = history.value
  const sent = messages.find(({ info }) => info.role === 'user' && info.agent === messageId)
  return ok(sent === undefined ? { found: false, state: 'absent', text: '' } : reconciledOf(verdictOfTurn(messages, sent.info.id)))
}

/** A session's messages, when no turn runs. */
export async function readSession(deps: SessionDeps, sessionId: string): Promise<Result<readonly WireMessage[], string>> {
  const exported = await printed(deps, exportOrder(deps.ground, sessionId))
  if (!exported.ok) return exported
  const history = bodies.exported.safeParse(jsonOf(exported.value))
  return history.success && history.data.info.id === sessionId ? ok(history.data.messages) : err('its export has another shape than expected')
}

/** What one of OpenCode's commands prints when it succeeds. */
async function printed(deps: SessionDeps, order: CliOrder): Promise<Result<string, string>> {
  const lines: string[] = []
  const started = await startCli(deps.client, order, (line) => { lines.push(line) })
  if (started.is !== 'started') return err(started.why)
  const bound = new AbortController()
  const late = new AbortController()
  // Whether the kill reaches it or not: the end of the run tells, and the runner's silence ends the wait as well.
  deps.timers.after(commandMs, bound.signal, () => { late.abort(); void started.run.kill() })
  const end = await started.run.ended
  bound.abort()
  if (end === null) return err('its sandbox went away')
  if (late.signal.aborted) return err(`it did not end within ${String(commandMs)} ms`)
  return end.code === 0 ? ok(lines.join('\n')) : err(`it ended with ${end.signal ?? `exit code ${String(end.code)}`}: ${end.words.trim().slice(-300)}`)
}

import { failure } from '../../../../src-preload/contract/failure.ts'
import { err, ok } from '../../../../src-preload/contract/result.ts'
import type { AgentProcess } from '../../../engine/ports.ts'
import { exitedSignal, type Conversation } from '../run.ts'
import { createCliTurns, type CliTurnsDeps } from './cli-turns.ts'
import { createSession, findSession, readSession, reconcileSession, type SessionDeps } from './sessions.ts'

export interface CliDeps extends SessionDeps, Omit<CliTurnsDeps, 'alone' | 'earlier' | 'onLost'> { readonly process: AgentProcess }

const nothingAsked = failure('unknown-approval', '“opencode run” asks nothing that could be answered.', 'Nothing to do: its commands ask at the command broker.')

/**
 * The conversation with an OpenCode that is started anew for each turn (`opencode run`). Between turns nothing of it runs. A turn's records
 * come from its stdout, its end is the end of its process, and what a history has is read with `opencode export`.
 */
export function openCliConversation(deps: CliDeps): Conversation {
  /** One run at a time: so it is with OpenCode's database, and so the runner takes it. */
  let queue: Promise<unknown> = Promise.resolve()
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const next = queue.then(work)
    queue = next.catch(() => undefined)
    return next
  }
  const end = (): void => { deps.process.stop().catch((cause: unknown) => { deps.log({ level: 'error', msg: 'a sandbox that is not followed any more could not be ended', cause: String(cause) }) }) }
  /** Made here, so nothing was before in them. */
  const made = new Set<string>()
  const earlier = (sessionId: string): ReturnType<typeof readSession> => (made.has(sessionId) ? Promise.resolve(ok([])) : readSession(deps, sessionId))
  const turns = createCliTurns({ ...deps, alone, earlier, onLost: end })
  const over = deps.process.exited.then((how) => {
    const exited = exitedSignal(deps.process, how, turns.open()?.sessionId ?? '')
    turns.interrupt('OpenCode ended.')
    deps.onSignal(exited)
    deps.log({ level: 'info', msg: 'the sandbox of OpenCode ended', code: exited.code, signal: exited.signal, limitHit: exited.limitHit })
    return deps.client.close()
  })
  return {
    createSession: (title) => alone(async () => {
      const created = await createSession(deps, title)
      if (created.ok) made.add(created.value.sessionId)
      return created
    }),
    findSession: (title) => alone(() => findSession(deps, title)),
    submit: (turn) => turns.submit(turn),
    answerPermission: () => Promise.resolve(err(nothingAsked)),
    answerQuestion: () => Promise.resolve(err(nothingAsked)),
    rejectQuestion: () => Promise.resolve(err(nothingAsked)),
    abort: () => turns.abort(),
    reconcile: (sessionId, messageId) => turns.open()?.messageId === messageId ? Promise.resolve(ok({ found: true, state: 'running', text: '' })) : alone(() => reconcileSession(deps, sessionId, messageId)),
    async stop() {
      const proof = await deps.process.stop()
      await over
      return proof
    },
  }
}

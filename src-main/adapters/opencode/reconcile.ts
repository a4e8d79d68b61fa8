import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { ControlClient } from './control-client.ts'
import { verdictOfTurn, type TurnVerdict } from './turn-verdict.ts'
import { bodies } from './wire.ts'

const readMs = 15_000
/** The durable log of all sessions can be long. */
const logMs = 30_000

export interface Reconciled { readonly found: boolean; readonly state: 'absent' | 'running' | 'completed' | 'failed' | 'interrupted'; readonly text: string }

/**
 * What OpenCode knows of a submitted message. `absent` is said only when neither the session's history nor the durable log of all
 * sessions has it: then it may be sent again. An answer that was begun in a session that is idle is `interrupted`: nothing resumes it.
 */
export async function reconcileTurn(client: ControlClient, sessionId: string, messageId: string): Promise<Result<Reconciled, Failure>> {
  const statuses = await client.read({ method: 'GET', path: '/session/status', deadlineMs: readMs }, bodies.statuses)
  if (statuses.is === 'unread') return err(unreadable(statuses.why))
  const running = (statuses.value[sessionId]?.type ?? 'idle') !== 'idle'
  const history = await client.read({ method: 'GET', path: `/session/${sessionId}/message`, deadlineMs: readMs }, bodies.messages)
  if (history.is === 'unread') return err(unreadable(history.why))
  const verdict = verdictOfTurn(history.value, messageId)
  if (verdict.is === 'absent') return await inLog(client, messageId)
  if (running) return ok({ found: true, state: 'running', text: '' })
  return ok(reconciledOf(verdict))
}

/** What a verdict means for a turn that does not run any more. */
export function reconciledOf(verdict: TurnVerdict): Reconciled {
  switch (verdict.is) {
    case 'absent': return { found: false, state: 'absent', text: '' }
    case 'unanswered': return { found: true, state: 'interrupted', text: '' }
    case 'unfinished': return { found: true, state: 'interrupted', text: verdict.text }
    case 'ended': return { found: true, state: ({ completed: 'completed', failed: 'failed', aborted: 'interrupted' } as const)[verdict.end.outcome], text: verdict.end.text }
  }
}

/** A message that a session's history lacks may still have arrived: as a message of another session, or before it was removed. */
async function inLog(client: ControlClient, messageId: string): Promise<Result<Reconciled, Failure>> {
  const log = await client.read({ method: 'POST', path: '/sync/history', body: {}, deadlineMs: logMs }, bodies.syncHistory)
  if (log.is === 'unread') return err(unreadable(log.why))
  const arrived = log.value.some(({ type, data }) => type.startsWith('message.updated') && data.info?.id === messageId)
  return ok(arrived ? { found: true, state: 'interrupted', text: '' } : { found: false, state: 'absent', text: '' })
}

/** History could not be read: nothing is concluded from that. */
export function unreadable(why: string): Failure {
  return failure('opencode-failed', `What OpenCode knows of the turn could not be read: ${why}.`, 'Check again.')
}

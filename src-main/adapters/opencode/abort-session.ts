import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { Timers } from '../../engine/ports.ts'
import type { ControlClient } from './control-client.ts'
import type { Observer } from './observer.ts'
import type { ReplyLedger } from './reply-ledger.ts'
import { familyOf } from './translation.ts'
import type { Turns } from './turns.ts'
import type { TurnEnd } from './turn-verdict.ts'
import { bodies } from './wire.ts'

export interface AbortParts { readonly client: ControlClient; readonly timers: Timers; readonly observer: Observer; readonly turns: Turns; readonly ledger: ReplyLedger }

const callMs = 10_000
/** Measured: text 70 ms, held arguments 310 ms, a command 440 ms; a child that ignores SIGTERM 3 s more. */
const observedWithinMs = 8_000
const pollMs = 100
/** Longer than an abort of a session without subagents takes. */
const insistEveryMs = 600

/**
 * Aborts a session's turn and waits until history and status show that it is over; then clears the asks that an abort leaves behind.
 * `observed` is false when that did not show in time: only ending the sandbox proves it then. An abort proves nothing about
 * processes that a tool left running.
 */
export async function abortSession(parts: AbortParts, sessionId: string): Promise<Result<{ readonly observed: boolean; readonly how: string }, Failure>> {
  parts.turns.noteAbort(sessionId)
  const sent = await parts.client.call({ method: 'POST', path: `/session/${sessionId}/abort`, deadlineMs: callMs })
  if (sent.is === 'not-sent') return err(failure('opencode-failed', `OpenCode could not be told to stop: ${sent.why}.`, 'Its process is ended next.'))
  parts.turns.wake(sessionId)
  const over = new AbortController()
  const late = new Promise<'late'>((resolve) => { parts.timers.after(observedWithinMs, over.signal, () => { resolve('late') }) })
  insist(parts, sessionId, over.signal)
  const { end, idle } = await ending(parts, sessionId, late).finally(() => { over.abort() })
  const cleared = await clearGhosts(parts, sessionId)
  return ok(idle ? { observed: true, how: `${historyWords(end)}; the session is idle; ${cleared} open asks cleared` } : { observed: false, how: `OpenCode did not show within ${observedWithinMs} ms that it stopped` })
}

/** How the turn ended, and whether its session then became idle in time. */
async function ending(parts: AbortParts, sessionId: string, late: Promise<'late'>): Promise<{ readonly end: TurnEnd | null | 'late'; readonly idle: boolean }> {
  const end = await Promise.race([parts.turns.settled(sessionId), late])
  return { end, idle: end === 'late' ? false : await becomesIdle(parts, sessionId, late) }
}

/**
 * Tells it again for as long as it goes on: an abort that comes while a subagent works ends that one only, and to the loop above it its call
 * has merely failed (seen with 1.18.30).
 */
function insist(parts: Pick<AbortParts, 'client' | 'timers' | 'turns'>, sessionId: string, over: AbortSignal): void {
  parts.timers.after(insistEveryMs, over, () => {
    void parts.client.call({ method: 'POST', path: `/session/${sessionId}/abort`, deadlineMs: callMs }).then(() => {
      parts.turns.wake(sessionId)
      if (!over.aborted) insist(parts, sessionId, over)
    })
  })
}

function historyWords(end: TurnEnd | null | 'late'): string {
  if (end === null || end === 'late') return 'no turn was open'
  return end.outcome === 'aborted' ? 'history says aborted' : `the turn had ${end.outcome === 'completed' ? 'completed' : 'failed'} before`
}

async function becomesIdle({ observer, timers }: AbortParts, sessionId: string, late: Promise<'late'>): Promise<boolean> {
  for (;;) {
    const statuses = await observer.readStatuses()
    if (statuses.is === 'read' && (statuses.value[sessionId]?.type ?? 'idle') === 'idle') return true
    const over = new AbortController()
    const pause = new Promise<'again'>((resolve) => { timers.after(pollMs, over.signal, () => { resolve('again') }) })
    const next = await Promise.race([pause, late])
    over.abort()
    if (next === 'late') return false
  }
}

/** Asks and questions of an aborted session stay listed though nobody waits for them any more. Returns how many were cleared. */
async function clearGhosts({ client, observer, ledger }: AbortParts, sessionId: string): Promise<number> {
  const family = familyOf(observer.state, sessionId)
  const [permissions, questions] = await Promise.all([
    client.read({ method: 'GET', path: '/permission', deadlineMs: callMs }, bodies.permissions),
    client.read({ method: 'GET', path: '/question', deadlineMs: callMs }, bodies.questions),
  ])
  let cleared = 0
  for (const ask of permissions.is === 'read' ? permissions.value : []) {
    if (!family.has(ask.sessionID)) continue
    ledger.asked(ask.id, { sessionId: ask.sessionID, callId: null, command: null, cwd: null })
    ledger.sending(ask.id, 'reject')
    const done = await client.call({ method: 'POST', path: `/permission/${ask.id}/reply`, body: { reply: 'reject' }, deadlineMs: callMs })
    if (done.is === 'answered' && done.status === 200) { ledger.taken(ask.id); cleared += 1 }
    ledger.answered(ask.id)
  }
  for (const ask of questions.is === 'read' ? questions.value : []) {
    if (!family.has(ask.sessionID)) continue
    const done = await client.call({ method: 'POST', path: `/question/${ask.id}/reject`, body: {}, deadlineMs: callMs })
    if (done.is === 'answered' && done.status === 200) cleared += 1
  }
  return cleared
}

import { limits } from '../../../src-preload/contract/limits.ts'
import type { Millis } from '../../../src-preload/contract/ids.ts'
import type { Clock, Timers } from '../../engine/ports.ts'
import type { EditWatch } from './edit-watch.ts'
import type { LogLine, Observer } from './observer.ts'
import { familyOf, openCalls } from './translation.ts'
import { errorWords, verdictOfTurn, type TurnEnd } from './turn-verdict.ts'
import type { WireError } from './wire.ts'

/** `unsure`: OpenCode may or may not have the prompt; only history can tell, and nothing is concluded from its absence. */
export type Acceptance = 'sending' | 'accepted' | 'unsure'

export interface Turns {
  /** Watches a turn until history says that it has ended. False when the session has another open turn. A turn that is or was watched is not watched twice. */
  begin(sessionId: string, messageId: string): boolean
  submitted(messageId: string, acceptance: Exclude<Acceptance, 'sending'>): void
  /** The prompt certainly did not reach OpenCode. */
  drop(messageId: string): void
  /** Looks again now at a session's open turn. */
  wake(sessionId: string): void
  noteAbort(sessionId: string): void
  noteError(sessionId: string | null, error: WireError | null): void
  /** Resolves when the session has no open turn, with how the last one ended; null when it had none. Does not resolve when the process ends first. */
  settled(sessionId: string): Promise<TurnEnd | null>
  abortAsked(messageId: string): boolean
}

export interface TurnsDeps {
  readonly observer: Observer
  readonly edits: Pick<EditWatch, 'editingIn'>
  readonly clock: Clock
  readonly timers: Timers
  readonly lifetime: AbortSignal
  readonly log: (line: LogLine) => void
  /** The agent answered nothing for a minute while a turn was open. */
  readonly onWedged: () => void
}

interface Turn {
  readonly sessionId: string
  readonly messageId: string
  readonly done: Promise<TurnEnd>
  readonly finish: (end: TurnEnd) => void
  acceptance: Acceptance
  abortAsked: boolean
  error: WireError | null
  /** Set between two looks; a wake that comes during a look is kept for after it. */
  resume: (() => void) | null
  wakePending: boolean
}

type Waiting = 'running' | 'settling' | 'not-begun' | 'failing' | 'unread'
/** `end` beside a `settling` look is what to conclude when the settling does not come to an end by itself. */
type Look = { readonly is: 'ended'; readonly end: TurnEnd } | { readonly is: Waiting; readonly end: TurnEnd | null }

/** How long until the next look when nothing wakes the watch. Events are notifications only, so a running turn is looked at as well. */
const pauseMs: Record<Waiting, number> = { running: 5_000, settling: 150, 'not-begun': 500, failing: 500, unread: 1_000 }
/**
 * How long each may last. After an abort, the last updates come up to 0.4 s after the session is idle. The session's error beside a prompt
 * without an answer may be a late one of the turn before.
 */
const patienceMs: Record<Waiting, number> = { running: Infinity, settling: 2_000, 'not-begun': 60_000, failing: 5_000, unread: 60_000 }

/** Follows each submitted turn to its end, and tells that end exactly once. */
export function createTurns(deps: TurnsDeps): Turns {
  const open = new Map<string, Turn>()
  const known = new Set<string>()
  const ofSession = (sessionId: string | null): Turn[] => [...open.values()].filter((turn) => sessionId === null || turn.sessionId === sessionId)
  return {
    begin(sessionId, messageId) {
      if (known.has(messageId)) return true
      if (ofSession(sessionId).length > 0) return false
      const turn = newTurn(sessionId, messageId)
      known.add(messageId)
      open.set(messageId, turn)
      watch(deps, open, turn).catch((cause: unknown) => {
        deps.log({ level: 'error', msg: 'a turn is not watched any more', messageId, cause: String(cause) })
        deps.onWedged()
      })
      return true
    },
    submitted(messageId, acceptance) {
      const turn = open.get(messageId)
      if (turn === undefined) return
      turn.acceptance = acceptance
      wakeTurn(turn)
    },
    drop(messageId) {
      const turn = open.get(messageId)
      if (turn === undefined) return
      known.delete(messageId)
      open.delete(messageId)
      wakeTurn(turn)
    },
    wake(sessionId) { for (const turn of ofSession(sessionId)) wakeTurn(turn) },
    noteAbort(sessionId) { for (const turn of ofSession(sessionId)) turn.abortAsked = true },
    noteError(sessionId, error) {
      for (const turn of ofSession(sessionId)) { turn.error = error ?? { name: 'an unnamed error' }; wakeTurn(turn) }
    },
    async settled(sessionId) {
      const ends = await Promise.all(ofSession(sessionId).map((turn) => turn.done))
      return ends.at(-1) ?? null
    },
    abortAsked: (messageId) => open.get(messageId)?.abortAsked === true,
  }
}

function newTurn(sessionId: string, messageId: string): Turn {
  let finish: (end: TurnEnd) => void = () => undefined
  const done = new Promise<TurnEnd>((resolve) => { finish = resolve })
  return { sessionId, messageId, done, finish, acceptance: 'sending', abortAsked: false, error: null, resume: null, wakePending: false }
}

function wakeTurn(turn: Turn): void {
  turn.wakePending = true
  turn.resume?.()
}

async function watch(deps: TurnsDeps, open: Map<string, Turn>, turn: Turn): Promise<void> {
  let last: Waiting = 'running'
  let since: Millis = deps.clock.now()
  const over = (): boolean => deps.lifetime.aborted || open.get(turn.messageId) !== turn
  for (;;) {
    const byClock = await sleepUntilWoken(deps, turn, pauseMs[last])
    if (over()) return
    if (turn.acceptance === 'sending') continue
    const look = await lookAt(deps, turn, byClock)
    if (over()) return
    if (look.is === 'ended') { conclude(deps.observer, open, turn, look.end); return }
    if (look.is !== last) { last = look.is; since = deps.clock.now() }
    if (deps.clock.now() - since < patienceMs[look.is] || (look.is === 'not-begun' && turn.acceptance === 'unsure')) continue
    if (look.is === 'unread') { deps.onWedged(); return }
    conclude(deps.observer, open, turn, look.end ?? outOfPatience(turn, look.is))
    return
  }
}

/** True when the pause ran out, false when something woke the watch. */
async function sleepUntilWoken(deps: TurnsDeps, turn: Turn, ms: number): Promise<boolean> {
  const over = new AbortController()
  const byClock = turn.wakePending ? false : await new Promise<boolean>((resolve) => {
    turn.resume = () => { resolve(false) }
    deps.lifetime.addEventListener('abort', turn.resume, { once: true })
    deps.timers.after(ms, over.signal, () => { resolve(true) })
  })
  over.abort()
  if (turn.resume !== null) deps.lifetime.removeEventListener('abort', turn.resume)
  turn.resume = null
  turn.wakePending = false
  return byClock
}

/** One look at a turn. Status first: what is idle then has its whole history afterwards. */
async function lookAt({ observer, edits }: TurnsDeps, turn: Turn, byClock: boolean): Promise<Look> {
  const statuses = await observer.readStatuses()
  if (statuses.is === 'unread') return { is: 'unread', end: null }
  if ((statuses.value[turn.sessionId]?.type ?? 'idle') !== 'idle') {
    if (byClock) await lookForMissed(observer, edits, turn)
    return { is: 'running', end: null }
  }
  const history = await observer.readHistory(turn.sessionId)
  if (history.is === 'unread') return { is: 'unread', end: null }
  const verdict = verdictOfTurn(history.value, turn.messageId)
  switch (verdict.is) {
    case 'unfinished': return { is: 'settling', end: null }
    case 'ended': return { is: openCalls(observer.state, familyOf(observer.state, turn.sessionId)).length > 0 ? 'settling' : 'ended', end: verdict.end }
    case 'absent': case 'unanswered': return turn.error === null ? { is: 'not-begun', end: null } : { is: 'failing', end: endByError(turn.error) }
  }
}

/** What no event told while a turn works: asks, and the end of the edit that keeps all other writers away, who else wait as long as the turn lasts. */
async function lookForMissed(observer: Observer, edits: TurnsDeps['edits'], turn: Turn): Promise<void> {
  await observer.checkAsks()
  const editing = edits.editingIn()
  if (editing !== null && familyOf(observer.state, turn.sessionId).has(editing)) await observer.readHistory(editing)
}

const aborted: TurnEnd = { outcome: 'aborted', finish: null, text: '', error: null, errorCode: null }

/** History has no answer at all: what the session said of its failure is all there is. */
function endByError(error: WireError): TurnEnd {
  return error.name === 'MessageAbortedError' ? aborted : { ...aborted, outcome: 'failed', ...errorWords(error) }
}

function outOfPatience(turn: Turn, look: Waiting): TurnEnd {
  if (turn.abortAsked) return aborted
  return { ...aborted, outcome: 'failed', error: look === 'settling' ? 'OpenCode left its last answer unfinished.' : 'OpenCode took the prompt and never began to work on it.' }
}

/** Ends a turn: its calls first, so that nothing spins behind a turn that is over. */
function conclude(observer: Observer, open: Map<string, Turn>, turn: Turn, end: TurnEnd): void {
  observer.interrupt('The turn ended before this call did.', familyOf(observer.state, turn.sessionId))
  open.delete(turn.messageId)
  observer.tell({
    signalId: `${turn.messageId}:ended`, sessionId: turn.sessionId, parentSessionId: observer.state.sessions.get(turn.sessionId)?.parentSessionId ?? null,
    is: 'turn-ended', messageId: turn.messageId, outcome: end.outcome, finish: end.finish, text: end.text, error: end.error?.slice(0, limits.progressCharsMax) ?? null, errorCode: end.errorCode,
  })
  turn.finish(end)
}

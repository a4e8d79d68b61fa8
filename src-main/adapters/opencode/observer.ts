import type { CoderSignal } from '../../engine/ports.ts'
import type { ControlClient, Read } from './control-client.ts'
import { takeEarlierCalls } from './earlier-calls.ts'
import type { ReplyLedger } from './reply-ledger.ts'
import type { SignalPace } from './signal-pace.ts'
import { interruptCalls, noteGap, takeSnapshot, translate, type Translated } from './translate.ts'
import { familyOf, newTranslation, type Translation } from './translation.ts'
import { bodies, type ParsedEvent, type WireError, type WireMessage, type WireStatus } from './wire.ts'

export type LogLine = { readonly level: 'info' | 'warn' | 'error'; readonly msg: string; readonly [field: string]: unknown }

export interface ObserverHooks {
  /** A session says that it is idle; told each time it says so. */
  idleSeen(sessionId: string): void
  sessionError(sessionId: string | null, error: WireError | null): void
  /** An ask that must be refused: it does not match what would run. */
  refuse(permissionId: string, sessionId: string, reason: string): void
}
export interface ObserverDeps { /** As it is named inside. */ readonly workspace: string; readonly client: ControlClient; readonly pace: SignalPace; readonly ledger: ReplyLedger; readonly hooks: ObserverHooks; readonly log: (line: LogLine) => void }

export type Statuses = Readonly<Record<string, WireStatus>>

export interface Observer {
  readonly state: Translation
  readonly take: (parsed: ParsedEvent) => void
  readonly tell: (signal: CoderSignal) => void
  /** Reads a session's history, tells what was missed, and hands it on. */
  readonly readHistory: (sessionId: string) => Promise<Read<readonly WireMessage[]>>
  /** Takes in the calls that a session and its subagents had before this process, once: none of now gets the name of one of them. */
  readonly readEarlierCalls: (sessionId: string) => Promise<Read<null>>
  /** Statuses of the sessions that are not idle; those that became idle unseen are told. */
  readonly readStatuses: () => Promise<Read<Statuses>>
  /** Reads which asks and questions are open, and tells what was missed. An ask whose call does not run at the third check is refused. */
  readonly checkAsks: () => Promise<void>
  /** Reads everything again after a broken stream. False when some of it could not be read: then it must be tried again. */
  readonly resync: () => Promise<boolean>
  readonly interrupt: (why: string, sessionIds?: ReadonlySet<string>) => void
  /** How often each kind of event was seen that means nothing to us. */
  readonly ignored: () => Readonly<Record<string, number>>
}

/** Reads are small and local; a server that does not answer one in this time is busy starting or wedged. */
const readMs = 10_000
const ignoredKindsMax = 200
const waitingChecksMax = 3

type Apply = (items: readonly Translated[]) => void

/** Sees what the agent does, from its events and from its state, and tells it as signals, each thing once. */
export function createObserver(deps: ObserverDeps): Observer {
  const state = newTranslation(deps.workspace)
  const tell = (signal: CoderSignal): void => {
    if (!noted(deps.ledger, signal)) return
    deps.pace.push(signal)
  }
  const apply: Apply = (items) => {
    for (const item of items) {
      if (item.is === 'signal') tell(item.signal)
      else if (item.is === 'idle-seen') deps.hooks.idleSeen(item.sessionId)
      else if (item.is === 'refuse') deps.hooks.refuse(item.permissionId, item.sessionId, item.reason)
      else deps.hooks.sessionError(item.sessionId, item.error)
    }
  }
  const ignored = new Map<string, number>()
  const reading = reader(deps, state, apply)
  return {
    state, tell, ...reading,
    take(parsed) {
      if (parsed.is === 'known') { apply(translate(state, parsed.event, parsed.id ?? 'unnamed')); return }
      const seen = ignored.get(parsed.type) ?? 0
      if (seen > 0 || ignored.size < ignoredKindsMax) ignored.set(parsed.type, seen + 1)
      if (parsed.is === 'malformed' && seen === 0) deps.log({ level: 'warn', msg: 'an event of OpenCode has another shape than expected', type: parsed.type, issue: parsed.issue })
    },
    async resync() {
      noteGap(state)
      const statuses = await reading.readStatuses()
      const histories = await Promise.all([...state.sessions.keys()].map(reading.readHistory))
      return await reading.readAsks() && statuses.is === 'read' && histories.every((history) => history.is === 'read')
    },
    interrupt(why, sessionIds) { apply(interruptCalls(state, why, sessionIds)) },
    ignored: () => Object.fromEntries(ignored),
  }
}

/** What a signal means to the ledger of answers. False: it tells nothing new, as it is of our own answer. */
function noted(ledger: ReplyLedger, signal: CoderSignal): boolean {
  switch (signal.is) {
    case 'permission-replied': return ledger.seen(signal.permissionId, signal.reply)
    case 'permission-asked': ledger.asked(signal.permissionId, { sessionId: signal.sessionId, callId: signal.callId, command: signal.command, cwd: signal.workdir }); return true
    case 'tool-ended': ledger.callEnded(signal.callId); return true
    case 'turn-ended': case 'exited': ledger.turnEnded(); return true
    default: return true
  }
}

type Reader = Pick<Observer, 'readHistory' | 'readEarlierCalls' | 'readStatuses' | 'checkAsks'> & { readonly readAsks: () => Promise<boolean> }

function reader({ client, hooks }: ObserverDeps, state: Translation, apply: Apply): Reader {
  let statusReads = 0
  const checks = new Map<string, number>()
  const knownSessions = new Set<string>()
  const readHistory: Reader['readHistory'] = async (sessionId) => {
    const history = await client.read({ method: 'GET', path: `/session/${sessionId}/message`, deadlineMs: readMs }, bodies.messages)
    if (history.is === 'read') for (const { info, parts } of history.value) apply(takeSnapshot(state, info, parts))
    return history
  }
  const readAsks: Reader['readAsks'] = async () => {
    const [permissions, questions] = await Promise.all([
      client.read({ method: 'GET', path: '/permission', deadlineMs: readMs }, bodies.permissions),
      client.read({ method: 'GET', path: '/question', deadlineMs: readMs }, bodies.questions),
    ])
    if (permissions.is === 'read') for (const ask of permissions.value) apply(translate(state, { kind: 'permission-asked', ask }, ask.id))
    if (questions.is === 'read') for (const ask of questions.value) apply(translate(state, { kind: 'question-asked', ask }, ask.id))
    return permissions.is === 'read' && questions.is === 'read'
  }
  return {
    readHistory, readAsks,
    async readEarlierCalls(sessionId) {
      if (knownSessions.has(sessionId)) return { is: 'read', value: null }
      const listed = await client.read({ method: 'GET', path: '/session', query: { limit: '1000' }, deadlineMs: readMs }, bodies.sessions)
      if (listed.is === 'unread') return listed
      for (const info of listed.value) translate(state, { kind: 'session', info }, info.id)
      const messages: WireMessage[] = []
      for (const id of familyOf(state, sessionId)) {
        const history = await client.read({ method: 'GET', path: `/session/${id}/message`, deadlineMs: readMs }, bodies.messages)
        if (history.is === 'unread') return history
        messages.push(...history.value)
      }
      apply(takeEarlierCalls(state, messages))
      knownSessions.add(sessionId)
      return { is: 'read', value: null }
    },
    async readStatuses() {
      const statuses = await client.read({ method: 'GET', path: '/session/status', deadlineMs: readMs }, bodies.statuses)
      statusReads += 1
      if (statuses.is === 'read') apply(missedIdles(state, statuses.value, `read${statusReads}`))
      return statuses
    },
    async checkAsks() {
      await readAsks()
      for (const id of checks.keys()) if (!state.waitingAsks.has(id)) checks.delete(id)
      await Promise.all([...new Set([...state.waitingAsks.values()].map((ask) => ask.sessionID))].map(readHistory))
      for (const ask of state.waitingAsks.values()) {
        const count = (checks.get(ask.id) ?? 0) + 1
        checks.set(ask.id, count)
        if (count < waitingChecksMax) continue
        state.waitingAsks.delete(ask.id)
        hooks.refuse(ask.id, ask.sessionID, 'What it asks for never began to run.')
      }
    },
  }
}

/** Only absence is taken from a reading: a “busy” in it may be older than an idle event that came meanwhile. The looks that read it need no waking. */
function missedIdles(state: Translation, statuses: Statuses, revision: string): readonly Translated[] {
  const missed = [...state.sessions].filter(([id, session]) => session.status !== 'unknown' && session.status !== 'idle' && statuses[id] === undefined)
  return missed.flatMap(([id]) => translate(state, { kind: 'status', sessionID: id, status: { type: 'idle' } }, revision)).filter((item) => item.is === 'signal')
}

/** What is known of a run's sessions, message by message; owned and changed by translate.ts only. */
import type { CallId } from '../../../src-preload/contract/ids.ts'
import { workspaceRoot } from '../../core/approval/path-pattern.ts'
import type { WirePermission } from './wire.ts'

export interface SessionState { parentSessionId: string | null; status: 'unknown' | 'idle' | 'busy' | 'retry' }

export interface TextState {
  readonly sessionId: string
  readonly messageId: string
  readonly reasoning: boolean
  text: string
  done: boolean
  /** Deltas may be missing: what is known of the text is stale until its whole arrives. */
  gapped: boolean
}

export interface CallState {
  readonly partId: string
  readonly sessionId: string
  readonly messageId: string
  /** As the vendor gave it: empty, endless or used before. */
  readonly vendorCallId: string
  /** As our rows and records name it: of this call only. */
  readonly callId: CallId
  tool: string
  stage: 'pending' | 'running' | 'ended'
  input: Readonly<Record<string, unknown>>
  output: string | null
}

export interface Translation {
  /** As it is named inside. */
  readonly workspace: string
  readonly sessions: Map<string, SessionState>
  readonly roles: Map<string, 'user' | 'assistant'>
  readonly texts: Map<string, TextState>
  /** By part id: a vendor may use a call id twice. */
  readonly calls: Map<string, CallState>
  /** Our ids of all calls. */
  readonly callIds: Set<string>
  /** `messageId/callId` → part id; the call id is the vendor's. */
  readonly callParts: Map<string, string>
  /** Session of a subagent → the call that began it. */
  readonly parentCalls: Map<string, CallId>
  /** Asks that wait for their tool part to run: only then are the command's directory and exact text known. */
  readonly waitingAsks: Map<string, WirePermission>
  readonly seenAsks: Set<string>
  /** Question id → how many were asked at once under it. */
  readonly questionCounts: Map<string, number>
}

/** The state before anything was seen. */
export function newTranslation(workspace: string = workspaceRoot): Translation {
  return { workspace, sessions: new Map(), roles: new Map(), texts: new Map(), calls: new Map(), callIds: new Set(), callParts: new Map(), parentCalls: new Map(), waitingAsks: new Map(), seenAsks: new Set(), questionCounts: new Map() }
}

/** Calls of these sessions that have not ended; of all sessions when none are named. */
export function openCalls(state: Translation, sessionIds?: ReadonlySet<string>): readonly CallState[] {
  return [...state.calls.values()].filter((call) => call.stage !== 'ended' && (sessionIds === undefined || sessionIds.has(call.sessionId)))
}

/** A session and those that it started, at any depth. */
export function familyOf(state: Translation, sessionId: string): ReadonlySet<string> {
  const family = new Set([sessionId])
  for (let grown = -1; grown !== family.size;) {
    grown = family.size
    for (const [id, session] of state.sessions) if (session.parentSessionId !== null && family.has(session.parentSessionId)) family.add(id)
  }
  return family
}

import { limits } from '../../../src-preload/contract/limits.ts'
import type { TaskStatus } from '../../../src-preload/contract/task.ts'
import type { Hold, HoldRecord } from '../approval/hold.ts'
import { canonicalJson } from '../digest.ts'
import { checkEnvelope } from '../envelope/codec.ts'
import { stands } from '../approval/standing-grant.ts'
import type { TaskEvent } from './events.ts'
import { evolve, opened } from './evolve.ts'
import { isFinished, openQuestion, waitingHolds, type TaskState } from './model.ts'
import { budgetAfter, chosenDigest } from './top-up.ts'

/** An event with its place and time, as the journal has it. */
export interface PlacedEvent { readonly payload: TaskEvent; readonly at: number; readonly seq: number }

/** Which status may follow which. Blocked straight after claimed: the turn began and waits in one step, since a hold of another layer was open. */
const follows: Record<TaskStatus, readonly TaskStatus[]> = {
  open: ['claimed', 'blocked', 'cancelled', 'failed'], claimed: ['working', 'blocked', 'cancelled', 'failed'], working: ['blocked', 'result-ready', 'cancelled', 'failed'], blocked: ['open', 'working', 'cancelled', 'failed'],
  'result-ready': ['accepted', 'cancelled'], accepted: [], cancelled: [], failed: [],
}

/** What a finished task's history may still take: the truth about its process, its calls and its clean-up. */
const afterTheEnd: ReadonlySet<TaskEvent['type']> = new Set(['coder-gone', 'answer-undelivered', 'tool-ended', 'call-settled', 'call-lost', 'workspace-disposed', 'noted'])

/** What has happened so far, as far as the laws need it. */
interface Seen { readonly submitted: Set<string>; readonly intended: Map<string, string>; readonly settled: Map<string, string>; readonly closed: Set<string>; readonly ended: Set<string>; readonly turnsEnded: Set<string>; readonly envelopes: Map<string, 'lead' | 'coder'>; accepting: string | null; raising: string | null }

/** Follows one task's history event by event. */
export interface LawBook {
  /** Gives each breach that this event makes, in words. */
  next(placed: PlacedEvent): string[]
  readonly state: TaskState | null
}

/** A book for one task, from its first event on. */
export function openLawBook(): LawBook {
  const seen: Seen = { submitted: new Set(), intended: new Map(), settled: new Map(), closed: new Set(), ended: new Set(), turnsEnded: new Set(), envelopes: new Map(), accepting: null, raising: null }
  let state: TaskState | null = null
  return {
    get state() { return state },
    next: ({ payload: event, at, seq }) => {
      const broken: string[] = []
      const say = (what: string): void => { broken.push(`${String(seq)} ${event.type}: ${what}`) }
      if (state === null) {
        if (event.type === 'task-opened') state = opened(event, at)
        else say('before the task was opened')
        return broken
      }
      const before: TaskState = state
      if (isFinished(before.status) && !afterTheEnd.has(event.type)) say('something new in a finished task')
      ofEvent(before, event, at, seen, say)
      state = evolve(before, event, at, seq)
      ofStep(before, state, event, say)
      ofState(state, say)
      return broken
    },
  }
}

/**
 * The laws of a task's history, checked after each event; what they say is what contracts 1 and 2 promise. Gives each breach in words, none
 * for a history as it must be. For tests, the harness and the simulator: the product does not need to ask.
 */
export function brokenLaws(history: Iterable<PlacedEvent>): string[] {
  const book = openLawBook()
  return [...history].flatMap((placed) => book.next(placed))
}

type Say = (what: string) => void

/** Each thing ends once, and only what began. */
function ofEvent(state: TaskState, event: TaskEvent, at: number, seen: Seen, say: Say): void {
  switch (event.type) {
    case 'hold-opened': if (state.holds.has(event.hold.approvalId)) say('a hold id twice'); return
    case 'hold-settled': {
      if (seen.settled.has(event.approvalId)) say('a hold settled twice')
      if (state.holds.get(event.approvalId)?.hold.digest !== event.digest) say('settled under another digest')
      seen.settled.set(event.approvalId, event.outcome)
      if (event.outcome === 'approved' || event.outcome === 'denied') ofDecision(state.holds.get(event.approvalId), at, say)
      const subject = state.holds.get(event.approvalId)?.hold.subject
      if (subject?.for === 'acceptance' && event.outcome === 'approved') seen.accepting = subject.treeDigest
      if (subject?.for === 'budget' && event.outcome === 'approved') seen.raising = canonicalJson(budgetAfter(state.budget, subject, event.chosen?.to))
      ofChoice(state.holds.get(event.approvalId)?.hold, event, say)
      return
    }
    case 'grant-given': {
      if (seen.settled.get(event.grant.approvalId) !== 'approved') say('a standing grant without the owner')
      if (state.grants.has(event.grant.grantId)) say('a grant id twice')
      return
    }
    case 'permission-ruled': ofRuling(state, event, at, say); return
    case 'question-answered': case 'question-closed': if (seen.closed.has(event.questionId)) say('a question ended twice'); seen.closed.add(event.questionId); return
    case 'turn-intended': {
      if (seen.intended.has(event.turnId)) say('a turn key twice')
      if (event.kind !== 'answer' && [...seen.intended.values()].includes(event.messageId)) say('a message id that was used')
      seen.intended.set(event.turnId, event.messageId)
      return
    }
    case 'turn-submitted': if (seen.submitted.has(event.turnId)) say('a turn submitted twice'); if (!seen.intended.has(event.turnId)) say('a turn submitted without its intent'); seen.submitted.add(event.turnId); return
    case 'turn-ended': if (seen.turnsEnded.has(event.turnId)) say('a turn ended twice'); seen.turnsEnded.add(event.turnId); return
    case 'tool-started': if (seen.ended.has(event.callId)) say('a call began again'); return
    case 'tool-ended': if (seen.ended.has(event.callId)) say('a call with two final records'); if (!state.openTools.has(event.callId)) say('a call ended that had not begun'); seen.ended.add(event.callId); return
    case 'budget-raised': if (seen.raising !== canonicalJson(event.budget)) say('a budget raised without the owner'); seen.raising = null; return
    case 'apply-intended': if (seen.accepting !== event.treeDigest) say('applied without the owner\'s acceptance of this tree'); return
    case 'accepted': if (seen.accepting !== event.treeDigest) say('accepted without the owner'); return
    case 'cancel-observed': if (state.cancel?.state !== 'requested') say('a stop observed that was not requested'); return
    case 'coder-started': if (state.coder.is === 'running') say('a second process'); return
    case 'envelope-posted': ofEnvelope(state, event, seen, say); return
    default: return
  }
}

/** A4. What the owner decided was on screen before, long enough to be read by the clock of that time. */
function ofDecision(record: HoldRecord | undefined, at: number, say: Say): void {
  if (record === undefined) return
  if (record.shownAt === null) say('decided without having been shown')
  else if (at >= record.shownAt && at - record.shownAt < limits.humanDecisionMs) say('decided faster than a person')
}

/** An amount is one that the card offered, and bound to it. */
function ofChoice(hold: Hold | undefined, { chosen, outcome }: Extract<TaskEvent, { type: 'hold-settled' }>, say: Say): void {
  if (chosen === undefined) return
  const offer = hold?.subject.for === 'budget' ? hold.subject.offer : undefined
  if (hold === undefined || offer === undefined || outcome !== 'approved') { say('an amount that nothing offered'); return }
  if (chosen.to < offer.min || chosen.to > offer.max) say('an amount that was not offered')
  if (chosen.digest !== chosenDigest(hold, chosen.to)) say('an amount under another digest')
}

/** A ruling of a standing grant is one of a grant that stands, about what it covers. */
function ofRuling(state: TaskState, event: Extract<TaskEvent, { type: 'permission-ruled' }>, at: number, say: Say): void {
  if (event.grantId === undefined) return
  const record = state.grants.get(event.grantId)
  if (record === undefined) { say('ruled by a standing grant that was never given'); return }
  if (!stands(record, state.generation, at)) say('ruled by a standing grant that does not stand')
  if (event.ruling !== 'granted') say('a standing grant that denies')
  if (record.grant.scope.tool === 'bash' && record.grant.scope.text !== event.text) say('a standing grant that let other bytes run')
}

function ofEnvelope(state: TaskState, event: Extract<TaskEvent, { type: 'envelope-posted' }>, seen: Seen, say: Say): void {
  const parsed: unknown = JSON.parse(event.text)
  if (canonicalJson(parsed) !== event.text) say('an envelope that is not canonical')
  const decoded = checkEnvelope(parsed)
  if (!decoded.ok) { say(`an envelope that its reader refuses: ${decoded.error.reason}`); return }
  if (decoded.value.seq !== state.envelopeSeq[event.from] + 1) say('a gap in the producer\'s sequence')
  if (decoded.value.generation !== state.generation) say('an envelope of another generation')
  const other = event.from === 'lead' ? 'coder' : 'lead'
  if (decoded.value.kind === 'request' && decoded.value.inReplyTo !== null && (decoded.value.inputDigest !== state.brief?.inputDigest || decoded.value.turnId === state.turns.at(-1)?.turnId)) say('a correction of another input, or of no new turn')
  if (decoded.value.inReplyTo !== null && seen.envelopes.get(decoded.value.inReplyTo) !== other) say('a reply to nothing that the other bot said in this task')
  seen.envelopes.set(event.eventId, event.from)
}

/** What may change in one step. */
function ofStep(before: TaskState, after: TaskState, event: TaskEvent, say: Say): void {
  if (after.status !== before.status && !follows[before.status].includes(after.status)) say(`${before.status} became ${after.status}`)
  if (after.generation !== before.generation && (event.type !== 'cancel-requested' || after.generation !== before.generation + 1)) say('the generation moved')
  for (const name of ['turns', 'messages', 'requests', 'tokens', 'moneyMicroUsd'] as const) if (after.spending.spent[name] < before.spending.spent[name]) say(`spent ${name} fell`)
}

/** What must hold at any time. */
function ofState(state: TaskState, say: Say): void {
  if (state.turns.filter((turn) => turn.state !== 'ended').length > 1) say('two turns at once')
  const { open, spent } = state.spending
  const used = (name: 'turns' | 'messages' | 'requests'): number => spent[name] + [...open.values()].reduce((sum, charge) => sum + charge[name], 0)
  if (used('turns') > state.budget.turnsMax) say('more turns than the budget has')
  if (used('messages') > state.budget.messagesMax) say('more messages than the budget has')
  if (used('requests') > state.budget.requestsMax) say('more requests than the budget has')
  if (Object.values(spent).some((amount) => amount < 0)) say('a negative budget')
  if (state.status === 'blocked' && waitingHolds(state).length === 0 && openQuestion(state) === null) say('blocked by nothing')
  if (state.status === 'working' && (waitingHolds(state).length > 0 || openQuestion(state) !== null)) say('working while something waits for an answer')
  if (!isFinished(state.status)) return
  if (waitingHolds(state).length > 0) say('a hold waits in a finished task')
  if (openQuestion(state) !== null) say('a question waits in a finished task')
  if (state.recovery !== null) say('a finished task is uncertain')
  if (state.phase !== 'ended') say(`a finished task is ${state.phase}`)
  if (state.turns.some((turn) => turn.state !== 'ended')) say('a turn runs in a finished task')
}

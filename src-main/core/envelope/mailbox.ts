import type { Bot, Digest, Millis } from '../../../src-preload/contract/ids.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import { digestOfBytes } from '../digest.ts'
import { decodeEnvelope, type Envelope, type EnvelopeKind } from './codec.ts'
import { admitArrival, type RateLimits, type RateState } from './rate.ts'
import type { RefusalReason } from './refusal.ts'

/** A bot of an owner, as the transport has authenticated it. Never read from an envelope. */
export interface Peer { readonly owner: string; readonly bot: string }

/** The way an envelope came or goes: what the transport vouches for. */
export interface Route {
  readonly transport: string
  /** `room`: between the bots of one owner. `direct`: between two homes. */
  readonly scope: 'room' | 'direct'
  /** May hold several tasks. */
  readonly conversation: string
  readonly from: Peer
  readonly to: Peer
}

/** That a task is worked on over this route. `route.from` is the other end. Exists before anything of the task is taken. */
export interface Binding {
  readonly route: Route
  readonly taskId: string
  /** What the other end plays in this task. */
  readonly plays: Bot
  readonly generation: number
  /** The input that everything of the task is bound to; null until its request came or went. */
  readonly input: { readonly version: number; readonly digest: string } | null
  readonly sessionId: string | null
}

/** What an owner allows one bot to send to another, in one direction. */
export interface Permit { readonly transport: string; readonly from: Peer; readonly to: Peer; readonly kinds: readonly EnvelopeKind[] }

/** One end of all its conversations. M1. Nothing in it comes from an envelope that was refused. */
export interface Mailbox {
  readonly self: Peer
  readonly permits: readonly Permit[]
  readonly bindings: readonly Binding[]
  /** Sender and event id → digest of the bytes that were taken. */
  readonly heard: ReadonlyMap<string, Digest>
  /** Sender, task and sequence → event id. */
  readonly sequences: ReadonlyMap<string, string>
  /** Task → events that this end sent and that may be replied to. */
  readonly outstanding: ReadonlyMap<string, ReadonlyMap<string, EnvelopeKind>>
  readonly arrivals: ReadonlyMap<string, RateState>
}

export type RouteRefusal = 'wrong-recipient' | 'same-owner' | 'other-owner' | 'room-scoped' | 'no-permit' | 'unknown-task' | 'wrong-route' | 'wrong-role' | 'stale-generation' | 'future-generation' | 'other-input' | 'conflict' | 'not-outstanding' | 'session-in-use' | 'bound-already'
export type Verdict =
  | { readonly is: 'taken'; readonly envelope: Envelope; readonly binding: Binding }
  /** The same bytes came before; nothing happens again. */
  | { readonly is: 'duplicate' }
  | { readonly is: 'refused'; readonly reason: RefusalReason | RouteRefusal }

export function emptyMailbox(self: Peer): Mailbox {
  return { self, permits: [], bindings: [], heard: new Map(), sequences: new Map(), outstanding: new Map(), arrivals: new Map() }
}

/** The owner allows a direction, replacing what was allowed in it; no kinds revokes it. */
export function allow(mailbox: Mailbox, permit: Permit): Mailbox {
  const others = mailbox.permits.filter((known) => known.transport !== permit.transport || !samePeer(known.from, permit.from) || !samePeer(known.to, permit.to))
  return { ...mailbox, permits: permit.kinds.length === 0 ? others : [...others, permit] }
}

/** Binds a task to a route. Refuses a direct route within one owner, a room route between two, a task that is bound, and a session that serves another task. */
export function bind(mailbox: Mailbox, binding: Binding): Result<Mailbox, RouteRefusal> {
  const scope = scopeRefusal(binding.route)
  if (scope !== null) return err(scope)
  if (!samePeer(binding.route.to, mailbox.self)) return err('wrong-recipient')
  if (mailbox.bindings.some((known) => known.taskId === binding.taskId)) return err('bound-already')
  if (binding.sessionId !== null && mailbox.bindings.some((known) => known.sessionId === binding.sessionId)) return err('session-in-use')
  return ok({ ...mailbox, bindings: [...mailbox.bindings, binding] })
}

/** The host raised a task's generation: whatever is of an older one is dead. */
export function raiseGeneration(mailbox: Mailbox, taskId: string, generation: number): Mailbox {
  return { ...mailbox, bindings: mailbox.bindings.map((known) => (known.taskId === taskId ? { ...known, generation: Math.max(known.generation, generation) } : known)) }
}

/** Notes what this end sends, or refuses it: the same bindings, permits and roles count in both directions. */
export function send(mailbox: Mailbox, envelope: Envelope): Result<{ readonly mailbox: Mailbox; readonly route: Route }, RouteRefusal> {
  const binding = mailbox.bindings.find((known) => known.taskId === envelope.taskId)
  if (binding === undefined) return err('unknown-task')
  const route: Route = { ...binding.route, from: mailbox.self, to: binding.route.from }
  if (!permitted(mailbox, route, envelope.kind)) return err('no-permit')
  if (!plays(binding.plays === 'lead' ? 'coder' : 'lead', envelope.kind)) return err('wrong-role')
  if (envelope.generation !== binding.generation) return err(envelope.generation < binding.generation ? 'stale-generation' : 'future-generation')
  return ok({ mailbox: outstandingAfter(bindInput(mailbox, binding, envelope), envelope.taskId, (events) => { events.set(envelope.eventId, envelope.kind) }), route })
}

/**
 * What an arrival may do. Order: rate on raw bytes, recipient and scope, then the envelope's own form, permit, binding, role, generation,
 * repetition, input, and what it replies to. The first that does not hold is the refusal, and only the count of arrivals remembers it.
 */
export function receive(before: Mailbox, route: Route, bytes: Uint8Array, now: Millis, rate: RateLimits): { readonly mailbox: Mailbox; readonly verdict: Verdict } {
  const refused = (mailbox: Mailbox, reason: RefusalReason | RouteRefusal): ReturnType<typeof receive> => ({ mailbox, verdict: { is: 'refused', reason } })
  const arrivals = admitArrival(before.arrivals.get(peerKey(route.from)) ?? [], bytes.length, now, rate)
  if (!arrivals.ok) return refused(before, arrivals.error.reason)
  const mailbox: Mailbox = { ...before, arrivals: new Map(before.arrivals).set(peerKey(route.from), arrivals.value) }
  if (!samePeer(route.to, mailbox.self)) return refused(mailbox, 'wrong-recipient')
  const scope = scopeRefusal(route)
  if (scope !== null) return refused(mailbox, scope)
  const decoded = decodeEnvelope(bytes)
  if (!decoded.ok) return refused(mailbox, decoded.error.reason)
  const envelope = decoded.value
  const found = bindingFor(mailbox, route, envelope)
  if (!found.ok) return refused(mailbox, found.error)
  const repeated = repetition(mailbox, route, envelope, digestOfBytes(bytes))
  if (repeated === 'duplicate') return { mailbox, verdict: { is: 'duplicate' } }
  if (repeated !== null) return refused(mailbox, repeated)
  const late = belongs(mailbox, found.value, envelope)
  if (late !== null) return refused(mailbox, late)
  const raised = envelope.kind === 'cancel' ? raiseGeneration(mailbox, envelope.taskId, envelope.generation) : bindInput(mailbox, found.value, envelope)
  const taken = outstandingAfter(raised, envelope.taskId, (events) => { replied(events, envelope) })
  const binding = taken.bindings.find((known) => known.taskId === envelope.taskId) ?? found.value
  return {
    mailbox: { ...taken, heard: new Map(taken.heard).set(heardKey(route, envelope), digestOfBytes(bytes)), sequences: new Map(taken.sequences).set(sequenceKey(route, envelope), envelope.eventId) },
    verdict: { is: 'taken', envelope, binding },
  }
}

function scopeRefusal(route: Route): RouteRefusal | null {
  const oneOwner = route.from.owner === route.to.owner
  if (route.scope === 'direct') return oneOwner ? 'same-owner' : null
  return oneOwner ? null : 'other-owner'
}

/** Who may send it, over which way, in which task and role. Identity is the route's; the envelope only names the task. */
function bindingFor(mailbox: Mailbox, route: Route, envelope: Envelope): Result<Binding, RouteRefusal> {
  if (!permitted(mailbox, route, envelope.kind)) return err('no-permit')
  const binding = mailbox.bindings.find((known) => known.taskId === envelope.taskId)
  if (binding === undefined) return err('unknown-task')
  if (binding.route.scope !== route.scope) return err('room-scoped')
  if (binding.route.transport !== route.transport || binding.route.conversation !== route.conversation || !samePeer(binding.route.from, route.from)) return err('wrong-route')
  return plays(binding.plays, envelope.kind) ? ok(binding) : err('wrong-role')
}

const kindsOf: Record<Bot, ReadonlySet<EnvelopeKind>> = { lead: new Set(['request', 'answer', 'cancel']), coder: new Set(['question', 'progress', 'result', 'failure', 'cancel-observed']) }
function plays(bot: Bot, kind: EnvelopeKind): boolean {
  return kindsOf[bot].has(kind)
}

function permitted(mailbox: Mailbox, route: Route, kind: EnvelopeKind): boolean {
  return mailbox.permits.some((permit) => permit.transport === route.transport && samePeer(permit.from, route.from) && samePeer(permit.to, route.to) && permit.kinds.includes(kind))
}

/** Repetition is told by ids only: two honest envelopes of equal content are two. */
function repetition(mailbox: Mailbox, route: Route, envelope: Envelope, digest: Digest): 'duplicate' | 'conflict' | null {
  const heard = mailbox.heard.get(heardKey(route, envelope))
  if (heard !== undefined) return heard === digest ? 'duplicate' : 'conflict'
  return mailbox.sequences.has(sequenceKey(route, envelope)) ? 'conflict' : null
}

/** Whether it is of the task's generation and input, and replies to something that this end sent and that is not settled. */
function belongs(mailbox: Mailbox, binding: Binding, envelope: Envelope): RouteRefusal | null {
  // The host that leads a task owns its generation: its cancel is the one word that may be ahead, and it brings the new one.
  if (envelope.kind === 'cancel') return envelope.generation > binding.generation ? null : 'stale-generation'
  if (envelope.generation !== binding.generation) return envelope.generation < binding.generation ? 'stale-generation' : 'future-generation'
  if (binding.input !== null && envelope.inputDigest !== null && (envelope.inputDigest !== binding.input.digest || envelope.inputVersion !== binding.input.version)) return 'other-input'
  if (envelope.kind === 'request' && envelope.inReplyTo === null) return binding.input === null ? null : 'conflict'
  if (envelope.inReplyTo === null) return null
  const replied = mailbox.outstanding.get(envelope.taskId)?.get(envelope.inReplyTo)
  if (replied === undefined || (envelope.kind in repliesOnlyTo && replied !== repliesOnlyTo[envelope.kind])) return 'not-outstanding'
  return null
}

/** An answer is one to a question, and a request that replies is the correction of a result. */
const repliesOnlyTo: Readonly<Partial<Record<EnvelopeKind, EnvelopeKind>>> = { answer: 'question', request: 'result' }

/** An answer settles its question, a correction the result that it sends back. A request stays open for as long as its task. */
function replied(events: Map<string, EnvelopeKind>, envelope: Envelope): void {
  if (envelope.kind in repliesOnlyTo && envelope.inReplyTo !== null) events.delete(envelope.inReplyTo)
}

function bindInput(mailbox: Mailbox, binding: Binding, envelope: Envelope): Mailbox {
  if (envelope.kind !== 'request' || envelope.inputDigest === null) return mailbox
  const input = { version: envelope.inputVersion, digest: envelope.inputDigest }
  return { ...mailbox, bindings: mailbox.bindings.map((known) => (known === binding ? { ...known, input } : known)) }
}

function outstandingAfter(mailbox: Mailbox, taskId: string, change: (events: Map<string, EnvelopeKind>) => void): Mailbox {
  const events = new Map(mailbox.outstanding.get(taskId))
  change(events)
  return { ...mailbox, outstanding: new Map(mailbox.outstanding).set(taskId, events) }
}

function samePeer(a: Peer, b: Peer): boolean {
  return a.owner === b.owner && a.bot === b.bot
}

function peerKey(peer: Peer): string {
  return JSON.stringify([peer.owner, peer.bot])
}

function heardKey(route: Route, envelope: Envelope): string {
  return JSON.stringify([peerKey(route.from), envelope.eventId])
}

function sequenceKey(route: Route, envelope: Envelope): string {
  return JSON.stringify([peerKey(route.from), envelope.taskId, envelope.seq])
}

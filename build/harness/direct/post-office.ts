import { digestOfBytes } from '../../../src-main/core/digest.ts'
import { encodeEnvelope, type Envelope, type EnvelopeDraft, type EnvelopeKind, type EnvelopePayload } from '../../../src-main/core/envelope/codec.ts'
import { allow, bind, emptyMailbox, raiseGeneration, receive, send, type Binding, type Mailbox, type Peer, type Route, type RouteRefusal, type Verdict } from '../../../src-main/core/envelope/mailbox.ts'
import { envelopeRate } from '../../../src-main/core/envelope/rate.ts'
import type { Clock, Journal, Transport } from '../../../src-main/engine/ports.ts'
import type { Result } from '../../../src-preload/contract/result.ts'

/** What one end of a home's conversations keeps and does. */
export interface PostOffice {
  readonly self: Peer
  readonly mailbox: Mailbox
  /** Verdicts on all arrivals, oldest first. */
  readonly verdicts: readonly Verdict[]
  permit(from: Peer, to: Peer, kinds: readonly EnvelopeKind[]): void
  enrol(binding: Binding): Result<Mailbox, RouteRefusal>
  raise(taskId: string, generation: number): void
  /** Sends a word of a task. Refusals are of this end's own mailbox: nothing left. */
  post<K extends EnvelopeKind>(taskId: string, kind: K, payload: EnvelopePayload[K], about: { readonly turnId: string | null; readonly inReplyTo: string | null; readonly input: { readonly version: number; readonly digest: string } }): Result<Envelope, RouteRefusal>
  /** Sends the very bytes of an earlier word again. */
  again(eventId: string): void
  onTaken(listener: (envelope: Envelope, binding: Binding) => void): void
}

const stream = 'mailbox'

/**
 * Joins a mailbox to its transport and its journal. What is taken is on record, with the decision that it was new, before anything is done
 * about it; a start reads it back, so that what came before a crash is a duplicate after it.
 */
export function openPostOffice(deps: { readonly self: Peer; readonly other: Peer; readonly conversation: string; readonly transport: Transport; readonly clock: Clock; readonly journal: () => Journal }): PostOffice {
  let mailbox = emptyMailbox(deps.self)
  const verdicts: Verdict[] = []
  const sent = new Map<string, Uint8Array>()
  const sequences = new Map<string, number>()
  let taken: (envelope: Envelope, binding: Binding) => void = () => undefined
  deps.transport.onArrival((route: Route, bytes) => {
    const { mailbox: after, verdict } = receive(mailbox, route, bytes, deps.clock.now(), envelopeRate)
    verdicts.push(verdict)
    if (verdict.is !== 'taken') { mailbox = after; return }
    const journal = deps.journal()
    const outcome = journal.commit({
      stream, commandId: `arrival:${route.from.owner}/${route.from.bot}:${verdict.envelope.eventId}`, contentDigest: digestOfBytes(bytes), actor: `${route.from.owner}/${route.from.bot}`, at: deps.clock.now(), expectedVersion: [...journal.read(stream)].length,
      events: [{ type: 'envelope-taken', payload: { route, envelope: verdict.envelope } }], effects: [], settles: [], retires: [],
    })
    if (outcome.is !== 'committed') return
    mailbox = after
    taken(verdict.envelope, verdict.binding)
  })
  return {
    self: deps.self, verdicts,
    get mailbox() { return mailbox },
    permit: (from, to, kinds) => { mailbox = allow(mailbox, { transport: deps.transport.id, from, to, kinds }) },
    enrol: (binding) => {
      const bound = bind(mailbox, binding)
      if (bound.ok) mailbox = bound.value
      return bound
    },
    raise: (taskId, generation) => { mailbox = raiseGeneration(mailbox, taskId, generation) },
    post: (taskId, kind, payload, about) => {
      const seq = (sequences.get(taskId) ?? 0) + 1
      const generation = mailbox.bindings.find((known) => known.taskId === taskId)?.generation ?? 1
      const draft: EnvelopeDraft = { version: 1, kind, eventId: `${deps.self.owner}-${taskId.slice(-6)}-${String(seq)}`, taskId, turnId: about.turnId, inReplyTo: about.inReplyTo, generation, seq, inputVersion: about.input.version, inputDigest: about.input.digest, payload }
      const { text } = encodeEnvelope(draft)
      const envelope = JSON.parse(text) as Envelope
      const noted = send(mailbox, envelope)
      if (!noted.ok) return noted
      mailbox = noted.value.mailbox
      sequences.set(taskId, seq)
      const bytes = new TextEncoder().encode(text)
      sent.set(envelope.eventId, bytes)
      void deps.transport.send(deps.conversation, deps.other, bytes)
      return { ok: true, value: envelope }
    },
    again: (eventId) => {
      const bytes = sent.get(eventId)
      if (bytes !== undefined) void deps.transport.send(deps.conversation, deps.other, bytes)
    },
    onTaken: (listener) => { taken = listener },
  }
}

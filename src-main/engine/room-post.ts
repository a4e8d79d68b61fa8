import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import type { Bot, TaskId } from '../../src-preload/contract/ids.ts'
import { err, ok, type Result } from '../../src-preload/contract/result.ts'
import type { Envelope } from '../core/envelope/codec.ts'
import { allow, bind, emptyMailbox, raiseGeneration, receive, send, type Mailbox, type Peer, type Route, type Verdict } from '../core/envelope/mailbox.ts'
import { envelopeRate } from '../core/envelope/rate.ts'
import type { TaskEvent } from '../core/task/events.ts'
import { isFinished, type TaskState } from '../core/task/model.ts'
import type { Clock, Journal, RoomCarrier, Transport } from './ports.ts'

type Posted = Extract<TaskEvent, { type: 'envelope-posted' }>

const owner = 'owner'
export const roomPeers: Readonly<Record<Bot, Peer>> = { lead: { owner, bot: 'lead' }, coder: { owner, bot: 'coder' } }
const otherOf: Readonly<Record<Bot, Bot>> = { lead: 'coder', coder: 'lead' }
const kindsOf = { lead: ['request', 'answer', 'cancel'], coder: ['question', 'progress', 'result', 'failure', 'cancel-observed'] } as const

/** The way of what `from` says about a task to the other bot of its owner. Each task is a conversation of its own. */
export function roomRoute(from: Bot, taskId: string): Route {
  return { transport: 'room', scope: 'room', conversation: taskId, from: roomPeers[from], to: roomPeers[otherOf[from]] }
}

/** One bot's end of a task's conversation, before anything was said. */
export function roomEnd(self: Bot, taskId: string): Mailbox {
  const permitted = (['lead', 'coder'] as const).reduce((mailbox, from) => allow(mailbox, { transport: 'room', from: roomPeers[from], to: roomPeers[otherOf[from]], kinds: kindsOf[from] }), emptyMailbox(roomPeers[self]))
  const bound = bind(permitted, { route: roomRoute(otherOf[self], taskId), taskId, plays: otherOf[self], generation: 1, input: null, sessionId: null })
  if (!bound.ok) throw new Error(`a room end that cannot be bound: ${bound.error}`)
  return bound.value
}

/** A task's conversation in this life of the app. `failed`: an envelope that the other bot did not take; nothing of the task is sent on after it. */
interface Conversation { readonly ends: Record<Bot, Mailbox>; readonly taken: Set<string>; under: Promise<unknown>; failed: Failure | null }

export interface RoomPostDeps { readonly transport: RoomCarrier; readonly clock: Clock; readonly journal: Journal; readonly log: (level: 'info' | 'error', msg: string, fields: Record<string, unknown>) => void }

/**
 * Carries what the bots say to each other. What is committed leaves through the sender's end of the transport, and counts only once the mailbox at
 * the other end has taken the very bytes: rate, form, role, generation, input and what it replies to are checked there, as between two homes.
 * N1. No turn goes to the runtime on an envelope that the other bot did not take.
 */
export class RoomPost {
  readonly #deps: RoomPostDeps
  readonly #ends: Readonly<Record<Bot, Transport>>
  readonly #conversations = new Map<TaskId, Conversation>()

  constructor(deps: RoomPostDeps) {
    this.#deps = deps
    this.#ends = { lead: deps.transport.end(roomPeers.lead), coder: deps.transport.end(roomPeers.coder) }
    for (const bot of ['lead', 'coder'] as const) this.#ends[bot].onArrival((route, bytes) => { this.#arrived(bot, route, bytes) })
  }

  /** Looks at what was committed: envelopes leave, a raised generation makes older ones dead, a task that ended is forgotten. */
  committed(state: TaskState, events: readonly TaskEvent[]): void {
    const posted = events.filter((event) => event.type === 'envelope-posted')
    if (posted.length > 0) {
      const conversation = this.#of(state, posted)
      for (const event of posted) this.#leave(state.taskId, conversation, event)
    }
    const known = this.#conversations.get(state.taskId)
    if (known !== undefined) for (const bot of ['lead', 'coder'] as const) known.ends[bot] = raiseGeneration(known.ends[bot], state.taskId, state.generation)
    if (isFinished(state.status)) this.#conversations.delete(state.taskId)
  }

  /** Resolves once everything that was posted about the task so far was taken, or tells what was not. */
  async carried(taskId: TaskId): Promise<Result<null, Failure>> {
    const conversation = this.#conversations.get(taskId)
    await conversation?.under
    return conversation?.failed == null ? ok(null) : err(conversation.failed)
  }

  /** After a restart both ends are as the journal says: what was posted before was taken before, or its turn never left. */
  #of({ taskId, envelopeSeq }: TaskState, fresh: readonly Posted[]): Conversation {
    const known = this.#conversations.get(taskId)
    if (known !== undefined) return known
    const conversation: Conversation = { ends: { lead: roomEnd('lead', taskId), coder: roomEnd('coder', taskId) }, taken: new Set(), under: Promise.resolve(), failed: null }
    this.#conversations.set(taskId, conversation)
    if (envelopeSeq.lead + envelopeSeq.coder > fresh.length) this.#readBack(taskId, conversation, new Set(fresh.map(({ eventId }) => eventId)))
    return conversation
  }

  /** It runs after a commit, which must not look refused: a journal that cannot be read fails the conversation instead. */
  #readBack(taskId: TaskId, conversation: Conversation, fresh: ReadonlySet<string>): void {
    try {
      for (const { payload, at } of this.#deps.journal.read(taskId)) {
        const event = payload as TaskEvent
        if (event.type !== 'envelope-posted' || fresh.has(event.eventId)) continue
        noteSent(conversation, event)
        take(conversation, otherOf[event.from], roomRoute(event.from, taskId), bytesOf(event), at)
      }
    } catch (error) {
      this.#deps.log('error', 'a conversation could not be read back', { taskId, error: String(error) })
      conversation.failed = failure('submit-failed', 'What the bots said before could not be read from the journal.', 'Nothing was sent on. Restart the app, then look at Audit.')
    }
  }

  #leave(taskId: TaskId, conversation: Conversation, event: Posted): void {
    const refused = noteSent(conversation, event)
    if (refused !== null) { this.#fail(conversation, taskId, event, `its sender may not send it (${refused})`); return }
    const sending = this.#ends[event.from].send(taskId, roomPeers[otherOf[event.from]], bytesOf(event))
    conversation.under = Promise.all([conversation.under, sending.then((sent) => {
      if (!sent.ok) this.#fail(conversation, taskId, event, sent.error.message)
      else if (!conversation.taken.has(event.eventId)) this.#fail(conversation, taskId, event, 'the other bot did not take it')
    }, (error: unknown) => { this.#fail(conversation, taskId, event, String(error)) })])
  }

  #arrived(bot: Bot, route: Route, bytes: Uint8Array): void {
    const taskId = route.conversation as TaskId
    const conversation = this.#conversations.get(taskId)
    const verdict = conversation === undefined ? null : take(conversation, bot, route, bytes, this.#deps.clock.now())
    if (verdict === null || verdict.is === 'refused') this.#deps.log('error', 'an envelope was not taken', { taskId, bot, reason: verdict?.reason ?? 'unknown-task' })
  }

  #fail(conversation: Conversation, taskId: TaskId, event: Posted, why: string): void {
    this.#deps.log('error', 'an envelope was not carried', { taskId, eventId: event.eventId, kind: event.kind, why })
    conversation.failed ??= failure('submit-failed', `What Bot ${event.from === 'lead' ? 'A' : 'B'} said did not reach the other bot: ${why}.`, 'Nothing was sent on. Start the task again; export the audit log if it stays.')
  }
}

/** The sender's end knows what it said. Null, or why it may not. */
function noteSent({ ends }: Conversation, event: Posted): string | null {
  const sent = send(ends[event.from], JSON.parse(event.text) as Envelope)
  if (sent.ok) ends[event.from] = sent.value.mailbox
  return sent.ok ? null : sent.error
}

function take(conversation: Conversation, bot: Bot, route: Route, bytes: Uint8Array, now: number): Verdict {
  const { mailbox, verdict } = receive(conversation.ends[bot], route, bytes, now, envelopeRate)
  conversation.ends[bot] = mailbox
  if (verdict.is === 'taken') conversation.taken.add(verdict.envelope.eventId)
  return verdict
}

function bytesOf(event: Posted): Uint8Array {
  return new TextEncoder().encode(event.text)
}

import assert from 'node:assert/strict'
import { decodeEnvelope } from '../../src-main/core/envelope/codec.ts'
import { allow, bind, emptyMailbox, receive, send, type Mailbox, type Peer, type Route } from '../../src-main/core/envelope/mailbox.ts'
import { envelopeRate } from '../../src-main/core/envelope/rate.ts'
import type { PlacedEvent } from '../../src-main/core/task/laws.ts'

const lead: Peer = { owner: 'owner', bot: 'lead' }
const coder: Peer = { owner: 'owner', bot: 'coder' }
const route = (from: Peer): Route => ({ transport: 'room', scope: 'room', conversation: 'room', from, to: from === lead ? coder : lead })

function end(self: Peer, taskId: string): Mailbox {
  const other = self === lead ? coder : lead
  const permitted = [lead, coder].reduce((mailbox, from) => allow(mailbox, { transport: 'room', from, to: from === lead ? coder : lead, kinds: from === lead ? ['request', 'answer', 'cancel'] : ['question', 'progress', 'result', 'failure', 'cancel-observed'] }), emptyMailbox(self))
  const bound = bind(permitted, { route: route(other), taskId, plays: self === lead ? 'coder' : 'lead', generation: 1, input: null, sessionId: null })
  assert.ok(bound.ok)
  return bound.value
}

/** The in-room transport, read at its other end: each envelope that a task's history posted is one that the other bot's mailbox takes, once. */
export function readRoom(taskId: string, history: readonly PlacedEvent[]): void {
  const ends = { lead: end(lead, taskId), coder: end(coder, taskId) }
  for (const { payload: event, at } of history) {
    if (event.type !== 'envelope-posted') continue
    const bytes = new TextEncoder().encode(event.text)
    const decoded = decodeEnvelope(bytes)
    assert.ok(decoded.ok, 'an envelope that nobody can read')
    const reader = event.from === 'lead' ? 'coder' : 'lead'
    const sent = send(ends[event.from], decoded.value)
    assert.ok(sent.ok, `the room posted what its sender may not send: ${sent.ok ? '' : sent.error}`)
    ends[event.from] = sent.value.mailbox
    const read = receive(ends[reader], route(event.from === 'lead' ? lead : coder), bytes, at, envelopeRate)
    assert.equal(read.verdict.is === 'refused' ? read.verdict.reason : read.verdict.is, 'taken', `the other bot does not take the room's ${event.kind}`)
    assert.equal(receive(read.mailbox, route(event.from === 'lead' ? lead : coder), bytes, at, envelopeRate).verdict.is, 'duplicate')
    ends[reader] = read.mailbox
  }
}

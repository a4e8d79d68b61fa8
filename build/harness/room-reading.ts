import assert from 'node:assert/strict'
import { decodeEnvelope } from '../../src-main/core/envelope/codec.ts'
import { receive, send } from '../../src-main/core/envelope/mailbox.ts'
import { envelopeRate } from '../../src-main/core/envelope/rate.ts'
import type { PlacedEvent } from '../../src-main/core/task/laws.ts'
import { roomEnd, roomRoute } from '../../src-main/engine/room-post.ts'

/** The in-room transport, read at its other end: each envelope that a task's history posted is one that the other bot's mailbox takes, once. */
export function readRoom(taskId: string, history: readonly PlacedEvent[]): void {
  const ends = { lead: roomEnd('lead', taskId), coder: roomEnd('coder', taskId) }
  for (const { payload: event, at } of history) {
    if (event.type !== 'envelope-posted') continue
    const bytes = new TextEncoder().encode(event.text)
    const decoded = decodeEnvelope(bytes)
    assert.ok(decoded.ok, 'an envelope that nobody can read')
    const reader = event.from === 'lead' ? 'coder' : 'lead'
    const sent = send(ends[event.from], decoded.value)
    assert.ok(sent.ok, `the room posted what its sender may not send: ${sent.ok ? '' : sent.error}`)
    ends[event.from] = sent.value.mailbox
    const read = receive(ends[reader], roomRoute(event.from, taskId), bytes, at, envelopeRate)
    assert.equal(read.verdict.is === 'refused' ? read.verdict.reason : read.verdict.is, 'taken', `the other bot does not take the room's ${event.kind}`)
    assert.equal(receive(read.mailbox, roomRoute(event.from, taskId), bytes, at, envelopeRate).verdict.is, 'duplicate')
    ends[reader] = read.mailbox
  }
}

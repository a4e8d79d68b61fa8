import { describe, expect, it } from 'vitest'
import { failure } from '../../src-preload/contract/failure.ts'
import type { TaskId } from '../../src-preload/contract/ids.ts'
import { err, ok } from '../../src-preload/contract/result.ts'
import { sayTurnEnded } from '../adapters/memory/scripted-coder.ts'
import { leadSays, openScriptedRoom, type ScriptedRoom } from '../adapters/memory/scripted-room.ts'
import type { Route } from '../core/envelope/mailbox.ts'
import type { TaskEvent } from '../core/task/events.ts'
import type { RoomCarrier, Transport } from './ports.ts'
import { createRoomTransport } from './room-transport.ts'

type Send = Transport['send']

/** The product's transport with something done to what is sent. */
function meddled(change: (send: Send, args: Parameters<Send>) => ReturnType<Send>): { readonly carrier: () => RoomCarrier; readonly carried: string[] } {
  const carried: string[] = []
  const carrier = (): RoomCarrier => {
    const room = createRoomTransport()
    return { end: (self) => {
      const end = room.end(self)
      return { ...end, send: (...args) => { carried.push(new TextDecoder().decode(args[2])); return change(end.send, args) } }
    } }
  }
  return { carrier, carried }
}
const honest = () => meddled((send, args) => send(...args))

async function atWork(transport: () => RoomCarrier): Promise<{ room: ScriptedRoom; taskId: TaskId }> {
  const room = await openScriptedRoom({ leadAnswers: [leadSays.brief, leadSays.review], transport })
  const taskId = await room.create()
  await room.decide(taskId, 'approved')
  await room.settle()
  return { room, taskId }
}
const posted = (room: ScriptedRoom, taskId: TaskId): string[] => [...room.journal.read(taskId)].map(({ payload }) => payload as TaskEvent).flatMap((event) => (event.type === 'envelope-posted' ? [event.text] : []))
const submitted = (room: ScriptedRoom): number => room.coders.flatMap((coder) => coder.runs).flatMap((run) => run.submitted).length

describe('what the bots say to each other', () => {
  it('goes through the transport, each once and as it was recorded, also a correction', async () => {
    const { carrier, carried } = honest()
    const { room, taskId } = await atWork(carrier)
    room.sandbox.exitCodes.push(1)
    sayTurnEnded(room.coder.run())
    await room.settle()
    sayTurnEnded(room.coder.run())
    await room.settle()
    expect(carried.map((text) => (JSON.parse(text) as { kind: string }).kind)).toEqual(['request', 'result', 'request', 'result'])
    expect(carried).toEqual(posted(room, taskId))
    expect([room.state(taskId).status, room.errors]).toEqual(['result-ready', []])
  })

  it('is taken once, however often it arrives', async () => {
    const { carrier } = meddled(async (send, args) => { await send(...args); return send(...args) })
    const { room, taskId } = await atWork(carrier)
    sayTurnEnded(room.coder.run())
    await room.settle()
    expect([submitted(room), room.state(taskId).status, room.errors]).toEqual([1, 'result-ready', []])
  })

  it('goes on after a restart from what the journal has, and earlier words stay known', async () => {
    const { carrier, carried } = honest()
    const { room, taskId } = await atWork(carrier)
    await room.restart()
    room.coder.history = 'completed'
    await room.give(taskId, { is: 'resolve-recovery', exit: 're-check' })
    await room.settle()
    expect([room.state(taskId).status, room.errors]).toEqual(['result-ready', []])
    expect(carried).toEqual(posted(room, taskId))
  })
})

describe('a request that the other bot does not take', () => {
  const other = (bytes: Uint8Array): Uint8Array => new TextEncoder().encode(new TextDecoder().decode(bytes).replace('"generation":1', '"generation":2'))
  const route = (from: string): Route => ({ transport: 'room', scope: 'room', conversation: 'task_other', from: { owner: 'owner', bot: from }, to: { owner: 'owner', bot: 'coder' } })
  it.each<[string, (send: Send, args: Parameters<Send>) => ReturnType<Send>]>([
    ['was lost', () => Promise.resolve(ok(null))],
    ['could not be sent', () => Promise.resolve(err(failure('unavailable', 'The way is closed.', '')))],
    ['broke the way', () => Promise.reject(new Error('broken'))],
    ['was changed under way', (send, [conversation, to, bytes]) => send(conversation, to, other(bytes))],
    ['came as another task', (send, [, to, bytes]) => send(route('lead').conversation, to, bytes)],
    ['came to its own sender', (send, [conversation, , bytes]) => send(conversation, { owner: 'owner', bot: 'lead' }, bytes)],
    ['came to nobody', (send, [conversation, , bytes]) => send(conversation, { owner: 'eve', bot: 'coder' }, bytes)],
  ])('because it %s starts nothing, and the owner is told', async (_why, change) => {
    const { room, taskId } = await atWork(meddled(change).carrier)
    expect(submitted(room)).toBe(0)
    expect(room.state(taskId)).toMatchObject({ status: 'failed', failure: { code: 'submit-failed' } })
    expect(room.errors.length).toBeGreaterThan(0)
  })
})

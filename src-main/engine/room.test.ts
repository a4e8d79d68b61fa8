import { describe, expect, it } from 'vitest'
import type { TaskId } from '../../src-preload/contract/ids.ts'
import type { Row, RowPatch } from '../../src-preload/contract/rows.ts'
import { createFakeTime, type FakeTime } from '../adapters/memory/fake-time.ts'
import { Room } from './room.ts'

const taskId = 'task_1' as TaskId

function entry(key: string, text: string): Row {
  return { kind: 'entry', key, taskId, order: 1, at: 1, author: 'host', turnId: null, body: { is: 'status', status: 'open', text } }
}

function followed(): { readonly room: Room; readonly time: FakeTime; readonly patches: RowPatch[] } {
  const time = createFakeTime()
  const room = new Room(time, time)
  const patches: RowPatch[] = []
  room.follow((patch) => patches.push(patch))
  return { room, time, patches }
}

const told = (patches: readonly RowPatch[]): readonly (readonly string[])[] => patches.map(({ put }) => put.map((row) => (row.kind === 'entry' && row.body.is === 'status' ? row.body.text : row.key)))

describe('the room', () => {
  it('tells of a new row without waiting for a frame, with all that one call put', async () => {
    const { room, patches } = followed()
    room.put(taskId, [entry('a', 'a1')])
    room.put(taskId, [entry('b', 'b1')])
    expect(patches).toEqual([])
    await Promise.resolve()
    expect(told(patches)).toEqual([['a1', 'b1']])
    room.put(taskId, [entry('c', 'c1')])
    await Promise.resolve()
    expect(told(patches)).toEqual([['a1', 'b1'], ['c1']])
  })

  it('tells of changes at most once a frame, of the last one only', async () => {
    const { room, time, patches } = followed()
    room.put(taskId, [entry('a', 'a1')])
    await Promise.resolve()
    for (const text of ['a2', 'a3', 'a4']) room.put(taskId, [entry('a', text)])
    await Promise.resolve()
    expect(told(patches)).toEqual([['a1']])
    await time.advance(16)
    expect(told(patches)).toEqual([['a1'], ['a4']])
  })

  it('lets a new row take along what has gathered, so that nothing arrives out of order', async () => {
    const { room, time, patches } = followed()
    room.put(taskId, [entry('a', 'a1')])
    await Promise.resolve()
    room.put(taskId, [entry('a', 'a2')])
    room.put(taskId, [entry('b', 'b1')])
    await Promise.resolve()
    await time.advance(100)
    expect(told(patches)).toEqual([['a1'], ['a2', 'b1']])
    expect(patches.map(({ seq }) => seq)).toEqual([1, 2])
  })

  it('tells nobody anything after it was closed', async () => {
    const { room, time, patches } = followed()
    room.put(taskId, [entry('a', 'a1')])
    room.close()
    await Promise.resolve()
    await time.advance(100)
    expect(patches).toEqual([])
  })
})

import { describe, expect, it } from 'vitest'
import type { TaskId } from '../../src-preload/contract/ids.ts'
import type { Row, RowPatch } from '../../src-preload/contract/rows.ts'
import { createFakeTime, type FakeTime } from '../adapters/memory/fake-time.ts'
import { Room } from './room.ts'

const taskId = 'task_1' as TaskId

function entry(key: string, text: string): Row {
  return { kind: 'entry', key, taskId, order: 1, at: 1, author: 'host', turnId: null, body: { is: 'status', status: 'open', text } }
}

const task = (id: TaskId): Row => ({ kind: 'task', key: `task:${id}`, taskId: id }) as Row
const hold = (id: string, of: TaskId, outcome: string): Row => ({ kind: 'hold', key: `hold:${id}`, approvalId: id, taskId: of, outcome }) as Row

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

  it('tells of an urgent change without waiting for a frame, with what has gathered', async () => {
    const { room, patches } = followed()
    room.put(taskId, [entry('a', 'a1'), entry('b', 'b1')])
    await Promise.resolve()
    room.put(taskId, [entry('a', 'a2')])
    room.put(taskId, [entry('b', 'b2')], true)
    await Promise.resolve()
    expect(told(patches)).toEqual([['a1', 'b1'], ['a2', 'b2']])
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

  it('hands out of other tasks only their own row and the holds that wait, and entries of the shown one', () => {
    const { room } = followed()
    room.put(taskId, [task(taskId), hold('waits', taskId, 'waiting'), hold('done', taskId, 'approved'), entry('a', 'a1')])
    expect(room.snapshot(null).put.map(({ key }) => key)).toEqual(['task:task_1', 'hold:waits'])
    expect(room.snapshot('task_2' as TaskId).put.map(({ key }) => key)).toEqual(['task:task_1', 'hold:waits'])
    expect(room.snapshot(taskId).put.map(({ key }) => key)).toEqual(['task:task_1', 'hold:waits', 'hold:done', 'a'])
  })
})

describe('a transcript that was left in the journal', () => {
  it('is read at the first look at it, once, and by nobody who looks elsewhere', () => {
    const { room } = followed()
    let reads = 0
    room.put(taskId, [task(taskId)])
    room.leave(taskId, () => { reads += 1; return [entry('a', 'a1')] })
    room.snapshot(null)
    room.snapshot('task_2' as TaskId)
    expect(reads).toBe(0)
    expect(room.snapshot(taskId).put.map(({ key }) => key)).toEqual(['a', 'task:task_1'])
    room.snapshot(taskId)
    expect(room.get(taskId, 'a')).toEqual(entry('a', 'a1'))
    expect(reads).toBe(1)
  })

  it('covers no row that was put since', () => {
    const { room } = followed()
    room.leave(taskId, () => [entry('a', 'old'), entry('b', 'b1')])
    room.put(taskId, [entry('a', 'new')])
    expect(told([room.snapshot(taskId)])).toEqual([['new', 'b1']])
  })

  it('is read again after a journal that refused', () => {
    const { room } = followed()
    let refuses = true
    room.leave(taskId, () => { if (refuses) throw new Error('refused'); return [entry('a', 'a1')] })
    expect(() => room.snapshot(taskId)).toThrow('refused')
    refuses = false
    expect(told([room.snapshot(taskId)])).toEqual([['a1']])
  })
})

import { describe, expect, it } from 'vitest'
import type { CommandId } from '../../src-preload/contract/ids.ts'
import { newTask, openScriptedRoom } from '../adapters/memory/scripted-room.ts'
import { working } from './working-room.suite.ts'

describe('two clicks at once', () => {
  it('begin no more tasks than the limit', async () => {
    const room = await openScriptedRoom()
    const created = await Promise.all(['a', 'b', 'c'].map((id) => room.engine.createTask(newTask(`click-${id}`))))
    await room.settle()
    expect(created.map((result) => result.ok)).toEqual([true, true, false])
  })

  it('on one command id begin one task', async () => {
    const room = await openScriptedRoom()
    const created = await Promise.all([1, 2].map(() => room.engine.createTask(newTask('click-a'))))
    await room.settle()
    const ids = created.map((result) => (result.ok ? result.value.taskId : null))
    expect(ids[0]).not.toBeNull()
    expect(ids[1]).toBe(ids[0])
    expect(room.journal.streams()).toHaveLength(1)
  })

  it('on one command id with other content are a conflict, also after a restart: the second is neither done nor told as done', async () => {
    const at = await working()
    expect((await at.room.give(at.taskId, { is: 'stop-task' }, 'one-id')).ok).toBe(true)
    const other = { is: 'resolve-recovery', exit: 'resend' } as const
    const conflict = { ok: false, error: { code: 'conflict' } }
    expect(await at.room.give(at.taskId, other, 'one-id')).toMatchObject(conflict)
    expect(await at.room.give(at.taskId, { is: 'stop-task' }, 'one-id')).toMatchObject({ ok: true })
    const id = 'click-create' as CommandId
    const first = await at.room.engine.createTask(newTask(id))
    expect(await at.room.engine.createTask(newTask(id, { title: 'Another task' }))).toMatchObject(conflict)
    await at.room.restart()
    expect(await at.room.give(at.taskId, other, 'one-id')).toMatchObject(conflict)
    expect(await at.room.engine.createTask(newTask(id, { title: 'Another task' }))).toMatchObject(conflict)
    expect(await at.room.engine.createTask(newTask(id))).toEqual(first)
    expect(at.room.journal.streams()).toHaveLength(2)
  })

  it('begins no revision of a task that still works', async () => {
    const at = await working()
    expect(await at.room.engine.createTask(newTask('click-r', { revisionOf: at.taskId }))).toMatchObject({ ok: false, error: { code: 'wrong-state' } })
    expect(at.room.journal.streams()).toHaveLength(1)
  })
})

import { describe, expect, it } from 'vitest'
import { rowKey, type TaskRow } from '../../src-preload/contract/rows.ts'
import type { TaskId } from '../../src-preload/contract/ids.ts'
import { failure } from '../../src-preload/contract/failure.ts'
import { err } from '../../src-preload/contract/result.ts'
import { sayTurnEnded } from '../adapters/memory/scripted-coder.ts'
import { leadSays, openScriptedRoom, type ScriptedRoom } from '../adapters/memory/scripted-room.ts'
import { digestOfText } from '../core/digest.ts'
import type { TaskEvent } from '../core/task/events.ts'
import { brokenLaws } from '../core/task/laws.ts'

/** A result that waits for the owner, in an app that was started again since. `while`: what happens to its files in between. */
async function resultOfAnEarlierLife(meanwhile: (room: ScriptedRoom) => void = () => undefined): Promise<{ room: ScriptedRoom; taskId: TaskId }> {
  const room = await openScriptedRoom({ leadAnswers: [leadSays.brief, leadSays.review] })
  const taskId = await room.create()
  await room.decide(taskId, 'approved')
  sayTurnEnded(room.coder.run())
  await room.settle()
  expect(room.state(taskId)).toMatchObject({ status: 'result-ready', verified: true })
  meanwhile(room)
  await room.restart()
  return { room, taskId }
}

const changeFiles = (room: ScriptedRoom): void => { room.workspace.treeDigest = digestOfText('another tree') }
const putBack = (room: ScriptedRoom): void => { room.workspace.treeDigest = digestOfText('result') }
const rowOf = (room: ScriptedRoom, taskId: TaskId): TaskRow => room.engine.room.get(taskId, rowKey.task(taskId)) as TaskRow
const history = (room: ScriptedRoom, taskId: TaskId): TaskEvent[] => [...room.journal.read(taskId)].map((stored) => stored.payload as TaskEvent)
const lawful = (room: ScriptedRoom, taskId: TaskId): void => { expect(brokenLaws([...room.journal.read(taskId)].map((stored) => ({ payload: stored.payload as TaskEvent, at: stored.at, seq: stored.seq })))).toEqual([]) }
async function open(room: ScriptedRoom, taskId: TaskId): Promise<void> {
  room.engine.opened(taskId)
  await room.settle()
}

describe('a result that an earlier life of the app left', () => {
  it('is uncertain from the moment its task is opened when its files are others, with its own exits, and cannot be accepted', async () => {
    const { room, taskId } = await resultOfAnEarlierLife(changeFiles)
    expect(room.state(taskId).recovery, 'nobody has opened it').toBeNull()
    await open(room, taskId)
    expect(rowOf(room, taskId).recovery).toMatchObject({ state: 'uncertain', what: expect.stringContaining('not those of the result any more') as string, exits: ['re-check', 'mark-not-done'] })
    expect(await room.decide(taskId, 'approved')).toMatchObject({ ok: false, error: { code: 'wrong-state' } })
    expect(room.workspace.applied).toEqual([])
    lawful(room, taskId)
  })

  it.each(['sandbox', 'coder'] as const)('is looked at although a look at the %s broke', async (broken) => {
    let breaks = false
    const room = await openScriptedRoom({ leadAnswers: [leadSays.brief, leadSays.review], onCoder: (coder) => { if (breaks && broken === 'coder') coder.probe = () => Promise.reject(new Error('the disk is full')) } })
    const taskId = await room.create()
    await room.decide(taskId, 'approved')
    sayTurnEnded(room.coder.run())
    await room.settle()
    changeFiles(room)
    breaks = true
    if (broken === 'sandbox') room.sandbox.probe = () => Promise.reject(new Error('the disk is full'))
    await expect(room.restart()).rejects.toThrow('the disk is full')
    await open(room, taskId)
    expect(rowOf(room, taskId).recovery).toMatchObject({ state: 'uncertain' })
  })

  it('is uncertain as soon as somebody reads other files than its own, though it was compared before, and once only', async () => {
    const { room, taskId } = await resultOfAnEarlierLife()
    await open(room, taskId)
    const before = history(room, taskId).length
    room.engine.resultRead(taskId, digestOfText('result'))
    await room.settle()
    expect(history(room, taskId)).toHaveLength(before)
    for (const _read of [1, 2]) {
      room.engine.resultRead(taskId, digestOfText('another tree'))
      await room.settle()
    }
    expect(rowOf(room, taskId).recovery).toMatchObject({ state: 'uncertain', what: expect.stringContaining('not those of the result any more') as string, exits: ['re-check', 'mark-not-done'] })
    expect(history(room, taskId).slice(before).filter(({ type }) => type === 'recovery-needed')).toHaveLength(1)
    lawful(room, taskId)
  })

  it('is left as it is when its files are the same, and looked at once only', async () => {
    const { room, taskId } = await resultOfAnEarlierLife()
    const before = history(room, taskId).length
    await open(room, taskId)
    changeFiles(room)
    await open(room, taskId)
    expect(history(room, taskId)).toHaveLength(before)
    expect(rowOf(room, taskId).recovery).toBeNull()
  })

  it('is certain again once its files are back, by the owner\'s check or at the next start', async () => {
    for (const how of ['re-check', 'restart'] as const) {
      const { room, taskId } = await resultOfAnEarlierLife(changeFiles)
      await open(room, taskId)
      await room.give(taskId, { is: 'resolve-recovery', exit: 're-check' })
      expect(room.state(taskId).recovery?.what).toContain('Checked again')
      putBack(room)
      if (how === 're-check') await room.give(taskId, { is: 'resolve-recovery', exit: 're-check' })
      else { await room.restart(); await open(room, taskId) }
      expect(room.state(taskId).recovery, how).toBeNull()
      expect(await room.decide(taskId, 'approved')).toMatchObject({ ok: true })
      expect(room.state(taskId).status).toBe('accepted')
      lawful(room, taskId)
    }
  })

  it('stays uncertain over starts without being told each time', async () => {
    const { room, taskId } = await resultOfAnEarlierLife(changeFiles)
    await open(room, taskId)
    const told = (): number => history(room, taskId).filter(({ type }) => type === 'recovery-needed').length
    await room.restart()
    await open(room, taskId)
    expect(room.state(taskId).recovery).not.toBeNull()
    expect(told()).toBe(1)
  })

  it('says so when its files cannot be read', async () => {
    const { room, taskId } = await resultOfAnEarlierLife(({ workspace }) => { workspace.diff = () => Promise.resolve(err(failure('workspace-failed', 'This task has no workspace.', 'Start the task again.'))) })
    await open(room, taskId)
    expect(room.state(taskId).recovery?.what).toBe('The files of the result could not be read. This task has no workspace.')
  })

  it.each(['resend', 'mark-done'] as const)('has nothing to %s', async (exit) => {
    const { room, taskId } = await resultOfAnEarlierLife(changeFiles)
    await open(room, taskId)
    expect(await room.give(taskId, { is: 'resolve-recovery', exit })).toMatchObject({ ok: false, error: { code: 'wrong-state' } })
    expect(room.state(taskId).recovery).not.toBeNull()
  })

  it('ends by the owner\'s rejection, revision or stop, whole and lawful', async () => {
    for (const end of [
      (room: ScriptedRoom, taskId: TaskId) => room.give(taskId, { is: 'resolve-recovery', exit: 'mark-not-done' }),
      (room: ScriptedRoom, taskId: TaskId) => room.decide(taskId, 'denied'),
      (room: ScriptedRoom, taskId: TaskId) => room.give(taskId, { is: 'request-revision', revision: 'task_next' as TaskId, requirement: 'Again.' }),
      (room: ScriptedRoom, taskId: TaskId) => room.give(taskId, { is: 'stop-task' }),
    ]) {
      const { room, taskId } = await resultOfAnEarlierLife(changeFiles)
      await open(room, taskId)
      expect(await end(room, taskId)).toMatchObject({ ok: true })
      await room.settle()
      expect(room.state(taskId)).toMatchObject({ status: 'cancelled', recovery: null, workspaceDisposed: true })
      expect(room.workspace.applied).toEqual([])
      lawful(room, taskId)
    }
  })
})

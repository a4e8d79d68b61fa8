import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFakeTime } from '../adapters/memory/fake-time.ts'
import { openScriptedRoom, steadyLead, type ScriptedRoom } from '../adapters/memory/scripted-room.ts'
import { waitingHolds } from '../core/task/model.ts'
import type { TaskId } from '../../src-preload/contract/ids.ts'
import { createSteadyClock } from './steady-clock.ts'

describe('a steady clock', () => {
  it('never goes back, counts what really passed, and takes sleep from the wall clock', async () => {
    await fc.assert(fc.asyncProperty(fc.array(fc.record({ passes: fc.nat(1_000_000), jumps: fc.integer({ min: -10_000_000, max: 10_000_000 }) })), async (moves) => {
      const time = createFakeTime()
      const clock = createSteadyClock(time, () => time.waitedMs())
      for (const { passes, jumps } of moves) {
        const before = clock.now()
        await time.advance(passes)
        expect(clock.now()).toBeGreaterThanOrEqual(before + passes)
        time.jump(time.now() + jumps)
        expect(clock.now()).toBeGreaterThanOrEqual(Math.max(before + passes, time.now()))
      }
    }), { numRuns: 50 })
  })

  it('takes up from the newest time that is on record', () => {
    const time = createFakeTime(1_000)
    const clock = createSteadyClock(time, () => time.waitedMs())
    clock.atLeast(5_000)
    clock.atLeast(3_000)
    expect(clock.now()).toBe(5_000)
  })

  it('counts on from there, and nothing of what had passed before', async () => {
    const time = createFakeTime(1_000)
    const clock = createSteadyClock(time, () => time.waitedMs())
    await time.advance(2_000)
    clock.atLeast(50_000)
    expect(clock.now()).toBe(50_000)
    await time.advance(300)
    expect(clock.now()).toBe(50_300)
  })
})

const ls = { askId: 'ask_1', text: 'ls', cwd: '/workspace' }

/** Bot B at work, with a standing grant of ten minutes for `ls`. */
async function withGrant(): Promise<{ readonly room: ScriptedRoom; readonly taskId: TaskId }> {
  const room = await openScriptedRoom({ leadAnswers: steadyLead })
  const taskId = await room.create({ budget: { profile: 'pilot', turnsMax: 4, messagesMax: 8, requestsMax: 20, tokensMax: 1_000_000, moneyMicroUsdMax: null, deadlineMs: 3_600_000 } })
  await room.decide(taskId, 'approved')
  void room.coder.run().spec.decideCommand(ls, new AbortController().signal)
  await room.settle()
  const { approvalId, digest } = waitingHolds(room.state(taskId))[0]!.hold
  const choices = room.engine.room.snapshot(taskId).put.flatMap((row) => (row.kind === 'hold' && row.approvalId === approvalId ? (row.standing?.choices ?? []) : []))
  await room.show(taskId, approvalId)
  await room.give(taskId, { is: 'decide-hold', approvalId, digest, verdict: 'approved', reason: null, standing: choices.find(({ forMs }) => forMs === 600_000)!.digest })
  return { room, taskId }
}

/** Whether the grant lets `ls` run now, without the owner. */
async function runs(room: ScriptedRoom, askId: string): Promise<boolean> {
  let ran = false
  void room.coder.run().spec.decideCommand({ ...ls, askId }, new AbortController().signal).then(({ verdict }) => { ran = verdict === 'run' })
  await room.settle()
  return ran
}

describe('a clock that is set back', () => {
  it('lengthens no standing grant: it goes on to stand, and ends when its length has passed', async () => {
    const { room } = await withGrant()
    room.time.jump(room.time.now() - 3_600_000)
    expect(await runs(room, 'ask_2')).toBe(true)
    await room.time.advance(590_000)
    expect(await runs(room, 'ask_3')).toBe(true)
    await room.time.advance(20_000)
    expect(await runs(room, 'ask_4')).toBe(false)
  })

  it('lengthens no deadline, within one life of the app or over a restart', async () => {
    for (const restarts of [false, true]) {
      const room = await openScriptedRoom({ leadAnswers: steadyLead })
      const taskId = await room.create()
      await room.time.advance(300_000)
      await room.give(taskId, { is: 'hold-shown', approvalId: waitingHolds(room.state(taskId))[0]!.hold.approvalId, digest: waitingHolds(room.state(taskId))[0]!.hold.digest })
      room.time.jump(room.time.now() - 86_400_000)
      if (restarts) await room.restart()
      await room.time.advance(299_000)
      expect([restarts, room.state(taskId).status]).toEqual([restarts, 'open'])
      await room.time.advance(2_000)
      await room.settle()
      expect([restarts, room.state(taskId).failure?.code]).toEqual([restarts, 'deadline-passed'])
    }
  })

  it('puts nothing on record as earlier than what is there', async () => {
    const { room, taskId } = await withGrant()
    room.time.jump(room.time.now() - 86_400_000)
    await room.restart()
    await room.give(taskId, { is: 'stop-task' })
    const times = [...room.journal.read(taskId)].map(({ at }) => at)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })
})

import { afterEach, describe, expect, it } from 'vitest'
import { isFinished } from '../core/task/model.ts'
import { openRealRoom, runSample, until, type RealRoom } from './real-room.suite.ts'

let room: RealRoom | null = null
afterEach(async () => {
  await room?.close()
  room = null
})

describe('the sample task on real parts', () => {
  it('runs from brief to acceptance with a question, a held command and a verified result', async () => {
    room = await openRealRoom()
    const taskId = await runSample(room)
    const holds: string[] = []
    const ready = await until(room, taskId, (state) => state.status === 'result-ready' || isFinished(state.status), (kind) => { holds.push(kind); return 'approved' })
    expect(ready.failure).toBeNull()
    expect(ready.verification).toMatchObject({ passed: true, treeMatches: true })
    const accepted = await until(room, taskId, (state) => isFinished(state.status) && state.workspaceDisposed)
    expect(accepted.status).toBe('accepted')
    expect([...accepted.questions.values()].map((question) => question.state)).toEqual(['answered'])
    expect(new Set([...accepted.holds.values()].map((record) => record.hold.kind))).toEqual(new Set(['brief', 'command', 'acceptance']))
    expect(room.errors).toEqual([])
  }, 120_000)
})

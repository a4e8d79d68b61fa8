import { afterEach, describe, expect, it } from 'vitest'
import { seatbeltOnStandIn } from '../adapters/sandbox/seatbelt-bench.suite.ts'
import { isFinished } from '../core/task/model.ts'
import { openRealRoom, runSample, until, type RealRoom } from './real-room.suite.ts'

let room: RealRoom | null = null
afterEach(async () => {
  await room?.close()
  room = null
})

describe('the sample task on real parts', () => {
  it.each([
    ['on Linux', undefined, /^bubblewrap /],
    // With a stand-in for sandbox-exec: that a Mac keeps to the profiles, nothing here can show.
    ['as on macOS', seatbeltOnStandIn, /^macOS seatbelt, untested: it was written without a Mac\. /],
  ] as const)('runs from brief to acceptance with a question, a held command and a verified result, %s', async (_where, create, isolation) => {
    room = await openRealRoom(create === undefined ? {} : { create })
    const taskId = await runSample(room)
    const holds: string[] = []
    const ready = await until(room, taskId, (state) => state.status === 'result-ready' || isFinished(state.status), (kind) => { holds.push(kind); return 'approved' })
    expect(ready.failure).toBeNull()
    expect(ready.verification).toMatchObject({ passed: true, treeMatches: true })
    const accepted = await until(room, taskId, (state) => isFinished(state.status) && state.workspaceDisposed)
    expect(accepted.status).toBe('accepted')
    expect([...accepted.questions.values()].map((question) => question.state)).toEqual(['answered'])
    expect(new Set([...accepted.holds.values()].map((record) => record.hold.kind))).toEqual(new Set(['brief', 'command', 'acceptance']))
    expect([...accepted.holds.values()].filter((record) => record.hold.kind === 'command').map((record) => record.hold.isolation)).toEqual([expect.stringMatching(isolation)])
    expect(room.errors).toEqual([])
  }, 180_000)
})

import { describe, expect, it } from 'vitest'
import { failure } from '../../src-preload/contract/failure.ts'
import type { CallId, TaskId } from '../../src-preload/contract/ids.ts'
import { err, ok } from '../../src-preload/contract/result.ts'
import { sayTurnEnded } from '../adapters/memory/scripted-coder.ts'
import { leadSays, openScriptedRoom, type ScriptedRoom } from '../adapters/memory/scripted-room.ts'
import type { TaskEvent } from '../core/task/events.ts'
import { brokenLaws } from '../core/task/laws.ts'
import { waitingHolds } from '../core/task/model.ts'

const ambiguous = err(failure('submit-ambiguous', 'No answer came in time.', 'Check again.'))
const deadlineMs = 600_000

/** A room whose first turn was sent without an answer, and whose history could not be read: the process may be at work. */
async function uncertainAlive(): Promise<{ room: ScriptedRoom; taskId: TaskId }> {
  const room = await openScriptedRoom({ leadAnswers: [leadSays.brief, leadSays.review], onCoder: (coder) => { coder.submitAnswer = ambiguous; coder.reconcileAnswer = failure('unavailable', 'History cannot be read.', 'Try again.') } })
  const taskId = await room.create()
  await room.decide(taskId, 'approved')
  expect(room.state(taskId)).toMatchObject({ recovery: { state: 'uncertain' }, coder: { is: 'running' } })
  return { room, taskId }
}

/** A room whose app ended in the middle of the first turn. */
async function uncertainDead(): Promise<{ room: ScriptedRoom; taskId: TaskId }> {
  const room = await openScriptedRoom({ leadAnswers: [leadSays.brief, leadSays.review] })
  const taskId = await room.create()
  await room.decide(taskId, 'approved')
  await room.restart()
  expect(room.state(taskId)).toMatchObject({ recovery: { state: 'uncertain' }, coder: { is: 'gone' } })
  return { room, taskId }
}

const eventsOf = (room: ScriptedRoom, taskId: TaskId): TaskEvent['type'][] => [...room.journal.read(taskId)].map((stored) => stored.type as TaskEvent['type'])
const lawful = (room: ScriptedRoom, taskId: TaskId): void => { expect(brokenLaws([...room.journal.read(taskId)].map((stored) => ({ payload: stored.payload as TaskEvent, at: stored.at, seq: stored.seq })))).toEqual([]) }
const exit = (room: ScriptedRoom, taskId: TaskId, exit: 're-check' | 'mark-done' | 'mark-not-done' | 'resend') => room.give(taskId, { is: 'resolve-recovery', exit })

describe('a turn that the owner marks as done while its process runs', () => {
  it('is compared only after the process was stopped, with proof', async () => {
    const { room, taskId } = await uncertainAlive()
    const go = room.coder.gates.hold('stop')
    await exit(room, taskId, 'mark-done')
    expect(room.state(taskId)).toMatchObject({ recovery: null, phase: 'collecting', coder: { is: 'running' } })
    expect(eventsOf(room, taskId)).not.toContain('evidence-recorded')
    // What the process still says is not of a turn any more.
    room.coder.run().say({ is: 'tool-running', callId: 'call_late' as CallId, tool: 'write', input: {}, output: null })
    go()
    await room.settle()
    const events = eventsOf(room, taskId)
    expect(events.indexOf('coder-gone')).toBeLessThan(events.indexOf('evidence-recorded'))
    expect(room.coder.runs.every((run) => run.stopped)).toBe(true)
    expect(room.state(taskId)).toMatchObject({ status: 'result-ready', verified: true })
    expect(room.state(taskId).openTools.size).toBe(0)
    lawful(room, taskId)
  })

  it('is stopped also while a check is only starting the process', async () => {
    const { room, taskId } = await uncertainDead()
    const go = room.coder.gates.hold('start')
    await exit(room, taskId, 're-check')
    expect(room.state(taskId).coder.is).toBe('starting')
    await exit(room, taskId, 'mark-done')
    expect(eventsOf(room, taskId)).not.toContain('evidence-recorded')
    go()
    await room.settle()
    expect(room.coder.runs.filter((run) => !run.stopped)).toEqual([])
    expect(room.state(taskId).status).toBe('result-ready')
    lawful(room, taskId)
  })

  it('goes on to its result when the app ends before the process was proven to be gone', async () => {
    const { room, taskId } = await uncertainAlive()
    room.coder.gates.hold('stop')
    await exit(room, taskId, 'mark-done')
    await room.restart()
    expect(room.state(taskId)).toMatchObject({ status: 'result-ready', coder: { is: 'gone' } })
    expect(eventsOf(room, taskId).filter((type) => type === 'evidence-recorded')).toHaveLength(1)
    lawful(room, taskId)
  })

  it('fails, and is no result, when the process cannot be proven to be gone', async () => {
    const { room, taskId } = await uncertainAlive()
    room.coder.unprovable = true
    await exit(room, taskId, 'mark-done')
    expect(room.state(taskId)).toMatchObject({ status: 'failed', failure: { code: 'sandbox-failed' } })
    expect(eventsOf(room, taskId)).not.toContain('evidence-recorded')
    lawful(room, taskId)
  })
})

describe('a turn that the owner resends while its process runs', () => {
  it('is sent again only after that process was stopped, with proof, whatever it says meanwhile', async () => {
    const { room, taskId } = await uncertainAlive()
    const go = room.coder.gates.hold('stop')
    const first = room.coder.run()
    room.coder.submitAnswer = ok(null)
    await exit(room, taskId, 'resend')
    for (const again of ['re-check', 'resend'] as const) await exit(room, taskId, again)
    first.say({ is: 'tool-running', callId: 'call_late' as CallId, tool: 'write', input: {}, output: null })
    first.say({ is: 'permission-asked', permissionId: 'per_late', callId: null, permission: 'bash', patterns: ['ls'], command: 'ls', workdir: '/workspace', files: [], diff: null })
    sayTurnEnded(first)
    await room.settle()
    expect(room.state(taskId)).toMatchObject({ recovery: { resending: true }, coder: { is: 'running' }, phase: 'coding' })
    expect([room.coder.runs.length, first.submitted.length, room.state(taskId).turns.length]).toEqual([1, 1, 1])
    first.say({ is: 'exited', code: null, signal: 'SIGKILL' })
    go()
    await room.settle()
    expect(room.state(taskId)).toMatchObject({ recovery: null, coder: { is: 'running' }, status: 'working' })
    expect([waitingHolds(room.state(taskId)), room.state(taskId).openTools.size]).toEqual([[], 0])
    expect(room.coder.runs.map((run) => [run.stopped, run.submitted.length])).toEqual([[true, 1], [false, 1]])
    expect(room.coder.run().submitted[0]?.messageId).not.toBe(first.submitted[0]?.messageId)
    sayTurnEnded(room.coder.run())
    await room.settle()
    expect(room.state(taskId).status).toBe('result-ready')
    lawful(room, taskId)
  })

  it('is not touched by what the stopped process still says after the next one has begun', async () => {
    const { room, taskId } = await uncertainAlive()
    const first = room.coder.run()
    room.coder.submitAnswer = ok(null)
    await exit(room, taskId, 'resend')
    expect(room.coder.runs.map((run) => run.stopped)).toEqual([true, false])
    const before = eventsOf(room, taskId)
    first.say({ is: 'tool-running', callId: 'call_late' as CallId, tool: 'write', input: {}, output: null })
    first.say({ is: 'question-asked', questionId: 'que_late', callId: null, questions: [{ question: 'Which?', header: '', options: [], multiple: false }] })
    sayTurnEnded(first)
    first.say({ is: 'exited', code: 1, signal: null })
    const verdict = await first.spec.decideCommand({ askId: 'ask_late', text: 'bun test', cwd: '/workspace' }, new AbortController().signal)
    await room.settle()
    expect(verdict.verdict).toBe('refuse')
    expect(eventsOf(room, taskId)).toEqual(before)
    expect(room.coder.runs.filter((run) => !run.stopped)).toHaveLength(1)
    lawful(room, taskId)
  })

  it('is not sent when the process cannot be proven to be gone, and leaves every exit', async () => {
    const { room, taskId } = await uncertainAlive()
    room.coder.unprovable = true
    await exit(room, taskId, 'resend')
    expect(room.state(taskId)).toMatchObject({ recovery: { state: 'uncertain', what: expect.stringMatching(/^Nothing was sent again/) as string }, turns: { length: 1 } })
    expect(room.state(taskId).recovery?.resending).toBeUndefined()
    room.coder.unprovable = false
    room.coder.submitAnswer = ok(null)
    await exit(room, taskId, 'resend')
    expect(room.state(taskId)).toMatchObject({ recovery: null, turns: { length: 2 } })
    expect(room.coder.runs.map((run) => run.stopped)).toEqual([true, false])
    lawful(room, taskId)
  })

  it('is uncertain again, and not sent, when the app or the task\'s time ends before the proof', async () => {
    for (const ends of ['app', 'time'] as const) {
      const { room, taskId } = await uncertainAlive()
      const go = room.coder.gates.hold('stop')
      await exit(room, taskId, 'resend')
      if (ends === 'app') await room.restart()
      else await room.time.advance(deadlineMs)
      go()
      await room.settle()
      expect(room.state(taskId)).toMatchObject({ recovery: { state: 'uncertain' }, coder: { is: 'gone' }, turns: { length: 1 } })
      expect(room.state(taskId).recovery?.resending).toBeUndefined()
      expect(room.coders.flatMap((coder) => coder.runs)).toHaveLength(1)
      lawful(room, taskId)
    }
  })
})

describe('a check of an uncertain turn', () => {
  it('says nothing any more once the process that it asked has ended', async () => {
    const { room, taskId } = await uncertainAlive()
    room.coder.reconcileAnswer = null
    room.coder.history = 'running'
    const go = room.coder.gates.hold('reconcile')
    await exit(room, taskId, 're-check')
    room.coder.run().stopped = true
    room.coder.run().say({ is: 'exited', code: 1, signal: null })
    await room.settle()
    go()
    await room.settle()
    expect(room.state(taskId)).toMatchObject({ recovery: { state: 'uncertain' }, coder: { is: 'gone' } })
    expect(room.journal.openEffects()).toEqual([])
    lawful(room, taskId)
  })
})

describe('the exits of an uncertain turn after the deadline', () => {
  const late = async (make: typeof uncertainDead) => {
    const at = await make()
    await at.room.time.advance(deadlineMs + 1_000)
    expect(at.room.state(at.taskId)).toMatchObject({ recovery: { state: 'uncertain' }, status: expect.not.stringMatching(/failed/) as string })
    return at
  }

  it('are told once that nothing is sent again, and what still ran is stopped with proof', async () => {
    for (const make of [uncertainDead, uncertainAlive]) {
      const { room, taskId } = await late(make)
      await room.time.advance(deadlineMs)
      await room.settle()
      expect([...room.journal.read(taskId)].filter(({ payload }) => (payload as TaskEvent).type === 'recovery-needed' && (payload as { late?: true }).late === true)).toHaveLength(1)
      expect(room.state(taskId).recovery).toMatchObject({ late: true, what: expect.stringMatching(/deadline passed/) as string })
      expect(room.coder.runs.every((run) => run.stopped)).toBe(true)
      expect(room.state(taskId).coder.is).toBe('gone')
      lawful(room, taskId)
    }
  })

  it('buy no model call, and a restart changes none of it', async () => {
    const { room, taskId } = await late(uncertainAlive)
    const wanted = await room.gateway.admit({ callNumber: 999, taskId, bot: 'coder', model: 'demo', bodyBytes: 10, api: 'chat' })
    expect(wanted).toMatchObject({ admit: false, code: 'deadline_passed' })
    await room.restart()
    expect(room.state(taskId).recovery).toMatchObject({ state: 'uncertain', late: true })
    expect(await exit(room, taskId, 'resend')).toMatchObject({ ok: false, error: { code: 'deadline-passed' } })
    await exit(room, taskId, 're-check')
    expect(room.coder.runs.flatMap((run) => run.submitted)).toEqual([])
    lawful(room, taskId)
  })

  it('keep what was done: mark done leads to a verified result that waits for the owner', async () => {
    for (const make of [uncertainDead, uncertainAlive]) {
      const { room, taskId } = await late(make)
      await exit(room, taskId, 'mark-done')
      expect(room.state(taskId)).toMatchObject({ status: 'result-ready', verified: true })
      await room.decide(taskId, 'approved')
      expect(room.state(taskId).status).toBe('accepted')
      lawful(room, taskId)
    }
  })

  it('take a turn that history has as completed, and begin no correction of it', async () => {
    const { room, taskId } = await late(uncertainDead)
    room.coder.history = 'completed'
    room.sandbox.exitCodes.push(1)
    await exit(room, taskId, 're-check')
    expect(room.state(taskId)).toMatchObject({ status: 'result-ready', verified: false })
    expect(room.state(taskId).turns).toHaveLength(1)
    lawful(room, taskId)
  })

  it('stop what history has as running', async () => {
    const { room, taskId } = await late(uncertainDead)
    room.coder.history = 'running'
    await exit(room, taskId, 're-check')
    await room.time.advance(0)
    await room.settle()
    expect(room.state(taskId)).toMatchObject({ status: 'failed', failure: { code: 'deadline-passed' } })
    expect(room.coder.runs.every((run) => run.stopped)).toBe(true)
  })

  it('send nothing again, say so, and leave the other exits', async () => {
    const { room, taskId } = await late(uncertainDead)
    const before = eventsOf(room, taskId).length
    expect(await exit(room, taskId, 'resend')).toMatchObject({ ok: false, error: { code: 'deadline-passed' } })
    expect(eventsOf(room, taskId)).toHaveLength(before)
    await exit(room, taskId, 'mark-not-done')
    expect(room.state(taskId)).toMatchObject({ status: 'failed', failure: { code: 'cancelled' } })
  })

  it('are not needed by a turn that ended in time: the deadline still ends it while it is looked at', async () => {
    const room = await openScriptedRoom({ leadAnswers: [leadSays.brief, leadSays.review] })
    const taskId = await room.create()
    await room.decide(taskId, 'approved')
    room.workspace.gates.hold('diff')
    sayTurnEnded(room.coder.run())
    await room.settle()
    expect(room.state(taskId).phase).toBe('collecting')
    await room.time.advance(deadlineMs)
    expect(room.state(taskId).cancel?.state).toBe('requested')
  })
})

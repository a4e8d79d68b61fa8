import { describe, expect, it } from 'vitest'
import type { CallId } from '../../src-preload/contract/ids.ts'
import { failure } from '../../src-preload/contract/failure.ts'
import { limits } from '../../src-preload/contract/limits.ts'
import { createMemoryJournal } from '../adapters/memory/memory-journal.ts'
import { sayTurnEnded } from '../adapters/memory/scripted-coder.ts'
import { leadSays, openScriptedRoom } from '../adapters/memory/scripted-room.ts'
import { waitingHolds } from '../core/task/model.ts'
import { askCommand, stateOf, working } from './working-room.suite.ts'

const full = failure('disk-full', 'The disk is full.', 'Free some space.')

describe('a journal that refuses', () => {
  it('loses nothing that the runtime told: it is recorded in order once there is room', async () => {
    const at = await working({ lead: [leadSays.review] })
    at.journal.refuse(full)
    const run = at.room.coder.run()
    run.say({ is: 'tool-running', callId: 'call_1' as CallId, tool: 'bash', input: { command: 'bun test' }, output: null })
    run.say({ is: 'tool-ended', callId: 'call_1' as CallId, tool: 'bash', outcome: 'done', input: { command: 'bun test' }, output: 'ok', title: null, exitCode: 0 })
    sayTurnEnded(run)
    await at.room.settle()
    expect(stateOf(at).phase).toBe('coding')
    const notices = () => at.room.engine.room.snapshot(at.taskId).put.flatMap((row) => (row.kind === 'entry' && row.body.is === 'notice' && row.body.text.includes('The disk is full') ? [row.body] : []))
    expect(notices()).toMatchObject([{ level: 'error', todo: 'Free some space.' }])
    at.journal.refuse(null)
    await at.room.time.advance(1_000)
    await at.room.settle()
    expect(stateOf(at).status).toBe('result-ready')
    expect(notices()).toEqual([])
    expect(at.room.errors).toEqual([])
  })

  it('refuses the owner\'s click with what to do, and takes it when there is room', async () => {
    const room = await openScriptedRoom({ leadAnswers: [leadSays.brief], journal: () => journal })
    const taskId = await room.create()
    await room.show(taskId, waitingHolds(room.state(taskId))[0]!.hold.approvalId)
    journal.refuse(full)
    expect(await room.decide(taskId, 'approved')).toMatchObject({ ok: false, error: { code: 'disk-full' } })
    expect(room.state(taskId).status).toBe('open')
    journal.refuse(null)
    expect((await room.decide(taskId, 'approved')).ok).toBe(true)
    expect(room.coder.run().submitted).toHaveLength(1)
  })
  const journal = createMemoryJournal()

  it('lets no model call leave and no command run that cannot be recorded', async () => {
    const at = await working()
    at.journal.refuse(full)
    expect(await at.room.gateway.admit({ callNumber: 1, taskId: at.taskId, bot: 'coder', model: 'demo', bodyBytes: 10, api: 'chat' })).toMatchObject({ admit: false, code: 'disk-full', again: true })
    expect(await askCommand(at.room, 'ls')).toMatchObject({ verdict: 'refuse' })
  })

  it('keeps an effect\'s outcome until it is recorded, and starts no effect that is not on record as started', async () => {
    const journal = createMemoryJournal()
    const room = await openScriptedRoom({ leadAnswers: [leadSays.brief], journal: () => journal })
    const go = room.workspace.gates.hold('prepare')
    const taskId = await room.create()
    journal.refuse(full)
    go()
    await room.settle()
    expect(room.state(taskId).phase).toBe('preparing')
    journal.refuse(null)
    await room.time.advance(1_000)
    await room.settle()
    expect(room.state(taskId).phase).toBe('brief-waits')
  })

  it('lets a deadline pass as soon as it can be recorded', async () => {
    const at = await working()
    at.journal.refuse(full)
    await at.room.time.advance(600_001)
    expect(stateOf(at).status).toBe('working')
    at.journal.refuse(null)
    await at.room.time.advance(1_000)
    await at.room.settle()
    expect(stateOf(at)).toMatchObject({ status: 'failed', failure: { code: 'deadline-passed' } })
  })

  it('ends a run that tells more than can be kept, and says so', async () => {
    const at = await working()
    at.journal.refuse(full)
    const run = at.room.coder.run()
    for (let call = 0; call <= limits.laneQueueMax + 10; call += 1) run.say({ is: 'text', partId: `prt_${String(call)}`, reasoning: false, text: 'x', done: true })
    await at.room.settle()
    expect(run.stopped).toBe(true)
    at.journal.refuse(null)
    await at.room.time.advance(1_000)
    await at.room.settle()
    expect(stateOf(at)).toMatchObject({ recovery: { state: 'uncertain' }, coder: { is: 'gone' } })
    await at.room.give(at.taskId, { is: 'resolve-recovery', exit: 'resend' })
    expect(at.room.coder.run().submitted).toHaveLength(1)
  })

  it('at the start of the app holds every task back until it has heard of the restart', async () => {
    const at = await working()
    at.journal.refuse(full)
    await at.room.restart()
    expect(stateOf(at).recovery).toBeNull()
    at.journal.refuse(null)
    await at.room.time.advance(1_000)
    await at.room.settle()
    expect(stateOf(at)).toMatchObject({ recovery: { state: 'uncertain' }, coder: { is: 'gone' } })
  })
})

import { describe, expect, it } from 'vitest'
import type { CommandId } from '../../src-preload/contract/ids.ts'
import { failure } from '../../src-preload/contract/failure.ts'
import { limits } from '../../src-preload/contract/limits.ts'
import { err } from '../../src-preload/contract/result.ts'
import { sayTurnEnded } from '../adapters/memory/scripted-coder.ts'
import { leadSays, openScriptedRoom } from '../adapters/memory/scripted-room.ts'
import { waitingHolds } from '../core/task/model.ts'
import { askCommand, stateOf, working, type InRoom } from './working-room.suite.ts'

const broken = failure('unavailable', 'It broke.', 'Try again.')
const stop = ({ room, taskId }: InRoom) => room.give(taskId, { is: 'stop-task' })

describe('a stop', () => {
  it('of a start that is under way ends that start, and nothing is sent', async () => {
    const room = await openScriptedRoom({ leadAnswers: [leadSays.brief] })
    const taskId = await room.create()
    const go = room.coder.gates.hold('start')
    await room.decide(taskId, 'approved')
    await stop({ room, taskId })
    expect(room.state(taskId)).toMatchObject({ status: 'claimed', cancel: { state: 'requested' } })
    go()
    await room.settle()
    expect(room.state(taskId)).toMatchObject({ status: 'cancelled', cancel: { state: 'observed' } })
    expect(room.coder.runs).toEqual([])
  })

  it('that comes while the provider is being opened for the coder starts nothing afterwards', async () => {
    const room = await openScriptedRoom({ leadAnswers: [leadSays.brief] })
    const taskId = await room.create()
    const hold = waitingHolds(room.state(taskId))[0]!.hold
    await room.show(taskId, hold.approvalId)
    // Both in one breath: the start has begun, but has not reached the runtime.
    const approved = room.engine.command(taskId, 'click-a' as CommandId, { is: 'decide-hold', approvalId: hold.approvalId, digest: hold.digest, verdict: 'approved', reason: null })
    expect([approved.ok, room.state(taskId).coder.is]).toEqual([true, 'starting'])
    room.engine.command(taskId, 'click-b' as CommandId, { is: 'stop-task' })
    await room.settle()
    expect(room.state(taskId).status).toBe('cancelled')
    expect(room.coder.runs).toEqual([])
  })

  it('during the preparation waits until the folder is let go, then disposes of it', async () => {
    const room = await openScriptedRoom()
    const go = room.workspace.gates.hold('prepare')
    const taskId = await room.create()
    await stop({ room, taskId })
    expect(room.state(taskId).cancel?.state).toBe('requested')
    expect(room.workspace.disposed).toEqual([])
    go()
    await room.settle()
    expect(room.state(taskId)).toMatchObject({ status: 'cancelled', workspaceDisposed: true })
  })

  it('during the verification is observed only when the tests\' sandbox has ended', async () => {
    const at = await working()
    const go = at.room.sandbox.gates.hold('run')
    sayTurnEnded(at.room.coder.run())
    await at.room.settle()
    expect(stateOf(at).phase).toBe('verifying')
    await stop(at)
    expect(stateOf(at).cancel?.state).toBe('requested')
    expect(at.room.sandbox.running).toBe(1)
    go()
    await at.room.settle()
    expect(at.room.sandbox.running).toBe(0)
    expect(stateOf(at)).toMatchObject({ status: 'cancelled', verification: null })
  })

  it('does not wait for an abort that is never answered: the tree is ended', async () => {
    const at = await working()
    at.room.coder.gates.hold('abort')
    await stop(at)
    expect(stateOf(at).cancel?.state).toBe('requested')
    await at.room.time.advance(10_000)
    await at.room.settle()
    expect(stateOf(at)).toMatchObject({ status: 'cancelled', cancel: { state: 'observed', proof: { method: 'pid-namespace-empty' } } })
  })

  it('that cannot be proven stays requested, and can be asked for again', async () => {
    const at = await working()
    at.room.coder.unprovable = true
    await stop(at)
    expect(stateOf(at)).toMatchObject({ status: 'working', cancel: { state: 'requested' } })
    at.room.coder.unprovable = false
    await stop(at)
    expect(stateOf(at)).toMatchObject({ status: 'cancelled', generation: 2 })
  })

  it('asks nothing more of a lead that was being asked', async () => {
    const room = await openScriptedRoom({ leadAnswers: ['nonsense', leadSays.brief] })
    const go = room.lead.gates.hold('ask')
    const taskId = await room.create()
    await stop({ room, taskId })
    go()
    await room.settle()
    expect(room.lead.asked).toHaveLength(1)
    expect(room.state(taskId).status).toBe('cancelled')
  })
})

describe('quitting', () => {
  it('during the verification loses nothing: it runs again at the next start', async () => {
    const at = await working({ lead: [leadSays.review] })
    const go = at.room.sandbox.gates.hold('run')
    sayTurnEnded(at.room.coder.run())
    await at.room.settle()
    const quitting = at.room.quitAndStart()
    go()
    await quitting
    expect(stateOf(at)).toMatchObject({ status: 'result-ready', verified: true })
    expect(at.room.sandbox.ran).toEqual(['bun test', 'bun test'])
  })

  it('during the preparation does not fail the task', async () => {
    const room = await openScriptedRoom({ leadAnswers: [leadSays.brief] })
    room.workspace.prepareRefusal = broken
    const go = room.workspace.gates.hold('prepare')
    const taskId = await room.create()
    const quitting = room.quitAndStart()
    go()
    room.workspace.prepareRefusal = null
    await quitting
    expect(room.state(taskId).phase).toBe('brief-waits')
  })

  it('during the coder\'s start leaves no process behind', async () => {
    const room = await openScriptedRoom({ leadAnswers: [leadSays.brief] })
    const taskId = await room.create()
    const go = room.coder.gates.hold('start')
    await room.decide(taskId, 'approved')
    const before = room.coder
    const quitting = room.quitAndStart()
    go()
    await quitting
    expect(before.runs.filter((run) => !run.stopped)).toEqual([])
    expect(room.coder.run().submitted).toHaveLength(1)
  })
})

describe('grants and asks', () => {
  it('a command whose caller has gone before it was asked for leaves no card behind', async () => {
    const at = await working()
    expect(await at.room.coder.run().spec.decideCommand({ askId: 'ask_gone', text: 'ls', cwd: '/workspace' }, AbortSignal.abort())).toEqual({ verdict: 'refuse', reason: 'its caller is gone' })
    await at.room.settle()
    expect(waitingHolds(stateOf(at))).toEqual([])
  })

  it('lets no command through on a grant whose approval did not reach the runtime', async () => {
    const at = await working()
    at.room.coder.run().say({ is: 'permission-asked', permissionId: 'per_1', callId: null, permission: 'bash', patterns: ['ls'], command: 'ls', workdir: '/workspace', files: [], diff: null })
    await at.room.settle()
    at.room.coder.permissionAnswer = err(broken)
    await at.room.decide(at.taskId, 'approved')
    void askCommand(at.room, 'ls')
    await at.room.settle()
    expect(waitingHolds(stateOf(at))).toMatchObject([{ hold: { subject: { for: 'command', askId: 'ask_1' } } }])
  })

  it('lets no command through in a later turn on a grant of an earlier one', async () => {
    const at = await working({ lead: [leadSays.review] })
    at.room.sandbox.exitCodes.push(1)
    const run = at.room.coder.run()
    run.say({ is: 'permission-asked', permissionId: 'per_1', callId: null, permission: 'bash', patterns: ['ls'], command: 'ls', workdir: '/workspace', files: [], diff: null })
    await at.room.settle()
    await at.room.decide(at.taskId, 'approved')
    sayTurnEnded(run)
    await at.room.settle()
    expect(stateOf(at).turns).toHaveLength(2)
    void askCommand(at.room, 'ls')
    await at.room.settle()
    expect(waitingHolds(stateOf(at))).toHaveLength(1)
  })

  it('takes the card away when the command that asked is gone', async () => {
    const at = await working()
    const caller = new AbortController()
    const verdict = askCommand(at.room, 'ls', caller.signal)
    await at.room.settle()
    const { approvalId } = waitingHolds(stateOf(at))[0]!.hold
    caller.abort()
    await at.room.settle()
    expect(await verdict).toMatchObject({ verdict: 'refuse' })
    expect(stateOf(at)).toMatchObject({ status: 'working' })
    expect(await at.room.decide(at.taskId, 'approved', approvalId)).toMatchObject({ ok: false, error: { code: 'already-decided' } })
  })

  it('tells a waiting command no when its turn ends', async () => {
    const at = await working({ lead: [leadSays.review] })
    const verdict = askCommand(at.room, 'ls')
    await at.room.settle()
    sayTurnEnded(at.room.coder.run())
    await at.room.settle()
    expect(await verdict).toMatchObject({ verdict: 'refuse' })
  })
})

describe('an earlier process', () => {
  it('that says late that it has ended does not end the present one', async () => {
    const at = await working()
    const first = at.room.coder.run()
    first.say({ is: 'exited', code: 1, signal: null })
    await at.room.settle()
    await at.room.give(at.taskId, { is: 'resolve-recovery', exit: 'resend' })
    first.say({ is: 'exited', code: 1, signal: null })
    await at.room.settle()
    expect(stateOf(at)).toMatchObject({ coder: { is: 'running' }, recovery: null })
    expect(await first.spec.decideCommand({ askId: 'ask_old', text: 'bun test', cwd: '/workspace' }, new AbortController().signal)).toMatchObject({ verdict: 'refuse' })
    expect(at.room.coder.runs).toHaveLength(2)
  })

  it('that could not be proven to have ended is ended with proof before the workspace of a rejected task goes', async () => {
    const at = await working({ lead: [leadSays.review] })
    at.room.coder.unprovable = true
    sayTurnEnded(at.room.coder.run())
    await at.room.settle()
    await at.room.decide(at.taskId, 'denied')
    expect(stateOf(at)).toMatchObject({ status: 'cancelled', coder: { is: 'running' }, workspaceDisposed: false })
    at.room.coder.unprovable = false
    await stop(at)
    expect(stateOf(at)).toMatchObject({ status: 'cancelled', disposition: 'rejected', coder: { is: 'gone' }, workspaceDisposed: true })
  })
})

describe('after a restart', () => {
  it('raises the alarm for a hold that is still not drawn', async () => {
    const room = await openScriptedRoom({ leadAnswers: [leadSays.brief] })
    const taskId = await room.create()
    await room.restart()
    await room.time.advance(limits.holdShownWithinMs)
    expect(waitingHolds(room.state(taskId))[0]?.alarm).toBe(true)
  })

  it('asks for a look before it applies again', async () => {
    const at = await working({ lead: [leadSays.review] })
    sayTurnEnded(at.room.coder.run())
    await at.room.settle()
    at.room.workspace.gates.hold('apply')
    await at.room.decide(at.taskId, 'approved')
    at.room.workspace.applySeen = 'unclear'
    await at.room.restart()
    expect(stateOf(at)).toMatchObject({ phase: 'applying', recovery: { state: 'uncertain' } })
    at.room.workspace.applySeen = 'applied'
    await at.room.give(at.taskId, { is: 'resolve-recovery', exit: 're-check' })
    expect(stateOf(at)).toMatchObject({ status: 'accepted', recovery: null })
    expect(at.room.workspace.applied).toEqual([])
  })
})

import { describe, expect, it } from 'vitest'
import type { CallId, CommandId, TaskId } from '../../src-preload/contract/ids.ts'
import { failure } from '../../src-preload/contract/failure.ts'
import { limits } from '../../src-preload/contract/limits.ts'
import { err } from '../../src-preload/contract/result.ts'
import { createMemoryJournal } from '../adapters/memory/memory-journal.ts'
import { sayTurnEnded } from '../adapters/memory/scripted-coder.ts'
import { leadSays, newTask, openScriptedRoom, type ScriptedRoom } from '../adapters/memory/scripted-room.ts'
import { waitingHolds } from '../core/task/model.ts'

const full = failure('disk-full', 'The disk is full.', 'Free some space.')
const broken = failure('unavailable', 'It broke.', 'Try again.')

/** A room with one task whose first turn was submitted. */
async function working(options: { readonly lead?: readonly string[]; readonly journal?: ReturnType<typeof createMemoryJournal> } = {}) {
  const journal = options.journal ?? createMemoryJournal()
  const room = await openScriptedRoom({ leadAnswers: [leadSays.brief, ...(options.lead ?? [])], journal: () => journal })
  const taskId = await room.create()
  await room.decide(taskId, 'approved')
  return { room, taskId, journal }
}
const state = ({ room, taskId }: { readonly room: ScriptedRoom; readonly taskId: TaskId }) => room.state(taskId)
const stop = ({ room, taskId }: { readonly room: ScriptedRoom; readonly taskId: TaskId }) => room.give(taskId, { is: 'stop-task' })
const askCommand = (room: ScriptedRoom, text: string, signal = new AbortController().signal, askId = 'ask_1') => room.coder.run().spec.decideCommand({ askId, text, cwd: '/workspace' }, signal)

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
    // Both in one breath: the start has begun, but has not reached the runtime.
    room.engine.command(taskId, 'click-a' as CommandId, { is: 'decide-hold', approvalId: hold.approvalId, digest: hold.digest, verdict: 'approved', reason: null })
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
    expect(state(at).phase).toBe('verifying')
    await stop(at)
    expect(state(at).cancel?.state).toBe('requested')
    expect(at.room.sandbox.running).toBe(1)
    go()
    await at.room.settle()
    expect(at.room.sandbox.running).toBe(0)
    expect(state(at)).toMatchObject({ status: 'cancelled', verification: null })
  })

  it('does not wait for an abort that is never answered: the tree is ended', async () => {
    const at = await working()
    at.room.coder.gates.hold('abort')
    await stop(at)
    expect(state(at).cancel?.state).toBe('requested')
    await at.room.time.advance(10_000)
    await at.room.settle()
    expect(state(at)).toMatchObject({ status: 'cancelled', cancel: { state: 'observed', proof: { method: 'pid-namespace-empty' } } })
  })

  it('that cannot be proven stays requested, and can be asked for again', async () => {
    const at = await working()
    at.room.coder.unprovable = true
    await stop(at)
    expect(state(at)).toMatchObject({ status: 'working', cancel: { state: 'requested' } })
    at.room.coder.unprovable = false
    await stop(at)
    expect(state(at)).toMatchObject({ status: 'cancelled', generation: 2 })
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

describe('a journal that refuses', () => {
  it('loses nothing that the runtime told: it is recorded in order once there is room', async () => {
    const at = await working({ lead: [leadSays.review] })
    at.journal.refuse(full)
    const run = at.room.coder.run()
    run.say({ is: 'tool-running', callId: 'call_1' as CallId, tool: 'bash', input: { command: 'bun test' }, output: null })
    run.say({ is: 'tool-ended', callId: 'call_1' as CallId, tool: 'bash', outcome: 'done', input: { command: 'bun test' }, output: 'ok', title: null, exitCode: 0 })
    sayTurnEnded(run)
    await at.room.settle()
    expect(state(at).phase).toBe('coding')
    const notices = () => at.room.engine.room.snapshot(at.taskId).put.flatMap((row) => (row.kind === 'entry' && row.body.is === 'notice' && row.body.text.includes('The disk is full') ? [row.body] : []))
    expect(notices()).toMatchObject([{ level: 'error', todo: 'Free some space.' }])
    at.journal.refuse(null)
    await at.room.time.advance(1_000)
    await at.room.settle()
    expect(state(at).status).toBe('result-ready')
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
    expect(await at.room.gateway.admit({ callNumber: 1, taskId: at.taskId, bot: 'coder', model: 'demo', bodyBytes: 10, api: 'chat' })).toMatchObject({ admit: false, code: 'disk-full' })
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
    expect(state(at).status).toBe('working')
    at.journal.refuse(null)
    await at.room.time.advance(1_000)
    await at.room.settle()
    expect(state(at)).toMatchObject({ status: 'failed', failure: { code: 'deadline-passed' } })
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
    expect(state(at)).toMatchObject({ recovery: { state: 'uncertain' }, coder: { is: 'gone' } })
    await at.room.give(at.taskId, { is: 'resolve-recovery', exit: 'resend' })
    expect(at.room.coder.run().submitted).toHaveLength(1)
  })

  it('at the start of the app holds every task back until it has heard of the restart', async () => {
    const at = await working()
    at.journal.refuse(full)
    await at.room.restart()
    expect(state(at).recovery).toBeNull()
    at.journal.refuse(null)
    await at.room.time.advance(1_000)
    await at.room.settle()
    expect(state(at)).toMatchObject({ recovery: { state: 'uncertain' }, coder: { is: 'gone' } })
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
    expect(state(at)).toMatchObject({ status: 'result-ready', verified: true })
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
  it('lets no command through on a grant whose approval did not reach the runtime', async () => {
    const at = await working()
    at.room.coder.run().say({ is: 'permission-asked', permissionId: 'per_1', callId: null, permission: 'bash', patterns: ['ls'], command: 'ls', workdir: '/workspace', files: [], diff: null })
    await at.room.settle()
    at.room.coder.permissionAnswer = err(broken)
    await at.room.decide(at.taskId, 'approved')
    void askCommand(at.room, 'ls')
    await at.room.settle()
    expect(waitingHolds(state(at))).toMatchObject([{ hold: { subject: { for: 'command', askId: 'ask_1' } } }])
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
    expect(state(at).turns).toHaveLength(2)
    void askCommand(at.room, 'ls')
    await at.room.settle()
    expect(waitingHolds(state(at))).toHaveLength(1)
  })

  it('takes the card away when the command that asked is gone', async () => {
    const at = await working()
    const caller = new AbortController()
    const verdict = askCommand(at.room, 'ls', caller.signal)
    await at.room.settle()
    const { approvalId } = waitingHolds(state(at))[0]!.hold
    caller.abort()
    await at.room.settle()
    expect(await verdict).toMatchObject({ verdict: 'refuse' })
    expect(state(at)).toMatchObject({ status: 'working' })
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

describe('rows', () => {
  const bodies = ({ room, taskId }: { readonly room: ScriptedRoom; readonly taskId: TaskId }) => room.engine.room.snapshot(taskId).put.flatMap((row) => (row.kind === 'entry' && row.author === 'coder' ? [row.body] : []))

  it('of a call and of words that were growing end when the process ends', async () => {
    const at = await working()
    const run = at.room.coder.run()
    run.say({ is: 'tool-pending', callId: 'call_1' as CallId, tool: 'write' })
    run.say({ is: 'text', partId: 'prt_1', reasoning: false, text: 'I was about to', done: false })
    await at.room.settle()
    expect(bodies(at)).toMatchObject([{ is: 'tool', state: 'preview' }, { is: 'message', streaming: true }])
    await stop(at)
    expect(bodies(at)).toMatchObject([{ is: 'tool', state: 'interrupted' }, { is: 'message', streaming: false, text: 'I was about to' }])
    run.say({ is: 'tool-pending', callId: 'call_2' as CallId, tool: 'write' })
    run.say({ is: 'text', partId: 'prt_2', reasoning: false, text: 'late', done: false })
    await at.room.settle()
    expect(bodies(at)).toHaveLength(2)
  })

  it('of a call that runs before its arguments are told show that it runs, and end in one record or with the turn', async () => {
    const at = await working({ lead: [leadSays.review] })
    const run = at.room.coder.run()
    const callId = 'call_1' as CallId
    for (const begun of [false, true]) for (const id of [callId, 'call_2' as CallId]) run.say({ is: 'tool-pending', callId: id, tool: 'write', target: begun ? '/workspace/a' : null, begun })
    run.say({ is: 'tool-pending', callId, tool: 'write' })
    await at.room.settle()
    expect(bodies(at)).toMatchObject([{ state: 'running', target: '/workspace/a', input: null }, { state: 'running' }])
    run.say({ is: 'tool-ended', callId, tool: 'write', outcome: 'done', input: { filePath: '/workspace/a' }, output: 'ok', title: 'a', exitCode: null })
    sayTurnEnded(run)
    await at.room.settle()
    const calls = bodies(at).filter((body) => body.is === 'tool')
    expect(calls.map((body) => `${body.callId} ${body.state}`).toSorted()).toEqual(['call_1 done', 'call_2 interrupted'])
  })

  it('keep the words that were growing when a turn ended', async () => {
    const at = await working({ lead: [leadSays.review] })
    const run = at.room.coder.run()
    run.say({ is: 'text', partId: 'prt_1', reasoning: false, text: 'Half a', done: false })
    sayTurnEnded(run)
    await at.room.settle()
    await at.room.restart()
    expect(bodies(at)).toContainEqual({ is: 'message', text: 'Half a', streaming: false, reasoning: false })
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
    expect(state(at)).toMatchObject({ coder: { is: 'running' }, recovery: null })
    expect(await first.spec.decideCommand({ askId: 'ask_old', text: 'bun test', cwd: '/workspace' }, new AbortController().signal)).toMatchObject({ verdict: 'refuse' })
    expect(at.room.coder.runs).toHaveLength(2)
  })

  it('that could not be proven to have ended is ended with proof before the workspace of a rejected task goes', async () => {
    const at = await working({ lead: [leadSays.review] })
    at.room.coder.unprovable = true
    sayTurnEnded(at.room.coder.run())
    await at.room.settle()
    await at.room.decide(at.taskId, 'denied')
    expect(state(at)).toMatchObject({ status: 'cancelled', coder: { is: 'running' }, workspaceDisposed: false })
    at.room.coder.unprovable = false
    await stop(at)
    expect(state(at)).toMatchObject({ status: 'cancelled', disposition: 'rejected', coder: { is: 'gone' }, workspaceDisposed: true })
  })
})

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
    expect(state(at)).toMatchObject({ phase: 'applying', recovery: { state: 'uncertain' } })
    at.room.workspace.applySeen = 'applied'
    await at.room.give(at.taskId, { is: 'resolve-recovery', exit: 're-check' })
    expect(state(at)).toMatchObject({ status: 'accepted', recovery: null })
    expect(at.room.workspace.applied).toEqual([])
  })
})

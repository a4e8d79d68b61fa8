import { describe, expect, it } from 'vitest'
import { failure } from '../../src-preload/contract/failure.ts'
import { defaultSandboxLimits } from '../../src-preload/contract/limits.ts'
import { sayTurnEnded, sayWrite } from '../adapters/memory/scripted-coder.ts'
import { createMemoryJournal } from '../adapters/memory/memory-journal.ts'
import { leadSays, newTask, openScriptedRoom, steadyLead } from '../adapters/memory/scripted-room.ts'
import { createScriptedDirectory } from '../adapters/memory/scripted-world.ts'
import { digestOfText } from '../core/digest.ts'
import { waitingHolds } from '../core/task/model.ts'
import type { Journal } from './ports.ts'
import { atWork, openTaskRoom } from './working-room.suite.ts'

describe('the whole collaboration', () => {
  it('goes from brief to acceptance in one session, and only the owner makes it accepted', async () => {
    const room = await openTaskRoom([leadSays.brief, leadSays.answer('the better price'), leadSays.review])
    expect(room.state().status).toBe('open')
    expect(waitingHolds(room.state()).map((record) => record.hold.kind)).toEqual(['brief'])
    await room.decide('approved')
    expect(room.state().status).toBe('working')
    const run = room.coder.run()
    expect(run.submitted).toHaveLength(1)
    run.say({ is: 'question-asked', questionId: 'que_1', callId: null, questions: [{ question: 'And at 50?', header: 'h', options: ['a', 'b'], multiple: false }] })
    await room.settle()
    expect(run.answers).toEqual(['the better price'])
    expect(room.state().status).toBe('working')
    sayWrite(run, 'call_1', '/workspace/src/a.ts', 'x')
    sayTurnEnded(run, 'done')
    await room.settle()
    expect(room.state().status).toBe('result-ready')
    expect(room.state().verified).toBe(true)
    expect(run.stopped).toBe(true)
    expect(room.workspace.applied).toEqual([])
    await room.decide('approved')
    expect(room.state().status).toBe('accepted')
    expect(room.workspace.applied).toEqual([room.workspace.treeDigest])
    expect(room.workspace.disposed).toEqual([room.taskId])
    expect(room.errors).toEqual([])
    expect([...room.journal.openEffects()]).toEqual([])
  })

  it('names on the brief\'s card what of the machine the sandbox will see', async () => {
    const mount = { id: 'm1', kind: 'toolchain' as const, label: 'Node', hostPath: '/home/me/.nvm/v24', into: '/opt/toolchains/nvm', mode: 'read-only' as const, pathEntry: 'bin' }
    const room = await openTaskRoom([leadSays.brief], { source: { kind: 'folder', path: '/home/me/project', mounts: [mount] } })
    expect(waitingHolds(room.state())[0]!.hold.facts).toContainEqual({ label: 'Toolchain', value: '/home/me/.nvm/v24 → /opt/toolchains/nvm (read-only)', exact: true, authoredBy: 'owner' })
  })

  it('submits nothing when the brief is denied', async () => {
    const room = await openTaskRoom([leadSays.brief])
    await room.decide('denied')
    expect(room.state().status).toBe('cancelled')
    expect(room.coder.runs).toEqual([])
  })

  it('lets one click decide one hold once, and refuses another digest', async () => {
    const room = await openTaskRoom([leadSays.brief])
    const { approvalId } = waitingHolds(room.state())[0]!.hold
    expect(await room.give({ is: 'decide-hold', approvalId, digest: `sha256:${'0'.repeat(64)}` as never, verdict: 'approved', reason: null })).toMatchObject({ error: { code: 'digest-mismatch' } })
    expect(room.state().status).toBe('open')
    await room.decide('approved')
    expect(await room.decide('approved', approvalId)).toMatchObject({ error: { code: 'already-decided' } })
    expect(room.coder.run().submitted).toHaveLength(1)
  })

  it('asks the owner where the lead cannot answer, and the owner\'s answer goes on in the same turn loop', async () => {
    const room = await atWork([leadSays.answer(null)])
    room.coder.run().say({ is: 'question-asked', questionId: 'que_1', callId: null, questions: [{ question: 'Which?', header: 'h', options: [], multiple: false }] })
    await room.settle()
    expect(room.state().status).toBe('blocked')
    const question = [...room.state().questions.values()][0]!
    expect(question.state).toBe('asked-owner')
    expect((await room.give({ is: 'answer-question', questionId: question.questionId, text: 'the second' })).ok).toBe(true)
    expect(room.coder.run().answers).toEqual(['the second'])
    expect(room.state().turns).toHaveLength(2)
  })

  it('lets the owner write the brief when the lead cannot', async () => {
    const room = await openTaskRoom(['no json', 'still none', 'sorry'])
    expect(room.lead.asked).toHaveLength(3)
    expect([...room.state().questions.values()][0]?.purpose).toBe('brief')
    expect(room.state().status).toBe('blocked')
    await room.give({ is: 'write-brief', brief: { goal: 'g', scope: '', criteria: [], testCommand: 'make test', excerpts: [] } })
    await room.decide('approved')
    expect(room.coder.run().submitted[0]!.text).toContain('make test')
  })

  it('sends a failed verification back as a second turn in the same session, within the turn budget', async () => {
    const room = await atWork([leadSays.review])
    room.sandbox.exitCodes.push(1, 0)
    const run = room.coder.run()
    sayTurnEnded(run, 'done')
    await room.settle()
    expect(run.submitted).toHaveLength(2)
    expect(run.submitted[1]!.text).toContain('exit code 1')
    sayTurnEnded(run, 'mended')
    await room.settle()
    expect(room.state().status).toBe('result-ready')
    expect(room.coder.runs).toHaveLength(1)
  })

  it('does not let an unverified result be accepted', async () => {
    const room = await atWork([leadSays.review])
    room.sandbox.exitCodes.push(1, 1, 1, 1)
    const run = room.coder.run()
    for (let turn = 0; turn < 4; turn += 1) {
      sayTurnEnded(run, 'done')
      await room.settle()
    }
    // The turns are used up: the owner allows no further one, and has the result as it is.
    await room.decide('denied')
    expect(room.state().status).toBe('result-ready')
    const refused = await room.decide('approved')
    expect(refused).toMatchObject({ ok: false, error: { code: 'verification-failed' } })
    expect(room.workspace.applied).toEqual([])
    await room.decide('denied')
    expect(room.state()).toMatchObject({ status: 'cancelled', disposition: 'rejected' })
  })

  it('counts no result as verified that only the coder\'s own tests pass: Bot A\'s held tests decide, and the clean copy must be the very tree', async () => {
    for (const change of [{ heldTests: 'bun test /oracle' }, { copyDigest: digestOfText('another tree') }]) {
      const room = await atWork([leadSays.review], { budget: { ...newTask('any').budget, turnsMax: 1 } })
      Object.assign(room.workspace, change)
      // The visible tests pass each time; the held ones, where there are any, do not.
      room.sandbox.exitCodes.push(0, 1)
      sayTurnEnded(room.coder.run(), 'All tests pass, N of N.')
      await room.settle()
      expect(room.sandbox.ran).toEqual(['bun test', ...('heldTests' in change ? [change.heldTests] : [])])
      // The owner gives no turn more for a correction.
      expect((await room.decide('denied')).ok).toBe(true)
      expect(room.state()).toMatchObject({ status: 'result-ready', verified: false, verification: { passed: false, testRun: { exitCode: 0 } } })
      expect(await room.decide('approved')).toMatchObject({ ok: false, error: { code: 'verification-failed' } })
      expect(room.workspace.applied).toEqual([])
    }
  })

  it('names what Bot A\'s runs could use at most, each by the sandbox that it ran in', async () => {
    const room = await atWork([leadSays.review])
    Object.assign(room.workspace, { heldTests: 'bun test /oracle' })
    sayTurnEnded(room.coder.run(), 'Done.')
    await room.settle()
    const limits = defaultSandboxLimits
    expect(room.state()).toMatchObject({ verified: true, verification: { testRun: { limits }, oracle: { limits } } })
  })

  it('asks again, with the reason, when the folder changed underneath', async () => {
    const room = await atWork([leadSays.review])
    const run = room.coder.run()
    sayTurnEnded(run, 'done')
    await room.settle()
    room.workspace.applyRefusal = 'src/a.ts changed.'
    await room.decide('approved')
    expect(room.state().status).toBe('result-ready')
    expect(waitingHolds(room.state())[0]!.hold.reaskReason).toContain('src/a.ts changed.')
  })
})

describe('stop, crash and recovery', () => {
  it('shows a stop as requested first and as observed only with proof', async () => {
    const room = await atWork()
    await room.give({ is: 'stop-task' })
    expect(room.state()).toMatchObject({ status: 'cancelled', generation: 2, cancel: { state: 'observed', proof: { method: 'pid-namespace-empty' } } })
    room.coder.run().say({ is: 'turn-ended', messageId: room.coder.run().submitted[0]!.messageId, outcome: 'completed', finish: 'stop', text: 'late', error: null, errorCode: null })
    await room.settle()
    expect(room.state().status).toBe('cancelled')
  })

  it('submits nothing twice after a crash in a turn: uncertain, with its exits', async () => {
    const room = await atWork()
    room.coder.run().say({ is: 'tool-running', callId: 'call_1' as never, tool: 'bash', input: { command: 'bun test' }, output: null })
    await room.restart()
    expect(room.state().recovery?.state).toBe('uncertain')
    expect(room.state().openTools.size).toBe(0)
    expect(room.sandbox.orphansAsked).toEqual([1_001])
    expect(room.coder.runs).toEqual([])
    await room.give({ is: 'resolve-recovery', exit: 'resend' })
    expect(room.coder.run().submitted).toHaveLength(1)
    expect(room.coder.run().submitted[0]!.text).toContain('interrupted')
    expect(room.state().recovery).toBeNull()
  })

  it('settles an uncertain turn that history has completed', async () => {
    const room = await atWork([leadSays.review])
    await room.restart()
    room.coder.history = 'completed'
    await room.give({ is: 'resolve-recovery', exit: 're-check' })
    expect(room.state().status).toBe('result-ready')
    expect(room.coder.runs).toHaveLength(1)
    expect(room.coder.run().submitted).toEqual([])
  })

  it('keeps the brief\'s hold over a restart, drawn from the journal', async () => {
    const room = await openTaskRoom([leadSays.brief])
    await room.restart()
    expect(room.engine.room.snapshot(room.taskId).put.filter((row) => row.kind === 'hold' && row.outcome === 'waiting')).toHaveLength(1)
    await room.decide('approved')
    expect(room.coder.run().submitted).toHaveLength(1)
  })

  it('fails with the deadline, after proof that nothing runs', async () => {
    const room = await atWork()
    await room.time.advance(600_001)
    await room.settle()
    expect(room.state()).toMatchObject({ status: 'failed', failure: { code: 'deadline-passed' } })
    expect(room.coder.run().stopped).toBe(true)
  })

  it('keeps words before the tool call that followed them, although the runtime ends a text last', async () => {
    const room = await atWork()
    const run = room.coder.run()
    run.say({ is: 'text', partId: 'prt_t', reasoning: false, text: 'First I write.', done: false })
    sayWrite(run, 'call_1', '/workspace/src/a.ts', 'x')
    run.say({ is: 'text', partId: 'prt_t', reasoning: false, text: 'First I write.', done: true })
    await room.settle()
    const rows = room.engine.room.snapshot(room.taskId).put.filter((row) => row.kind === 'entry' && ((row.body.is === 'message' && row.author === 'coder') || row.body.is === 'tool')).map((row) => (row.kind === 'entry' ? row : null)!)
    expect(rows.toSorted((a, b) => a.order - b.order).map((row) => row.body.is)).toEqual(['message', 'tool'])
  })

  it('draws the same rows from the journal as it drew live', async () => {
    const room = await atWork([leadSays.review])
    const run = room.coder.run()
    sayWrite(run, 'call_1', '/workspace/src/a.ts', 'x')
    sayTurnEnded(run, 'done')
    await room.settle()
    // Each start of the app probes the isolation anew; everything else is the journal's.
    const rows = () => room.engine.room.snapshot(room.taskId).put.map((row) => (row.kind === 'task' ? { ...row, isolation: null } : row)).toSorted((a, b) => (a.key < b.key ? -1 : 1))
    const live = rows()
    await room.restart()
    expect(rows()).toEqual(live)
  })

  it('draws the same rows of a finished task that changes before anybody looked at it after a restart', async () => {
    const room = await atWork()
    sayWrite(room.coder.run(), 'call_1', '/workspace/src/a.ts', 'x')
    await room.give({ is: 'stop-task' })
    const rows = () => room.engine.room.snapshot(room.taskId).put.map((row) => (row.kind === 'task' ? { ...row, isolation: null } : row)).toSorted((a, b) => (a.key < b.key ? -1 : 1))
    await room.restart()
    await room.give({ is: 'request-revision', revision: 'task_next' as never, requirement: 'Do more.' })
    const changed = rows()
    expect(changed.filter((row) => row.kind === 'entry' && row.body.is === 'tool')).toHaveLength(1)
    await room.restart()
    expect(rows()).toEqual(changed)
  })

  it('puts nothing on record of a finished task whose transcript cannot be read, and takes the same click when it can', async () => {
    const memory = createMemoryJournal()
    const disk = { broken: false }
    const read: Journal['read'] = (stream, from) => { if (disk.broken) throw Object.assign(new Error('broken'), { failure: failure('unavailable', 'The disk reported an error.', 'Try again.') }); return memory.read(stream, from) }
    const room = await openScriptedRoom({ leadAnswers: steadyLead, journal: () => ({ ...memory, read }) })
    const taskId = await room.create()
    await room.give(taskId, { is: 'stop-task' })
    await room.restart()
    const revise = () => room.give(taskId, { is: 'request-revision', revision: 'task_next' as never, requirement: 'Do more.' }, 'click-revise')
    const before = memory.all().length
    disk.broken = true
    expect(await revise()).toMatchObject({ ok: false, error: { code: 'unavailable' } })
    expect(memory.all()).toHaveLength(before)
    disk.broken = false
    expect((await revise()).ok).toBe(true)
    expect(memory.all().slice(before).map(({ type }) => type)).toEqual(['noted'])
  })
})

describe('budgets and providers', () => {
  it('holds a remote provider per bot before its first byte leaves', async () => {
    const room = await openTaskRoom([leadSays.brief], { directory: createScriptedDirectory({ demo: false, remote: true, needsKey: true, baseUrl: 'https://models.example/v1' }) })
    expect(room.lead.asked).toEqual([])
    await room.decide('approved')
    expect(room.lead.asked).toHaveLength(1)
    await room.decide('approved')
    expect(room.coder.runs).toEqual([])
    expect(waitingHolds(room.state())[0]!.hold).toMatchObject({ kind: 'provider', bot: 'coder' })
    await room.decide('approved')
    expect(room.coder.run().submitted).toHaveLength(1)
  })

  it('reserves each call before it leaves and refuses the one over the cap', async () => {
    const room = await atWork()
    const admit = (callNumber: number) => room.gateway.admit({ callNumber, taskId: room.taskId, bot: 'coder', model: 'demo', bodyBytes: 300, api: 'chat' })
    for (let call = 1; call <= 20; call += 1) expect(await admit(call)).toEqual({ admit: true, outputTokensMax: 32_000, outputWhole: true })
    expect(await admit(21)).toMatchObject({ admit: false, code: 'budget_exhausted' })
  })
})

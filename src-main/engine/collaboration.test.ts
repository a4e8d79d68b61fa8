import { describe, expect, it } from 'vitest'
import type { ApprovalId, CommandId, TaskId } from '../../src-preload/contract/ids.ts'
import { limits } from '../../src-preload/contract/limits.ts'
import type { NewTask } from '../../src-preload/contract/methods.ts'
import { createFakeIds, createFakeTime, settled } from '../adapters/memory/fake-time.ts'
import { createMemoryJournal } from '../adapters/memory/memory-journal.ts'
import { createRuntimeStore, createScriptedCoder, sayWrite } from '../adapters/memory/scripted-coder.ts'
import { createScriptedDirectory, createScriptedGateway, createScriptedLead, createScriptedNotifier, createScriptedSandbox, createScriptedWorkspace } from '../adapters/memory/scripted-world.ts'
import { standingOffer } from '../core/approval/standing-grant.ts'
import type { TaskState } from '../core/task/model.ts'
import { waitingHolds } from '../core/task/model.ts'
import { createRoomTransport } from './room-transport.ts'
import { Engine } from './engine.ts'

const brief = JSON.stringify({ goal: 'Do it', scope: '', criteria: ['it works'], testCommand: 'bun test', excerptIds: ['src/a.ts'] })
const review = JSON.stringify({ text: 'Looks right.', recommendation: 'accept' })
const task: NewTask = {
  commandId: 'click-1' as CommandId, title: 'A task', requirement: 'Make it work', criteria: ['it works'], testCommand: null, source: { kind: 'sample' },
  models: { lead: { providerId: 'demo', modelId: 'demo' }, coder: { providerId: 'demo', modelId: 'demo' } },
  budget: { profile: 'pilot', turnsMax: 4, messagesMax: 8, requestsMax: 20, tokensMax: 1_000_000, moneyMicroUsdMax: null, deadlineMs: 600_000 },
  grant: { edits: 'allow', testCommand: 'allow', otherCommands: 'ask' }, revisionOf: null,
}

/** A whole room in memory; `restart` makes a new engine over the same journal and sessions. */
async function aRoom(leadAnswers: string[], change: { readonly directory?: ReturnType<typeof createScriptedDirectory>; readonly source?: NewTask['source']; readonly grant?: NewTask['grant'] } = {}) {
  const time = createFakeTime()
  const ids = createFakeIds()
  const journal = createMemoryJournal()
  const workspace = createScriptedWorkspace()
  const sandbox = createScriptedSandbox(time)
  const lead = createScriptedLead(leadAnswers)
  const notifier = createScriptedNotifier()
  const store = createRuntimeStore()
  const errors: string[] = []
  const boot = async () => {
    const coder = createScriptedCoder(time, store)
    const gateway = createScriptedGateway()
    const engine = new Engine({ clock: time, ids, timers: time, journal, sandbox, coder, gateway, transport: createRoomTransport(), directory: change.directory ?? createScriptedDirectory(), lead, workspace, notifier, versions: () => ({ app: '0', electron: '0', sqlite: '0', openCode: null }), scriptedOwner: false, log: (level, msg, fields) => { if (level === 'error') errors.push(`${msg} ${JSON.stringify(fields)}`) } })
    await engine.start()
    await engine.look()
    return { engine, coder, gateway }
  }
  const first = await boot()
  let current = first
  let clicks = 0
  const room = {
    time, journal, workspace, sandbox, lead, notifier, errors,
    get engine() { return current.engine }, get coder() { return current.coder }, get gateway() { return current.gateway },
    taskId: '' as TaskId,
    state: (): TaskState => current.engine.state(room.taskId)!,
    restart: async () => { current = await boot(); await settle() },
    settle: () => settle(),
    decide: async (verdict: 'approved' | 'denied', approvalId?: ApprovalId) => {
      const { hold, outcome: before, shownAt } = approvalId === undefined ? waitingHolds(room.state())[0]! : room.state().holds.get(approvalId)!
      if (before === 'waiting' && shownAt === null) {
        current.engine.command(room.taskId, `shown:${hold.approvalId}` as CommandId, { is: 'hold-shown', approvalId: hold.approvalId, digest: hold.digest })
        await time.advance(limits.humanDecisionMs)
      }
      clicks += 1
      const outcome = current.engine.command(room.taskId, `click-d${String(clicks)}` as CommandId, { is: 'decide-hold', approvalId: hold.approvalId, digest: hold.digest, verdict, reason: null })
      await settle()
      return outcome
    },
    give: async (command: Parameters<Engine['command']>[2]) => {
      clicks += 1
      const outcome = current.engine.command(room.taskId, `click-c${String(clicks)}` as CommandId, command)
      await settle()
      return outcome
    },
  }
  const settle = async (): Promise<void> => { for (let round = 0; round < 12; round += 1) { await settled(); await time.advance(0) } }
  const created = await current.engine.createTask({ ...task, source: change.source ?? task.source, grant: change.grant ?? task.grant })
  if (!created.ok) throw new Error(created.error.message)
  room.taskId = created.value.taskId
  await settle()
  return room
}

/** Up to the first submitted turn. */
async function working(answers: string[] = [], grant: NewTask['grant'] = task.grant) {
  const room = await aRoom([brief, ...answers], { grant })
  await room.decide('approved')
  return room
}

describe('the whole collaboration', () => {
  it('goes from brief to acceptance in one session, and only the owner makes it accepted', async () => {
    const room = await aRoom([brief, JSON.stringify({ answer: 'the better price', why: 'criteria' }), review])
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
    run.say({ is: 'turn-ended', messageId: run.submitted[0]!.messageId, outcome: 'completed', finish: 'stop', text: 'done', error: null, errorCode: null })
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
    const room = await aRoom([brief], { source: { kind: 'folder', path: '/home/me/project', mounts: [mount] } })
    expect(waitingHolds(room.state())[0]!.hold.facts).toContainEqual({ label: 'Toolchain', value: '/home/me/.nvm/v24 → /opt/toolchains/nvm (read-only)', exact: true, authoredBy: 'owner' })
  })

  it('submits nothing when the brief is denied', async () => {
    const room = await aRoom([brief])
    await room.decide('denied')
    expect(room.state().status).toBe('cancelled')
    expect(room.coder.runs).toEqual([])
  })

  it('lets one click decide one hold once, and refuses another digest', async () => {
    const room = await aRoom([brief])
    const { approvalId } = waitingHolds(room.state())[0]!.hold
    expect((await room.give({ is: 'decide-hold', approvalId, digest: `sha256:${'0'.repeat(64)}` as never, verdict: 'approved', reason: null })).ok).toBe(false)
    expect(room.state().status).toBe('open')
    await room.decide('approved')
    const again = await room.decide('approved', approvalId)
    expect(again.ok).toBe(false)
    expect(room.coder.run().submitted).toHaveLength(1)
  })

  it('asks the owner where the lead cannot answer, and the owner\'s answer goes on in the same turn loop', async () => {
    const room = await working([JSON.stringify({ answer: null, why: 'not in the criteria' })])
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
    const room = await aRoom(['no json', 'still none', 'sorry'])
    expect(room.lead.asked).toHaveLength(3)
    expect([...room.state().questions.values()][0]?.purpose).toBe('brief')
    expect(room.state().status).toBe('blocked')
    await room.give({ is: 'write-brief', brief: { goal: 'g', scope: '', criteria: [], testCommand: 'make test', excerpts: [] } })
    await room.decide('approved')
    expect(room.coder.run().submitted[0]!.text).toContain('make test')
  })

  it('sends a failed verification back as a second turn in the same session, within the turn budget', async () => {
    const room = await working([review])
    room.sandbox.exitCodes.push(1, 0)
    const run = room.coder.run()
    run.say({ is: 'turn-ended', messageId: run.submitted[0]!.messageId, outcome: 'completed', finish: 'stop', text: 'done', error: null, errorCode: null })
    await room.settle()
    expect(run.submitted).toHaveLength(2)
    expect(run.submitted[1]!.text).toContain('exit code 1')
    run.say({ is: 'turn-ended', messageId: run.submitted[1]!.messageId, outcome: 'completed', finish: 'stop', text: 'mended', error: null, errorCode: null })
    await room.settle()
    expect(room.state().status).toBe('result-ready')
    expect(room.coder.runs).toHaveLength(1)
  })

  it('does not let an unverified result be accepted', async () => {
    const room = await working([review])
    room.sandbox.exitCodes.push(1, 1, 1, 1)
    const run = room.coder.run()
    for (let turn = 0; turn < 4; turn += 1) {
      run.say({ is: 'turn-ended', messageId: run.submitted[turn]!.messageId, outcome: 'completed', finish: 'stop', text: 'done', error: null, errorCode: null })
      await room.settle()
    }
    expect(room.state().status).toBe('result-ready')
    const refused = await room.decide('approved')
    expect(refused).toMatchObject({ ok: false, error: { code: 'verification-failed' } })
    expect(room.workspace.applied).toEqual([])
    await room.decide('denied')
    expect(room.state()).toMatchObject({ status: 'cancelled', disposition: 'rejected' })
  })

  it('asks again, with the reason, when the folder changed underneath', async () => {
    const room = await working([review])
    const run = room.coder.run()
    run.say({ is: 'turn-ended', messageId: run.submitted[0]!.messageId, outcome: 'completed', finish: 'stop', text: 'done', error: null, errorCode: null })
    await room.settle()
    room.workspace.applyRefusal = 'src/a.ts changed.'
    await room.decide('approved')
    expect(room.state().status).toBe('result-ready')
    expect(waitingHolds(room.state())[0]!.hold.reaskReason).toContain('src/a.ts changed.')
  })
})

describe('edits that the owner approves one by one', () => {
  const input = { filePath: '/workspace/a.ts', content: 'new' }
  const ended = (written: unknown) => ({ is: 'tool-ended', callId: 'call_1' as never, tool: 'write', outcome: 'done', input: written, output: '', title: null, exitCode: null } as const)
  const asked = async () => {
    const room = await working([], { edits: 'ask', testCommand: 'allow', otherCommands: 'ask' })
    const run = room.coder.run()
    run.say({ is: 'tool-running', callId: 'call_1' as never, tool: 'write', input, output: null })
    run.say({ is: 'permission-asked', permissionId: 'per_1', callId: 'call_1' as never, permission: 'edit', patterns: [], command: null, workdir: null, files: [{ path: '/workspace/a.ts', real: '/workspace/a.ts' }], diff: '--- a', edit: { tool: 'write', input, bases: [] } })
    await room.settle()
    return room
  }

  it('go on when the call ends as it was approved', async () => {
    const room = await asked()
    await room.decide('approved')
    expect(room.coder.run().permissions).toEqual([{ permissionId: 'per_1', allow: true }])
    room.coder.run().say(ended({ content: 'new', filePath: '/workspace/a.ts' }))
    await room.settle()
    expect(room.state().status).toBe('working')
  })

  it('are not let through by a standing grant that is taken back before the runtime has heard of it', async () => {
    const room = await asked()
    const { hold } = waitingHolds(room.state())[0]!
    const choice = standingOffer(room.taskId, hold)!.choices[0]!
    room.engine.command(room.taskId, 'click-shown' as CommandId, { is: 'hold-shown', approvalId: hold.approvalId, digest: hold.digest })
    await room.time.advance(limits.humanDecisionMs)
    room.engine.command(room.taskId, 'click-standing' as CommandId, { is: 'decide-hold', approvalId: hold.approvalId, digest: hold.digest, verdict: 'approved', reason: null, standing: choice.digest })
    await room.settle()
    const run = room.coder.run()
    const again = (permissionId: string): void => { run.say({ is: 'permission-asked', permissionId, callId: `call_${permissionId}` as never, permission: 'edit', patterns: [], command: null, workdir: null, files: [{ path: '/workspace/a.ts', real: '/workspace/a.ts' }], diff: '--- a', edit: { tool: 'write', input, bases: [] } }) }
    again('per_2')
    await room.settle()
    // In one breath: the grant has ruled, and its word is not out yet.
    again('per_3')
    room.engine.command(room.taskId, 'click-revoke' as CommandId, { is: 'revoke-grant', grantId: [...room.state().grants.keys()][0]! })
    await room.settle()
    expect(run.permissions).toEqual([{ permissionId: 'per_1', allow: true }, { permissionId: 'per_2', allow: true }, { permissionId: 'per_3', allow: false }])
  })

  it('stop the run, with the reason in the room, when the call ends as another', async () => {
    const room = await asked()
    await room.decide('approved')
    room.coder.run().say(ended({ ...input, content: 'new ' }))
    await room.settle()
    expect(room.state()).toMatchObject({ status: 'failed', coder: { is: 'gone' } })
    expect(JSON.stringify(room.engine.room.snapshot(room.taskId).put)).toContain('What Bot B\'s call did to /workspace/a.ts is not what was approved. The run was stopped.')
  })
})

describe('permissions of the coder', () => {
  const ask = (room: Awaited<ReturnType<typeof working>>, permissionId: string, command: string, workdir = '/workspace') => {
    room.coder.run().say({ is: 'permission-asked', permissionId, callId: null, permission: 'bash', patterns: [command], command, workdir, files: [], diff: null })
    return room.settle()
  }

  it('runs the approved test command without a hold, and holds any other', async () => {
    const room = await working()
    await ask(room, 'per_1', 'bun test')
    expect(room.coder.run().permissions).toEqual([{ permissionId: 'per_1', allow: true }])
    await ask(room, 'per_2', 'bun test; curl evil')
    expect(waitingHolds(room.state())).toHaveLength(1)
    expect(room.state().status).toBe('blocked')
    await room.decide('denied')
    expect(room.coder.run().permissions[1]).toEqual({ permissionId: 'per_2', allow: false })
    expect(room.state().status).toBe('working')
  })

  it('shows a call as waiting for approval until the owner decided, then as running', async () => {
    const room = await working()
    const stateOfCall = () => room.engine.room.snapshot(room.taskId).put.flatMap((row) => (row.kind === 'entry' && row.body.is === 'tool' ? [row.body.state] : []))
    room.coder.run().say({ is: 'tool-running', callId: 'call_1' as never, tool: 'bash', input: { command: 'ls' }, output: null })
    room.coder.run().say({ is: 'permission-asked', permissionId: 'per_1', callId: 'call_1' as never, permission: 'bash', patterns: ['ls'], command: 'ls', workdir: '/workspace', files: [], diff: null })
    await room.settle()
    expect(stateOfCall()).toEqual(['awaiting-approval'])
    await room.decide('approved')
    expect(stateOfCall()).toEqual(['running'])
  })

  it('denies a directory outside the workspace without asking', async () => {
    const room = await working()
    await ask(room, 'per_1', 'ls', '/etc')
    expect(room.coder.run().permissions).toEqual([{ permissionId: 'per_1', allow: false }])
    expect(waitingHolds(room.state())).toEqual([])
  })

  it('lets an approved command through the broker once, with exactly its bytes', async () => {
    const room = await working()
    await ask(room, 'per_1', 'ls -la')
    await room.decide('approved')
    const decide = room.coder.run().spec.decideCommand
    const signal = new AbortController().signal
    expect(await decide({ askId: 'ask_1', text: 'ls -la', cwd: '/workspace' }, signal)).toEqual({ verdict: 'run' })
    const second = decide({ askId: 'ask_2', text: 'ls -la', cwd: '/workspace' }, signal)
    await room.settle()
    expect(waitingHolds(room.state())[0]!.hold.subject).toMatchObject({ for: 'command', askId: 'ask_2' })
    expect(waitingHolds(room.state())[0]!.hold.reaskReason).not.toBeNull()
    await room.decide('denied')
    expect(await second).toMatchObject({ verdict: 'refuse' })
  })

  it('stops the run when somebody else answers a permission', async () => {
    const room = await working()
    room.coder.run().say({ is: 'permission-replied', permissionId: 'per_9', reply: 'always' })
    await room.settle()
    expect(room.state().status).toBe('failed')
    expect(room.coder.run().stopped).toBe(true)
  })
})

describe('stop, crash and recovery', () => {
  it('shows a stop as requested first and as observed only with proof', async () => {
    const room = await working()
    await room.give({ is: 'stop-task' })
    expect(room.state()).toMatchObject({ status: 'cancelled', generation: 2, cancel: { state: 'observed', proof: { method: 'pid-namespace-empty' } } })
    room.coder.run().say({ is: 'turn-ended', messageId: room.coder.run().submitted[0]!.messageId, outcome: 'completed', finish: 'stop', text: 'late', error: null, errorCode: null })
    await room.settle()
    expect(room.state().status).toBe('cancelled')
  })

  it('submits nothing twice after a crash in a turn: uncertain, with its exits', async () => {
    const room = await working()
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
    const room = await working([review])
    await room.restart()
    room.coder.history = 'completed'
    await room.give({ is: 'resolve-recovery', exit: 're-check' })
    expect(room.state().status).toBe('result-ready')
    expect(room.coder.runs).toHaveLength(1)
    expect(room.coder.run().submitted).toEqual([])
  })

  it('keeps the brief\'s hold over a restart, drawn from the journal', async () => {
    const room = await aRoom([brief])
    await room.restart()
    expect(room.engine.room.snapshot(room.taskId).put.filter((row) => row.kind === 'hold' && row.outcome === 'waiting')).toHaveLength(1)
    await room.decide('approved')
    expect(room.coder.run().submitted).toHaveLength(1)
  })

  it('fails with the deadline, after proof that nothing runs', async () => {
    const room = await working()
    await room.time.advance(600_001)
    await room.settle()
    expect(room.state()).toMatchObject({ status: 'failed', failure: { code: 'deadline-passed' } })
    expect(room.coder.run().stopped).toBe(true)
  })

  it('keeps words before the tool call that followed them, although the runtime ends a text last', async () => {
    const room = await working()
    const run = room.coder.run()
    run.say({ is: 'text', partId: 'prt_t', reasoning: false, text: 'First I write.', done: false })
    sayWrite(run, 'call_1', '/workspace/src/a.ts', 'x')
    run.say({ is: 'text', partId: 'prt_t', reasoning: false, text: 'First I write.', done: true })
    await room.settle()
    const rows = room.engine.room.snapshot(room.taskId).put.filter((row) => row.kind === 'entry' && ((row.body.is === 'message' && row.author === 'coder') || row.body.is === 'tool')).map((row) => (row.kind === 'entry' ? row : null)!)
    expect(rows.toSorted((a, b) => a.order - b.order).map((row) => row.body.is)).toEqual(['message', 'tool'])
  })

  it('draws the same rows from the journal as it drew live', async () => {
    const room = await working([review])
    const run = room.coder.run()
    sayWrite(run, 'call_1', '/workspace/src/a.ts', 'x')
    run.say({ is: 'turn-ended', messageId: run.submitted[0]!.messageId, outcome: 'completed', finish: 'stop', text: 'done', error: null, errorCode: null })
    await room.settle()
    // Each start of the app probes the isolation anew; everything else is the journal's.
    const rows = () => room.engine.room.snapshot(room.taskId).put.map((row) => (row.kind === 'task' ? { ...row, isolation: null } : row)).toSorted((a, b) => (a.key < b.key ? -1 : 1))
    const live = rows()
    await room.restart()
    expect(rows()).toEqual(live)
  })
})

describe('budgets and providers', () => {
  it('holds a remote provider per bot before its first byte leaves', async () => {
    const room = await aRoom([brief], { directory: createScriptedDirectory({ demo: false, remote: true, needsKey: true, baseUrl: 'https://models.example/v1' }) })
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
    const room = await working()
    const admit = (callNumber: number) => room.gateway.admit({ callNumber, taskId: room.taskId, bot: 'coder', model: 'demo', bodyBytes: 300, api: 'chat' })
    for (let call = 1; call <= 20; call += 1) expect(await admit(call)).toEqual({ admit: true })
    expect(await admit(21)).toMatchObject({ admit: false, code: 'budget_exhausted' })
  })
})

import assert from 'node:assert/strict'
import { failure } from '../../../src-preload/contract/failure.ts'
import { err } from '../../../src-preload/contract/result.ts'
import type { CallId, TaskId } from '../../../src-preload/contract/ids.ts'
import { sayTurnEnded, sayWrite, type ScriptedRun } from '../../../src-main/adapters/memory/scripted-coder.ts'
import { leadSays, steadyLead, type ScriptedRoom } from '../../../src-main/adapters/memory/scripted-room.ts'
import { createScriptedDirectory } from '../../../src-main/adapters/memory/scripted-world.ts'
import { openQuestion, waitingHolds } from '../../../src-main/core/task/model.ts'
import { eventsOf, toResult, toWork } from '../actors.ts'
import type { Ground, Row } from '../matrix.ts'

/** A moment in a task's life: how to get there, and what to let go of after the stop. */
interface Moment { readonly name: string; readonly reach: (ground: Ground) => Promise<{ readonly room: ScriptedRoom; readonly taskId: TaskId; readonly release?: () => void }>; readonly started: boolean; /** Something of the task holds a process or its folder until it is let go. */ readonly holds?: true }

const say = (run: ScriptedRun, questionId: string): void => {
  run.say({ is: 'question-asked', questionId, callId: null, questions: [{ question: 'Which?', header: '', options: [], multiple: false }] })
}
const shy = (asked: { readonly system: string }): string => (asked.system.includes('Purpose: answer') ? leadSays.answer(null) : steadyLead(asked))

const moments: readonly Moment[] = [
  { name: 'while the workspace is prepared', started: false, holds: true, reach: async (ground) => { const room = await ground.room({ leadAnswers: steadyLead }); const release = room.workspace.gates.hold('prepare'); return { room, taskId: await room.create(), release } } },
  { name: 'while the lead\'s provider waits for approval', started: false, reach: async (ground) => { const room = await ground.room({ leadAnswers: steadyLead, directory: createScriptedDirectory({ demo: false, remote: true, needsKey: true, baseUrl: 'https://models.example/v1' }) }); return { room, taskId: await room.create() } } },
  { name: 'while the lead writes the brief', started: false, reach: async (ground) => { const room = await ground.room({ leadAnswers: steadyLead }); const release = room.lead.gates.hold('ask'); return { room, taskId: await room.create(), release } } },
  { name: 'while the brief waits for approval', started: false, reach: async (ground) => { const room = await ground.room({ leadAnswers: steadyLead }); return { room, taskId: await room.create() } } },
  { name: 'while the coder starts', started: false, holds: true, reach: async (ground) => { const room = await ground.room({ leadAnswers: steadyLead }); const taskId = await room.create(); const release = room.coder.gates.hold('start'); await room.decide(taskId, 'approved'); return { room, taskId, release } } },
  { name: 'while the first turn is being sent', started: true, reach: async (ground) => { const room = await ground.room({ leadAnswers: steadyLead }); const taskId = await room.create(); const release = room.coder.gates.hold('submit'); await room.decide(taskId, 'approved'); return { room, taskId, release } } },
  { name: 'while the coder works', started: true, reach: async (ground) => { const room = await ground.room({ leadAnswers: steadyLead }); const taskId = await toWork(room); room.coder.run().say({ is: 'tool-running', callId: 'call_open' as CallId, tool: 'bash', input: { command: 'bun test' }, output: null }); return { room, taskId } } },
  { name: 'while a permission waits for approval', started: true, reach: async (ground) => { const room = await ground.room({ leadAnswers: steadyLead }); const taskId = await toWork(room); room.coder.run().say({ is: 'permission-asked', permissionId: 'per_1', callId: null, permission: 'bash', patterns: ['ls'], command: 'ls', workdir: '/workspace', files: [], diff: null }); await room.settle(); return { room, taskId } } },
  { name: 'while a command waits at the broker', started: true, reach: async (ground) => { const room = await ground.room({ leadAnswers: steadyLead }); const taskId = await toWork(room); const asked = room.coder.run().spec.decideCommand({ askId: 'ask_1', text: 'ls', cwd: '/workspace' }, new AbortController().signal); await room.settle(); return { room, taskId, release: () => { void asked.then((verdict) => { assert.equal(verdict.verdict, 'refuse') }) } } } },
  { name: 'while the lead answers a question', started: true, reach: async (ground) => { const room = await ground.room({ leadAnswers: steadyLead }); const taskId = await toWork(room); const release = room.lead.gates.hold('ask'); say(room.coder.run(), 'que_1'); await room.settle(); return { room, taskId, release } } },
  { name: 'while a question waits for the owner', started: true, reach: async (ground) => { const room = await ground.room({ leadAnswers: shy }); const taskId = await toWork(room); say(room.coder.run(), 'que_1'); await room.settle(); return { room, taskId } } },
  { name: 'while an answer is on its way', started: true, reach: async (ground) => { const room = await ground.room({ leadAnswers: steadyLead }); const taskId = await toWork(room); const release = room.coder.gates.hold('answerQuestion'); say(room.coder.run(), 'que_1'); await room.settle(); return { room, taskId, release } } },
  { name: 'while the evidence is collected', started: true, holds: true, reach: async (ground) => { const room = await ground.room({ leadAnswers: steadyLead }); const taskId = await toWork(room); const release = room.workspace.gates.hold('diff'); await toResult(room, taskId); return { room, taskId, release } } },
  { name: 'while the lead verifies', started: true, holds: true, reach: async (ground) => { const room = await ground.room({ leadAnswers: steadyLead }); const taskId = await toWork(room); const release = room.sandbox.gates.hold('run'); await toResult(room, taskId); return { room, taskId, release } } },
  { name: 'while the lead reviews', started: true, reach: async (ground) => { const room = await ground.room({ leadAnswers: steadyLead }); const taskId = await toWork(room); const release = room.lead.gates.hold('ask'); await toResult(room, taskId); return { room, taskId, release } } },
  { name: 'while the result waits for the owner', started: true, reach: async (ground) => { const room = await ground.room({ leadAnswers: steadyLead }); const taskId = await toWork(room); await toResult(room, taskId); return { room, taskId } } },
  { name: 'while a turn is uncertain', started: true, reach: async (ground) => { const room = await ground.room({ leadAnswers: steadyLead }); const taskId = await toWork(room); await room.restart(); return { room, taskId } } },
]

/** Everything that a coder could still say after its task has ended. */
async function chatter(room: ScriptedRoom): Promise<void> {
  for (const run of room.coder.runs) {
    run.say({ is: 'busy' })
    run.say({ is: 'text', partId: 'prt_late', reasoning: false, text: 'late words', done: true })
    say(run, 'que_late')
    run.say({ is: 'permission-asked', permissionId: 'per_late', callId: null, permission: 'bash', patterns: ['ls'], command: 'ls', workdir: '/workspace', files: [], diff: null })
    sayWrite(run, 'call_late', '/workspace/src/a.ts', 'late')
    sayTurnEnded(run, 'late result')
    run.say({ is: 'idle' })
    assert.equal((await run.spec.decideCommand({ askId: 'ask_late', text: 'bun test', cwd: '/workspace' }, new AbortController().signal)).verdict, 'refuse')
    run.say({ is: 'exited', code: 0, signal: null })
  }
  await room.settle()
}

export const stop: Row = {
  name: 'stop and late result', transport: 'room',
  mustHold: 'cancel before dispatch prevents calls; requested and observed are apart; an abort that is offline stays requested; a late result revives nothing; room chatter starts nothing',
  checks: [
    ...moments.map((moment) => ({
      promise: `a stop ${moment.name} is observed only when everything has let go, and nothing comes of what is said later`,
      run: async (ground: Ground) => {
        const { room, taskId, release } = await moment.reach(ground)
        const submitted = (): number => room.coders.flatMap((coder) => coder.runs).flatMap((run) => run.submitted).length
        const before = { submitted: submitted(), asked: room.lead.asked.length, ran: room.sandbox.ran.length }
        await room.give(taskId, { is: 'stop-task' })
        assert.equal(room.state(taskId).cancel?.state, moment.holds === true ? 'requested' : 'observed')
        release?.()
        await room.settle()
        const ended = room.state(taskId)
        assert.deepEqual([ended.status, ended.cancel?.state, ended.generation, ended.disposition], ['cancelled', 'observed', 2, 'stopped'])
        assert.deepEqual([ended.openTools.size, waitingHolds(ended).length, openQuestion(ended), ended.recovery], [0, 0, null, null])
        assert.ok(room.coder.runs.every((run) => run.stopped), 'a process was left')
        if (!moment.started) assert.equal(room.coder.runs.filter((run) => run.submitted.length > 0).length, 0)
        await chatter(room)
        await room.restart()
        await room.time.advance(700_000)
        await room.settle()
        const after = room.state(taskId)
        assert.deepEqual([after.status, after.generation, waitingHolds(after).length, openQuestion(after)], ['cancelled', 2, 0, null])
        assert.equal(submitted(), before.submitted)
        assert.deepEqual([room.lead.asked.length, room.sandbox.running, room.workspace.applied.length], [before.asked, 0, 0])
        assert.ok(after.workspaceDisposed)
      },
    })),
    {
      promise: 'requested and observed are apart, each with its time, and the proof is on record',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await toWork(room)
        const go = room.coder.gates.hold('stop')
        await room.give(taskId, { is: 'stop-task' })
        const requested = room.state(taskId)
        assert.deepEqual([requested.status, requested.cancel?.state, requested.phase], ['working', 'requested', 'stopping'])
        assert.equal((await room.gateway.admit({ callNumber: 1, taskId, bot: 'coder', model: 'demo', bodyBytes: 1, api: 'chat' })).admit, false)
        await room.time.advance(5_000)
        go()
        await room.settle()
        const { cancel } = room.state(taskId)
        assert.ok(cancel?.state === 'observed')
        assert.equal(cancel.at - cancel.requestedAt, 5_000)
        assert.equal(cancel.proof.method, 'pid-namespace-empty')
      },
    },
    {
      promise: 'a stop that cannot be proven stays requested, over a restart too, until the proof is there',
      expectErrors: /an abort broke|could not be proven/,
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await toWork(room)
        room.coder.abortAnswer = err(failure('opencode-failed', 'Nobody answers.', 'Stop again.'))
        room.coder.unprovable = true
        await room.give(taskId, { is: 'stop-task' })
        assert.deepEqual([room.state(taskId).status, room.state(taskId).cancel?.state], ['working', 'requested'])
        assert.ok(eventsOf(room, taskId).some((event) => event.type === 'noted' && event.level === 'error'))
        sayTurnEnded(room.coder.run(), 'late')
        await room.settle()
        assert.equal(room.state(taskId).phase, 'stopping')
        await room.restart()
        assert.deepEqual([room.state(taskId).status, room.state(taskId).cancel?.state], ['cancelled', 'observed'])
        assert.deepEqual(room.sandbox.orphansAsked, [1_001])
      },
    },
    {
      promise: 'a deadline stops with the same proof, and its task failed; a result that waits for the owner has none',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const working = await toWork(room)
        const ready = await toWork(room)
        await toResult(room, ready)
        await room.time.advance(600_001)
        await room.settle()
        assert.deepEqual([room.state(working).status, room.state(working).failure?.code, room.state(working).cancel?.state], ['failed', 'deadline-passed', 'observed'])
        assert.equal(room.state(ready).status, 'result-ready')
      },
    },
    {
      promise: 'a deadline that passed while the app was closed, or asleep, counts by the wall clock',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await room.create()
        room.time.jump(room.time.now() + 3_600_000)
        await room.restart()
        assert.deepEqual([room.state(taskId).status, room.state(taskId).failure?.code], ['failed', 'deadline-passed'])
        assert.equal(room.coder.runs.length, 0)
      },
    },
    {
      promise: 'while the accepted result is being applied a stop is refused, so that nothing is half done',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await toWork(room)
        await toResult(room, taskId)
        const go = room.workspace.gates.hold('apply')
        await room.decide(taskId, 'approved')
        assert.equal((await room.give(taskId, { is: 'stop-task' })).ok, false)
        go()
        await room.settle()
        assert.equal(room.state(taskId).status, 'accepted')
      },
    },
  ],
}

import assert from 'node:assert/strict'
import { sayTurnEnded } from '../../../src-main/adapters/memory/scripted-coder.ts'
import { leadSays, steadyLead, type ScriptedRoom } from '../../../src-main/adapters/memory/scripted-room.ts'
import { openQuestion } from '../../../src-main/core/task/model.ts'
import type { TaskId } from '../../../src-preload/contract/ids.ts'
import { envelopesOf, refusedAs, toWork } from '../actors.ts'
import type { Row } from '../matrix.ts'

const ask = (room: ScriptedRoom, taskId: TaskId, question: string): void => {
  room.coder.run(taskId).say({ is: 'question-asked', questionId: `que_${taskId}`, callId: null, questions: [{ question, header: '', options: [], multiple: false }] })
}
/** A lead that leaves every question to the owner. */
const shyLead = (asked: { readonly system: string }): string => (asked.system.includes('Purpose: answer') ? leadSays.answer(null) : steadyLead(asked))

async function twoTasks(room: ScriptedRoom): Promise<readonly [TaskId, TaskId]> {
  return [await toWork(room, { title: 'First', requirement: 'FIRST' }), await toWork(room, { title: 'Second', requirement: 'SECOND' })]
}

export const parallel: Row = {
  name: 'parallel work', transport: 'room',
  mustHold: 'two tasks get different sessions; questions, answers and results out of order cannot cross',
  checks: [
    {
      promise: 'each task has its own process, session and prompt',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const [first, second] = await twoTasks(room)
        assert.notEqual(room.state(first).sessionId, room.state(second).sessionId)
        assert.notEqual(room.coder.run(first).pid, room.coder.run(second).pid)
        const prompt = room.coder.run(first).submitted[0]?.text ?? ''
        assert.ok(prompt.includes('FIRST') && !prompt.includes('SECOND'))
        assert.deepEqual(room.coder.run(second).submitted.map((turn) => turn.sessionId), [room.state(second).sessionId])
      },
    },
    {
      promise: 'answers and results in the opposite order reach the task that asked, and no other',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: shyLead })
        const [first, second] = await twoTasks(room)
        ask(room, first, 'Of the first?')
        ask(room, second, 'Of the second?')
        await room.settle()
        const questions = [first, second].map((taskId) => openQuestion(room.state(taskId))?.questionId)
        assert.ok(questions[0] !== undefined && questions[1] !== undefined)
        assert.equal((await room.give(second, { is: 'answer-question', questionId: questions[0], text: 'crossed' })).ok, false)
        await room.give(second, { is: 'answer-question', questionId: questions[1], text: 'second' })
        await room.give(first, { is: 'answer-question', questionId: questions[0], text: 'first' })
        assert.deepEqual([room.coder.run(first).answers, room.coder.run(second).answers], [['first'], ['second']])
        sayTurnEnded(room.coder.run(second), 'second done')
        await room.settle()
        assert.deepEqual([room.state(first).status, room.state(second).status], ['working', 'result-ready'])
        sayTurnEnded(room.coder.run(first), 'first done')
        await room.settle()
        assert.deepEqual([room.state(first).summary, room.state(second).summary], ['first done', 'second done'])
        for (const taskId of [first, second]) for (const posted of envelopesOf(room, taskId)) assert.equal((JSON.parse(posted.text) as { taskId: string }).taskId, taskId)
      },
    },
    {
      promise: 'a result that names the other task\'s turn changes neither',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const [first, second] = await twoTasks(room)
        const messageId = room.coder.run(second).submitted[0]?.messageId ?? ''
        room.coder.run(first).say({ is: 'turn-ended', messageId, outcome: 'completed', finish: 'stop', text: 'crossed', error: null, errorCode: null })
        await room.settle()
        assert.deepEqual([room.state(first).phase, room.state(second).phase], ['coding', 'coding'])
      },
    },
    {
      promise: 'the stop of one task leaves the other at work, and a hold of one is not decided through the other',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const [first, second] = await twoTasks(room)
        room.coder.run(second).say({ is: 'permission-asked', permissionId: 'per_1', callId: null, permission: 'bash', patterns: ['ls'], command: 'ls', workdir: '/workspace', files: [], diff: null })
        await room.settle()
        const hold = [...room.state(second).holds.values()].at(-1)?.hold
        assert.ok(hold !== undefined)
        await room.show(second, hold.approvalId)
        assert.equal(refusedAs(await room.give(first, { is: 'decide-hold', approvalId: hold.approvalId, digest: hold.digest, verdict: 'approved', reason: null })), 'unknown-approval')
        await room.give(first, { is: 'stop-task' })
        assert.deepEqual([room.state(first).status, room.state(second).status], ['cancelled', 'blocked'])
        assert.equal(room.coder.run(second).stopped, false)
      },
    },
    {
      promise: 'a third task waits until one of the two is ready',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const [first] = await twoTasks(room)
        const refused = await room.tryCreate({ title: 'Third' })
        assert.ok(!refused.ok && refused.error.code === 'too-busy')
        sayTurnEnded(room.coder.run(first))
        await room.settle()
        assert.equal((await room.tryCreate({ title: 'Third' })).ok, true)
      },
    },
  ],
}

import assert from 'node:assert/strict'
import { limits } from '../../../src-preload/contract/limits.ts'
import { steadyLead, type ScriptedRoom } from '../../../src-main/adapters/memory/scripted-room.ts'
import { createScriptedDirectory } from '../../../src-main/adapters/memory/scripted-world.ts'
import { waitingHolds } from '../../../src-main/core/task/model.ts'
import { budgetMeters } from '../../../src-main/core/task/budget.ts'
import type { Admission } from '../../../src-main/engine/ports.ts'
import type { TaskId } from '../../../src-preload/contract/ids.ts'
import type { BudgetLimits } from '../../../src-preload/contract/task.ts'
import { eventsOf, toWork } from '../actors.ts'
import type { Row } from '../matrix.ts'

const pilot: BudgetLimits = { profile: 'pilot', turnsMax: 4, messagesMax: 8, requestsMax: 20, tokensMax: 1_000_000, moneyMicroUsdMax: null, deadlineMs: 600_000 }
const admit = (room: ScriptedRoom, taskId: TaskId, callNumber: number, bodyBytes = 100): Promise<Admission> => room.gateway.admit({ callNumber, taskId, bot: 'coder', model: 'demo', bodyBytes, api: 'chat' })
const end = (room: ScriptedRoom, taskId: TaskId, callNumber: number, tokens: number | null): void => { room.gateway.end({ callNumber, taskId, bot: 'coder', path: 'direct', status: 200, modelAnswered: 'demo', inputTokens: tokens, outputTokens: tokens, latencyMs: 1, failure: null }) }
const price = { inputMicroUsd: 1_000_000, outputMicroUsd: 1_000_000, asOf: '2026-11-01' }
const meter = (room: ScriptedRoom, taskId: TaskId, name: string) => budgetMeters(room.state(taskId)).find((one) => one.name === name)

export const bounds: Row = {
  name: 'resource bounds', transport: 'room',
  mustHold: 'repeated wake-ups reach a persisted limit; concurrent dispatch cannot overspend; unknown usage never becomes zero; cancel stays available',
  checks: [
    {
      promise: 'crashing and resending again and again ends at the turns of the budget, which no restart gives back and only the owner raises',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await toWork(room)
        for (let wake = 0; wake < 10 && waitingHolds(room.state(taskId)).length === 0; wake += 1) {
          await room.restart()
          await room.give(taskId, { is: 'resolve-recovery', exit: 'resend' })
        }
        assert.deepEqual([waitingHolds(room.state(taskId)).map(({ hold }) => hold.title), room.state(taskId).turns.length], [['Bot B has used up its turns'], 4])
        assert.equal(room.coders.flatMap((coder) => coder.runs).flatMap((run) => run.submitted).length, 4)
        await room.restart()
        await room.decide(taskId, 'denied')
        assert.deepEqual([room.state(taskId).status, room.state(taskId).failure?.code, room.state(taskId).turns.length], ['failed', 'budget-exhausted', 4])
      },
    },
    {
      promise: 'of many calls wanted at once exactly those leave that the budget has, over two tasks each its own',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const tasks = [await toWork(room), await toWork(room, { budget: { ...pilot, requestsMax: 7 } })]
        const asked = await Promise.all(ground.random.shuffle(Array.from({ length: 60 }, (_, index) => index)).map(async (index) => {
          const taskId = tasks[index % 2] ?? assert.fail('no task')
          return { taskId, admitted: (await admit(room, taskId, index + 1)).admit }
        }))
        assert.deepEqual(tasks.map((taskId) => asked.filter((one) => one.taskId === taskId && one.admitted).length), [20, 7])
      },
    },
    {
      promise: 'tokens are reserved before a call and settled after it; what is open counts as spent',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await toWork(room, { budget: { ...pilot, tokensMax: 70_000 } })
        assert.equal((await admit(room, taskId, 1)).admit, true) // 32,050 reserved
        assert.equal((await admit(room, taskId, 2)).admit, true)
        assert.equal((await admit(room, taskId, 3)).admit, false)
        end(room, taskId, 1, 10)
        assert.equal((await admit(room, taskId, 4)).admit, true)
      },
    },
    {
      promise: 'two calls at once cannot spend a money cap that only one of them fits in',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead, directory: createScriptedDirectory({ price, outputTokens: 100 }) })
        const taskId = await toWork(room, { budget: { ...pilot, moneyMicroUsdMax: 250 } })
        const both = await Promise.all([admit(room, taskId, 1), admit(room, taskId, 2)])
        assert.deepEqual(both.map((one) => one.admit), [true, false])
        assert.ok((meter(room, taskId, 'money')?.reserved ?? 0) <= 250)
      },
    },
    {
      promise: 'usage that was not reported stays unknown: its reservation stays spent, and a money cap buys nothing more',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead, directory: createScriptedDirectory({ price, outputTokens: 100 }) })
        const taskId = await toWork(room, { budget: { ...pilot, moneyMicroUsdMax: 1_000_000 } })
        await admit(room, taskId, 1)
        end(room, taskId, 1, null)
        assert.deepEqual([meter(room, taskId, 'tokens')?.unknown, meter(room, taskId, 'tokens')?.used, meter(room, taskId, 'money')?.unknown], [true, 150, true])
        const next = await admit(room, taskId, 2)
        assert.ok(!next.admit && next.code === 'usage_unknown')
        await room.restart()
        assert.equal(meter(room, taskId, 'tokens')?.unknown, true)
      },
    },
    {
      promise: 'under a money cap a model without a known price is refused, with words for it',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await toWork(room, { budget: { ...pilot, moneyMicroUsdMax: 1_000_000 } })
        const refused = await admit(room, taskId, 1)
        assert.ok(!refused.admit && refused.code === 'usage_unknown' && refused.message.includes('price'))
      },
    },
    {
      promise: 'a stop works after everything is spent, and after it nothing is admitted',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await toWork(room, { budget: { ...pilot, requestsMax: 1 } })
        await admit(room, taskId, 1)
        assert.equal((await admit(room, taskId, 2)).admit, false)
        await room.give(taskId, { is: 'stop-task' })
        assert.equal(room.state(taskId).status, 'cancelled')
        assert.equal((await admit(room, taskId, 3)).admit, false)
      },
    },
    {
      promise: 'questions wait for the owner where the budget has no message left for their answer and the result, and end with a denial',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await toWork(room, { budget: { ...pilot, turnsMax: 64, messagesMax: 8 } })
        const run = room.coder.run()
        for (let asked = 0; asked < 6 && waitingHolds(room.state(taskId)).length === 0; asked += 1) {
          run.say({ is: 'question-asked', questionId: `que_${String(asked)}`, callId: null, questions: [{ question: 'Which?', header: '', options: [], multiple: false }] })
          await room.settle()
        }
        assert.deepEqual([waitingHolds(room.state(taskId)).map(({ hold }) => hold.title), run.answers.length], [['Bot B has used up its messages'], 3])
        await room.decide(taskId, 'denied')
        assert.deepEqual([room.state(taskId).status, room.state(taskId).failure?.code, run.answers.length], ['failed', 'budget-exhausted', 3])
        assert.ok((meter(room, taskId, 'messages')?.used ?? 99) <= 8)
      },
    },
    {
      promise: 'a flood while nothing can be recorded is bounded: the run is ended and told, the rest of the app lives',
      only: 'memory',
      expectErrors: /a full lane ended a run/,
      run: async (ground) => {
        let refusing = false
        const room = await ground.room({ leadAnswers: steadyLead, blowAt: (point) => (refusing && point.endsWith(':before') ? 'refuse' : null) })
        const taskId = await toWork(room)
        refusing = true
        const run = room.coder.run()
        for (let said = 0; said < limits.laneQueueMax + 100; said += 1) run.say({ is: 'text', partId: `prt_${String(said)}`, reasoning: false, text: 'x', done: true })
        await room.settle()
        assert.equal(run.stopped, true)
        refusing = false
        await room.time.advance(1_000)
        await room.settle()
        assert.equal(room.state(taskId).recovery?.state, 'uncertain')
        assert.equal(eventsOf(room, taskId).filter((event) => event.type === 'message-said').length, limits.laneQueueMax)
      },
    },
  ],
}

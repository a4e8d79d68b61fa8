import assert from 'node:assert/strict'
import { failure } from '../../../src-preload/contract/failure.ts'
import { err } from '../../../src-preload/contract/result.ts'
import { sayTurnEnded } from '../../../src-main/adapters/memory/scripted-coder.ts'
import { steadyLead } from '../../../src-main/adapters/memory/scripted-room.ts'
import { waitingHolds } from '../../../src-main/core/task/model.ts'
import { toWork } from '../actors.ts'
import type { Row } from '../matrix.ts'

const missing = (what: string) => failure('opencode-failed', `${what} is missing.`, 'Choose another OpenCode.')

export const capability: Row = {
  name: 'capability failure', transport: 'room',
  mustHold: 'unsupported version, missing isolation, provider, session, status, history or abort, an unlisted tool: visible, blocks the operation, no silent fallback',
  checks: [
    {
      promise: 'an unsupported coder, a missing isolation or an unknown provider begins no task, and says why',
      run: async (ground) => {
        const unsupported = await ground.room({ leadAnswers: steadyLead, onCoder: (coder) => { coder.probeAnswer = err(failure('opencode-unsupported', 'Version 0.9 is not supported.', 'Install 1.18.')) } })
        const refusedVersion = await unsupported.tryCreate()
        assert.ok(!refusedVersion.ok && refusedVersion.error.code === 'opencode-unsupported')
        const bare = await ground.room({ leadAnswers: steadyLead })
        bare.sandbox.usable = false
        const refusedIsolation = await bare.tryCreate()
        assert.ok(!refusedIsolation.ok && refusedIsolation.error.code === 'isolation-unavailable')
        const lost = await ground.room({ leadAnswers: steadyLead, directory: { resolve: () => err(failure('provider-missing', 'No such provider.', 'Add it.')) } })
        const refusedProvider = await lost.tryCreate()
        assert.ok(!refusedProvider.ok && refusedProvider.error.code === 'provider-missing')
        for (const room of [unsupported, bare, lost]) assert.deepEqual([room.journal.streams(), room.coder.runs, room.lead.asked], [[], [], []])
      },
    },
    {
      promise: 'a version probe that knows nothing yet is asked again a few times, and then refused',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead, onCoder: (coder) => { coder.probeAnswer = err(failure('opencode-probe-timeout', 'It did not answer.', 'Try again.')) } })
        const creating = room.engine.createTask({ commandId: 'click-x' as never, title: 't', requirement: 'r', criteria: [], testCommand: null, source: { kind: 'sample' }, models: { lead: { providerId: 'demo', modelId: 'demo' }, coder: { providerId: 'demo', modelId: 'demo' } }, budget: { profile: 'pilot', turnsMax: 4, messagesMax: 8, requestsMax: 20, tokensMax: 1_000, moneyMicroUsdMax: null, deadlineMs: 600_000 }, grant: { edits: 'allow', testCommand: 'allow', otherCommands: 'ask' }, revisionOf: null })
        for (let probe = 0; probe < 5; probe += 1) await room.time.advance(5_000)
        const refused = await creating
        assert.ok(!refused.ok && refused.error.code === 'opencode-probe-timeout')
        assert.deepEqual(room.journal.streams(), [])
      },
    },
    {
      promise: 'a process that does not start, or gives no session, fails the task visibly, with what to do',
      run: async (ground) => {
        for (const broken of ['startAnswer', 'sessionAnswer'] as const) {
          const room = await ground.room({ leadAnswers: steadyLead, onCoder: (coder) => { coder[broken] = missing(broken) } })
          const taskId = await toWork(room)
          const state = room.state(taskId)
          assert.deepEqual([state.status, state.failure?.message, state.workspaceDisposed], ['failed', `${broken} is missing.`, true])
          assert.ok(room.coder.runs.every((run) => run.stopped && run.submitted.length === 0))
        }
      },
    },
    {
      promise: 'a history that cannot be read keeps the turn uncertain, says so, and sends nothing',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await toWork(room)
        await room.restart()
        room.coder.reconcileAnswer = missing('history')
        await room.give(taskId, { is: 'resolve-recovery', exit: 're-check' })
        assert.match(room.state(taskId).recovery?.what ?? '', /history is missing/)
        assert.deepEqual(room.coder.run().submitted, [])
        await room.give(taskId, { is: 'resolve-recovery', exit: 'mark-not-done' })
        assert.equal(room.state(taskId).status, 'failed')
      },
    },
    {
      promise: 'a runtime that cannot abort is stopped by ending its processes, with proof',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await toWork(room)
        room.coder.abortAnswer = err(missing('abort'))
        await room.give(taskId, { is: 'stop-task' })
        assert.deepEqual([room.state(taskId).status, room.state(taskId).cancel?.state, room.coder.run().stopped], ['cancelled', 'observed', true])
      },
    },
    {
      promise: 'a tool that is not on the list is denied and told, without a question to the owner, and the turn stops',
      run: async (ground) => {
        for (const permission of ['webfetch', 'task', 'external_directory', 'a tool of tomorrow']) {
          const room = await ground.room({ leadAnswers: steadyLead })
          const taskId = await toWork(room)
          room.coder.run().say({ is: 'permission-asked', permissionId: 'per_1', callId: null, permission, patterns: ['*'], command: null, workdir: null, files: [], diff: null })
          await room.settle()
          assert.deepEqual(room.coder.run().permissions, [{ permissionId: 'per_1', allow: false }])
          assert.deepEqual(waitingHolds(room.state(taskId)), [])
          assert.deepEqual([room.state(taskId).status, room.coder.run().stopped], ['failed', true])
          assert.ok(room.state(taskId).failure?.message.includes(permission))
        }
      },
    },
    {
      promise: 'a question whose live route is gone goes out as a prompt of its own, as a turn of the budget',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await toWork(room)
        const run = room.coder.run()
        room.coder.questionAnswer = err(missing('the question route'))
        run.say({ is: 'question-asked', questionId: 'que_1', callId: null, questions: [{ question: 'Which?', header: '', options: [], multiple: false }] })
        await room.settle()
        assert.deepEqual([run.answers.length, run.submitted.length, room.state(taskId).turns.length], [0, 2, 3])
        assert.match(run.submitted[1]?.text ?? '', /The answer is: the better price/)
      },
    },
    {
      promise: 'a lead that says nothing usable is replaced by the owner at each of its three tasks, never by a guess',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: () => 'I would rather not.' })
        const taskId = await room.create()
        assert.equal([...room.state(taskId).questions.values()][0]?.state, 'asked-owner')
        await room.give(taskId, { is: 'write-brief', brief: { goal: 'g', scope: '', criteria: [], testCommand: 'bun test', excerpts: [] } })
        await room.decide(taskId, 'approved')
        room.coder.run().say({ is: 'question-asked', questionId: 'que_1', callId: null, questions: [{ question: 'Which?', header: '', options: [], multiple: false }] })
        await room.settle()
        const question = [...room.state(taskId).questions.values()].at(-1)
        assert.equal(question?.state, 'asked-owner')
        await room.give(taskId, { is: 'answer-question', questionId: question.questionId, text: 'the better price' })
        sayTurnEnded(room.coder.run())
        await room.settle()
        assert.deepEqual([room.state(taskId).status, room.state(taskId).reviewText], ['result-ready', null])
        assert.equal(room.lead.asked.length, 9)
      },
    },
  ],
}

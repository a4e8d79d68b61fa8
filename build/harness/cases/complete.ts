import assert from 'node:assert/strict'
import { sayTurnEnded, sayWrite } from '../../../src-main/adapters/memory/scripted-coder.ts'
import { steadyLead } from '../../../src-main/adapters/memory/scripted-room.ts'
import { decodeEnvelope } from '../../../src-main/core/envelope/codec.ts'
import { budgetMeters } from '../../../src-main/core/task/budget.ts'
import { waitingHolds } from '../../../src-main/core/task/model.ts'
import { digestOfText } from '../../../src-main/core/digest.ts'
import { envelopesOf, eventsOf, refusedAs, seeThrough, selfActingCoder, toWork } from '../actors.ts'
import type { Row } from '../matrix.ts'

export const complete: Row = {
  name: 'complete collaboration', transport: 'room',
  mustHold: 'request, question, answer, result in one session, with excerpt evidence; only the owner makes it accepted',
  checks: [
    {
      promise: 'the bots speak in four envelopes, each a reply to the one before it, in one session',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await toWork(room)
        const run = room.coder.run()
        run.say({ is: 'question-asked', questionId: 'que_1', callId: null, questions: [{ question: 'And at 50?', header: '', options: ['a', 'b'], multiple: false }] })
        await room.settle()
        assert.deepEqual(run.answers, ['the better price'])
        sayWrite(run, 'call_1', '/workspace/src/a.ts', 'x')
        sayTurnEnded(run, 'Changed one price.')
        await room.settle()
        const posted = envelopesOf(room, taskId)
        const decoded = posted.map((event) => { const read = decodeEnvelope(Buffer.from(event.text)); assert.ok(read.ok); return read.value })
        assert.deepEqual(decoded.map((envelope) => envelope.kind), ['request', 'question', 'answer', 'result'])
        assert.deepEqual(decoded.map((envelope) => envelope.inReplyTo), [null, ...decoded.slice(0, -1).map((envelope) => envelope.eventId)])
        assert.deepEqual(posted.map((event) => event.digest), posted.map((event) => digestOfText(event.text)))
        const [request, , , result] = decoded
        assert.ok(request?.kind === 'request' && result?.kind === 'result')
        assert.deepEqual(request.payload.excerpts, [{ id: 'src/a.ts', content: 'content of src/a.ts' }])
        assert.equal(result.payload.treeDigest, room.workspace.treeDigest)
        assert.deepEqual([...new Set(run.submitted.map((turn) => turn.sessionId))], [room.state(taskId).sessionId])
        assert.equal(room.coder.runs.length, 1)
        assert.deepEqual({ status: room.state(taskId).status, verified: room.state(taskId).verified }, { status: 'result-ready', verified: true })
      },
    },
    {
      promise: 'a result that does not pass goes back in an envelope of its own, which the next turn carries in the same session and input',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await toWork(room)
        const run = room.coder.run()
        room.sandbox.exitCodes.push(1)
        sayTurnEnded(run, 'Changed one price.')
        await room.settle()
        const posted = envelopesOf(room, taskId).map(({ text }) => { const read = decodeEnvelope(Buffer.from(text)); assert.ok(read.ok); return read.value })
        const [request, result, correction] = posted
        assert.ok(request?.kind === 'request' && result?.kind === 'result' && correction?.kind === 'request' && posted.length === 3)
        const turns = room.state(taskId).turns
        assert.deepEqual([correction.inReplyTo, correction.turnId, correction.inputVersion, correction.inputDigest], [result.eventId, turns[1]?.turnId, request.inputVersion, request.inputDigest])
        assert.deepEqual([correction.payload.requirement, turns[1]?.kind], [turns[1]?.text, 'correction'])
        assert.deepEqual(run.submitted.map(({ sessionId, text }) => [sessionId, text]), turns.map(({ text }) => [room.state(taskId).sessionId, text]))
        assert.equal(budgetMeters(room.state(taskId)).find(({ name }) => name === 'messages')?.used, 3)
        sayTurnEnded(run, 'Mended.')
        await room.settle()
        assert.deepEqual([room.state(taskId).status, room.state(taskId).verified, budgetMeters(room.state(taskId)).find(({ name }) => name === 'messages')?.used], ['result-ready', true, 4])
      },
    },
    {
      promise: 'no correction begins that the budget has no message for, beside its result: the owner is asked for more, and gets the result as it is where that is denied',
      run: async (ground) => {
        for (const [messagesMax, corrections, verdict] of [[3, 0, 'denied'], [4, 1, 'denied'], [3, 0, 'approved']] as const) {
          const room = await ground.room({ leadAnswers: steadyLead })
          const taskId = await toWork(room, { budget: { profile: 'few', turnsMax: 9, messagesMax, requestsMax: 20, tokensMax: 1_000_000, moneyMicroUsdMax: null, deadlineMs: 600_000 } })
          room.sandbox.exitCodes.push(1, 1, 1)
          for (let turn = 0; turn <= corrections; turn += 1) { sayTurnEnded(room.coder.run(), 'done'); await room.settle() }
          const corrected = (): number => room.state(taskId).turns.filter(({ kind }) => kind === 'correction').length
          assert.deepEqual([corrected(), room.state(taskId).status, waitingHolds(room.state(taskId)).map(({ hold }) => hold.kind)], [corrections, 'blocked', ['budget']])
          await room.decide(taskId, verdict)
          await room.settle()
          assert.deepEqual([corrected(), room.state(taskId).status, room.state(taskId).verified], verdict === 'denied' ? [corrections, 'result-ready', false] : [1, 'working', false])
        }
      },
    },
    {
      promise: 'a result is accepted by the owner\'s click on exactly its bytes, and by nothing else',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead, onCoder: selfActingCoder() })
        const taskId = await toWork(room)
        await room.decide(taskId, 'approved') // the command outside the grant
        const hold = waitingHolds(room.state(taskId))[0]?.hold
        assert.equal(hold?.kind, 'acceptance')
        await room.show(taskId, hold.approvalId)
        const forged = await room.give(taskId, { is: 'decide-hold', approvalId: hold.approvalId, digest: digestOfText('forged'), verdict: 'approved', reason: null })
        assert.equal(refusedAs(forged), 'digest-mismatch')
        assert.deepEqual(room.workspace.applied, [])
        assert.equal(room.state(taskId).status, 'result-ready')
        await room.decide(taskId, 'approved')
        assert.equal(room.state(taskId).status, 'accepted')
        assert.deepEqual(room.workspace.applied, [room.workspace.treeDigest])
        const settled = [...room.journal.read(taskId)].find((stored) => stored.type === 'hold-settled' && (stored.payload as { approvalId: string }).approvalId === hold.approvalId)
        assert.equal(settled?.actor, 'owner')
      },
    },
    {
      promise: 'a whole task leaves no open effect, no process and one final record of each call',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead, onCoder: selfActingCoder() })
        const taskId = await room.create()
        const state = await seeThrough(room, taskId)
        assert.equal(state.status, 'accepted')
        assert.deepEqual([...room.journal.openEffects()], [])
        assert.ok(room.coder.runs.every((run) => run.stopped))
        const calls = eventsOf(room, taskId).filter((event) => event.type === 'tool-started').map((event) => event.callId)
        assert.deepEqual([...state.endedTools].sort(), [...calls].sort())
        assert.deepEqual(room.workspace.disposed, [taskId])
        assert.ok(state.lastTestRun?.exitCode === 0)
      },
    },
  ],
}

import assert from 'node:assert/strict'
import { budgetMeters } from '../../../src-main/core/task/budget.ts'
import { waitingHolds } from '../../../src-main/core/task/model.ts'
import type { Envelope } from '../../../src-main/core/envelope/codec.ts'
import { sayTurnEnded } from '../../../src-main/adapters/memory/scripted-coder.ts'
import type { TaskId } from '../../../src-preload/contract/ids.ts'
import { approveAll, atWork, bytesOf, carried, kinds, reasons, request, route } from '../direct/steps.ts'
import { clickOfCorrection, openTwoHomes, taskOf, type TwoHomes } from '../direct/two-homes.ts'
import type { Check, Ground } from '../matrix.ts'

interface SentBack { readonly homes: TwoHomes; readonly taskId: TaskId; /** Bo's task for it. */ readonly revision: TaskId; readonly words: readonly Envelope[] }

/** Two homes whose task came back from Bo with a result that Ada's own check did not pass, so that it went back to him. */
async function sentBack(ground: Ground): Promise<SentBack> {
  const homes = await openTwoHomes(ground)
  homes.allowAll()
  const taskId = await atWork(homes, 'invitation-1')
  homes.ada.room.sandbox.exitCodes.push(1)
  homes.ada.room.sandbox.logTail = 'MARK-LOG of a run in Ada\'s home'
  sayTurnEnded(homes.bo.room.coder.run(), 'Changed one price.')
  await homes.pump()
  const words = carried(homes)
  return { homes, taskId, revision: taskOf(clickOfCorrection(words.at(-1) ?? assert.fail('nothing was sent'))), words }
}

/** The way of a result that does not pass, between two homes. */
export const corrections: readonly Check[] = [
  {
    promise: 'a result that does not pass in Ada\'s home goes back in an envelope that replies to it, waits for Bo\'s own approval, and what comes of it is checked anew',
    run: async (ground) => {
      const { homes: { ada, bo, ...homes }, taskId, revision, words } = await sentBack(ground)
      const [first, result, correction] = words
      assert.ok(first?.kind === 'request' && result?.kind === 'result' && correction?.kind === 'request' && words.length === 3)
      const turns = ada.room.state(taskId).turns
      assert.deepEqual([turns.map(({ kind }) => kind), ada.room.state(taskId).status], [['request', 'correction'], 'working'])
      assert.deepEqual([correction.taskId, correction.inReplyTo, correction.turnId, correction.inputVersion, correction.inputDigest], [taskId, result.eventId, turns[1]?.turnId, first.inputVersion, first.inputDigest])
      assert.equal(correction.payload.testCommand, first.payload.testCommand)

      // Nothing of it runs, and nothing about the first result is decided, before Bo says so.
      assert.deepEqual([bo.room.coder.runs.length, bo.room.state(taskId).status, bo.room.state(revision).revisionOf], [1, 'result-ready', taskId])
      assert.deepEqual(waitingHolds(bo.room.state(revision)).map(({ hold }) => hold.kind), ['brief'])
      assert.equal(bo.room.state(revision).requirement, correction.payload.requirement)
      await approveAll({ ...homes, ada, bo }, bo.room, revision)
      assert.equal(bo.room.coder.runs.length, 2)
      sayTurnEnded(bo.room.coder.run(revision), 'Mended.')
      await homes.pump()
      assert.deepEqual(carried({ ...homes, ada, bo }).map(({ kind, inReplyTo }) => [kind, inReplyTo]), [['request', null], ['result', first.eventId], ['request', result.eventId], ['result', correction.eventId]])
      assert.deepEqual([ada.room.state(taskId).status, ada.room.state(taskId).verified], ['result-ready', true])
      assert.equal(budgetMeters(ada.room.state(taskId)).find(({ name }) => name === 'messages')?.used, 4)
      assert.deepEqual([ada.room.workspace.applied, bo.room.workspace.applied], [[], []])
    },
  },
  {
    promise: 'what Ada\'s own run put out stays in her home: a correction that she has not looked at says the facts, and Bo\'s coder can run the same command',
    run: async (ground) => {
      const { homes, taskId, words } = await sentBack(ground)
      const correction = words.at(-1)
      assert.ok(correction?.kind === 'request')
      assert.match(homes.ada.room.state(taskId).turns[1]?.text ?? '', /MARK-LOG/, 'in her own room it is told')
      assert.doesNotMatch(homes.network.carried.map(({ bytes }) => new TextDecoder().decode(bytes)).join('\n'), /MARK-LOG/)
      assert.match(correction.payload.requirement, /`bun test` ended with exit code 1\.\nMend it/)
    },
  },
  {
    promise: 'a correction that comes again is one task at Bo\'s; one of a result that went back already, or of no result, starts nothing',
    run: async (ground) => {
      const { homes, taskId, revision, words } = await sentBack(ground)
      const [first, result, correction] = words
      assert.ok(first !== undefined && result !== undefined && correction !== undefined)
      const before = homes.bo.room.journal.streams().length
      for (let again = 0; again < 3; again += 1) { homes.ada.office.again(correction.eventId); await homes.pump() }
      assert.equal(homes.bo.office.verdicts.filter((verdict) => verdict.is === 'duplicate').length, 3)
      const forged = { inputVersion: first.inputVersion, inputDigest: first.inputDigest, turnId: 'turn' }
      homes.network.inject(route, bytesOf(request(taskId, { ...forged, eventId: 'of-the-same-result', seq: 51, inReplyTo: result.eventId })))
      homes.network.inject(route, bytesOf(request(taskId, { ...forged, eventId: 'of-a-request', seq: 52, inReplyTo: first.eventId })))
      await homes.pump()
      assert.deepEqual(reasons(homes), ['not-outstanding', 'not-outstanding'])
      assert.deepEqual([homes.bo.room.journal.streams().length, homes.bo.room.coder.runs.length], [before, 1])
      assert.equal(waitingHolds(homes.bo.room.state(revision)).length, 1)
    },
  },
  {
    promise: 'Ada\'s stop reaches the correction too: what waits or works at Bo\'s for her task ends, with his proof',
    run: async (ground) => {
      const { homes, taskId, revision } = await sentBack(ground)
      await approveAll(homes, homes.bo.room, revision)
      await homes.ada.room.give(taskId, { is: 'stop-task' })
      await homes.pump()
      assert.deepEqual([taskId, revision].map((id) => homes.bo.room.state(id).status), ['cancelled', 'cancelled'])
      assert.deepEqual(homes.bo.room.coder.runs.map((run) => run.stopped), [true, true])
      assert.deepEqual(kinds(homes).slice(3), ['cancel', 'cancel-observed'])
      assert.equal(homes.ada.room.state(taskId).status, 'cancelled')
    },
  },
]

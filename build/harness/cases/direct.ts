import assert from 'node:assert/strict'
import { waitingHolds } from '../../../src-main/core/task/model.ts'
import { digestOfText } from '../../../src-main/core/digest.ts'
import { encodeEnvelope, type Envelope } from '../../../src-main/core/envelope/codec.ts'
import type { Route } from '../../../src-main/core/envelope/mailbox.ts'
import { envelopeRate } from '../../../src-main/core/envelope/rate.ts'
import { sayTurnEnded } from '../../../src-main/adapters/memory/scripted-coder.ts'
import { refusedAs } from '../actors.ts'
import { acting, approveAll, atWork, bytesOf, kinds, reasons, request, route, zeroWorkAtBo } from '../direct/steps.ts'
import { adaLead, boCoder, openTwoHomes } from '../direct/two-homes.ts'
import type { Row } from '../matrix.ts'
import { corrections } from './direct-correction.ts'

export const directComplete: Row = {
  name: 'complete collaboration', transport: 'direct',
  mustHold: 'request, question, answer, result between two homes, each approved by its own owner; only Ada\'s click makes Ada\'s task accepted',
  checks: [
    {
      promise: 'four envelopes go between the homes, one session works, and each home ends result-ready by its own facts',
      run: async (ground) => {
        const homes = await openTwoHomes(ground, { bo: acting() })
        homes.allowAll()
        const taskId = await homes.invite('invitation-1')
        await homes.pump()
        zeroWorkAtBo(homes)
        await homes.ada.room.decide(taskId, 'approved')
        await homes.pump()
        assert.deepEqual(kinds(homes), ['request'])
        assert.equal(homes.bo.room.coder.runs.length, 0, 'Bo has not approved yet')
        await homes.bo.room.decide(taskId, 'approved')
        await homes.pump()
        assert.deepEqual(kinds(homes), ['request', 'question', 'answer', 'result'])
        assert.deepEqual(homes.bo.room.coder.run().answers, ['the better price'])
        assert.deepEqual([homes.ada.room.state(taskId).status, homes.bo.room.state(taskId).status], ['result-ready', 'result-ready'])
        assert.equal(homes.bo.room.coder.runs.length, 1)
      },
    },
    {
      promise: 'Bo\'s acceptance is not Ada\'s, nor the reverse',
      run: async (ground) => {
        const homes = await openTwoHomes(ground, { bo: acting() })
        homes.allowAll()
        const taskId = await atWork(homes, 'invitation-1')
        await approveAll(homes, homes.bo.room, taskId)
        assert.deepEqual([homes.bo.room.state(taskId).status, homes.ada.room.state(taskId).status], ['accepted', 'result-ready'])
        assert.deepEqual(homes.ada.room.workspace.applied, [])
        await approveAll(homes, homes.ada.room, taskId)
        assert.equal(homes.ada.room.state(taskId).status, 'accepted')
      },
    },
    ...corrections,
  ],
}

export const directParallel: Row = {
  name: 'parallel work', transport: 'direct',
  mustHold: 'two tasks in one conversation get different sessions; questions, answers and results out of order cannot cross',
  checks: [
    {
      promise: 'two tasks of one conversation go to their ends over a network that doubles and reorders, each with its own answer and result',
      run: async (ground) => {
        for (let round = 0; round < (ground.journal === 'memory' ? 10 : 2); round += 1) {
          const answers = new Map([['FIRST', 'one'], ['SECOND', 'two']])
          const homes = await openTwoHomes(ground, {
            weather: { doubles: 0.5, reorders: true }, bo: acting(),
            ada: { leadAnswers: ({ system, user }) => (system.includes('Purpose: answer') ? JSON.stringify({ answer: [...answers].find(([mark]) => user.includes(mark))?.[1] ?? 'none', why: '' }) : JSON.stringify({ goal: 'g', scope: '', criteria: [], testCommand: 'bun test', excerptIds: [], text: 'x', recommendation: 'accept' })) },
          })
          homes.allowAll()
          const first = await homes.invite('invitation-1', { requirement: 'FIRST' })
          const second = await homes.invite('invitation-2', { requirement: 'SECOND' })
          for (const taskId of ground.random.shuffle([first, second])) await approveAll(homes, homes.ada.room, taskId)
          for (const taskId of ground.random.shuffle([first, second])) await approveAll(homes, homes.bo.room, taskId, (kind) => kind === 'acceptance')
          await homes.pump()
          assert.deepEqual([first, second].map((taskId) => homes.bo.room.coder.run(taskId).answers), [['one'], ['two']])
          assert.notEqual(homes.bo.room.state(first).sessionId, homes.bo.room.state(second).sessionId)
          assert.deepEqual([first, second].map((taskId) => homes.ada.room.state(taskId).status), ['result-ready', 'result-ready'])
          assert.equal(homes.bo.room.coder.runs.length, 2)
        }
      },
    },
    {
      promise: 'an answer of one task that names the other\'s question is refused',
      run: async (ground) => {
        const homes = await openTwoHomes(ground)
        homes.allowAll()
        const [first, second] = [await atWork(homes, 'invitation-1'), await atWork(homes, 'invitation-2')]
        homes.bo.room.coder.run(first).say({ is: 'question-asked', questionId: 'que_1', callId: null, questions: [{ question: 'Of the first?', header: '', options: [], multiple: false }] })
        await homes.bo.room.settle()
        const asked = homes.network.carried.map(({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)) as Envelope).find((envelope) => envelope.kind === 'question')
        const input = homes.bo.office.mailbox.bindings.find((known) => known.taskId === second)?.input
        assert.ok(asked !== undefined && input != null)
        homes.network.inject(route, bytesOf(request(second, { kind: 'answer', turnId: 'turn', inReplyTo: asked.eventId, inputVersion: input.version, inputDigest: input.digest, payload: { answer: 'crossed' } })))
        homes.network.deliver()
        assert.deepEqual(reasons(homes), ['not-outstanding'])
      },
    },
  ],
}

export const directIdentity: Row = {
  name: 'identity and scope', transport: 'direct',
  mustHold: 'wrong sender, recipient, server or conversation, unknown task or version, stale generation, missing grant, room-scoped event: zero work starts',
  checks: [
    {
      promise: 'whoever sends what is not bound, permitted and in its place starts nothing, and each refusal is told apart',
      run: async (ground) => {
        const homes = await openTwoHomes(ground)
        homes.allowAll()
        const taskId = await homes.invite('invitation-1')
        const text = encodeEnvelope(request(taskId)).text
        const raw = (change: (text: string) => string): Uint8Array => new TextEncoder().encode(change(text))
        const arrivals: readonly (readonly [Route, Uint8Array, string])[] = [
          [{ ...route, from: { owner: 'eve', bot: 'lead' } }, bytesOf(request(taskId)), 'no-permit'],
          [{ ...route, from: { owner: 'ada', bot: 'coder' } }, bytesOf(request(taskId)), 'no-permit'],
          [{ ...route, from: { owner: 'bo', bot: 'lead' } }, bytesOf(request(taskId)), 'same-owner'],
          [{ ...route, transport: 'another server' }, bytesOf(request(taskId)), 'no-permit'],
          [{ ...route, conversation: 'another' }, bytesOf(request(taskId)), 'wrong-route'],
          [{ ...route, scope: 'room' }, bytesOf(request(taskId)), 'other-owner'],
          [route, bytesOf(request('task_unknown')), 'unknown-task'],
          [route, bytesOf(request(taskId, { generation: 2 })), 'future-generation'],
          [route, raw((whole) => whole.replace('"version":1', '"version":2')), 'unknown-version'],
          [route, raw((whole) => whole.replace('"kind":"request"', '"kind":"execute"')), 'unknown-kind'],
          [route, raw((whole) => whole.replace('"version":1', '"owner":"ada","version":1').replace('{"eventId', '{"eventId')), 'not-canonical'],
          [route, raw((whole) => ` ${whole}`), 'not-canonical'],
          [route, raw((whole) => whole.replace('"seq":50', '"seq":50,"seq":50')), 'duplicate-key'],
          [route, raw((whole) => whole.slice(0, -5)), 'not-json'],
          [route, new Uint8Array(40_000), 'too-large'],
          [route, new Uint8Array([0xc3, 0x28]), 'not-utf8'],
        ]
        for (const [way, bytes] of arrivals) { homes.network.inject(way, bytes); homes.network.deliver() }
        assert.deepEqual(reasons(homes), arrivals.map(([, , reason]) => reason))
        await homes.pump()
        zeroWorkAtBo(homes)
      },
    },
    {
      promise: 'a task that Bo did not enrol, and a direction that he did not allow, start nothing in his home',
      run: async (ground) => {
        const homes = await openTwoHomes(ground)
        homes.allowAll()
        const unenrolled = await homes.invite('invitation-1', {}, false)
        await approveAll(homes, homes.ada.room, unenrolled)
        assert.deepEqual(reasons(homes), ['unknown-task'])
        homes.bo.office.permit(adaLead, boCoder, [])
        const enrolled = await homes.invite('invitation-2')
        await approveAll(homes, homes.ada.room, enrolled)
        assert.deepEqual(reasons(homes), ['unknown-task', 'no-permit'])
        zeroWorkAtBo(homes)
      },
    },
    {
      promise: 'what Ada did not allow to leave does not leave, and her task says so',
      run: async (ground) => {
        const homes = await openTwoHomes(ground)
        homes.allowAll()
        homes.ada.office.permit(adaLead, boCoder, ['answer'])
        const taskId = await homes.invite('invitation-1')
        await approveAll(homes, homes.ada.room, taskId)
        assert.deepEqual(homes.network.carried, [])
        assert.deepEqual([homes.ada.room.state(taskId).status, homes.ada.room.state(taskId).failure?.message], ['failed', 'It was not sent: no-permit.'])
      },
    },
    {
      promise: 'a flood of a permitted peer is counted before it is read, and its other words wait no longer for it than their window',
      run: async (ground) => {
        const homes = await openTwoHomes(ground)
        homes.allowAll()
        const taskId = await homes.invite('invitation-1')
        for (let sent = 0; sent < envelopeRate.envelopesMax + 20; sent += 1) homes.network.inject(route, new Uint8Array([0x7b]))
        homes.network.deliver()
        assert.equal(reasons(homes).filter((reason) => reason === 'rate-exceeded').length, 20)
        await homes.bo.room.time.advance(envelopeRate.windowMs)
        await approveAll(homes, homes.ada.room, taskId)
        assert.equal(homes.bo.room.engine.state(taskId)?.status, 'open')
      },
    },
  ],
}

export const directPrivate: Row = {
  name: 'private data and injection', transport: 'direct',
  mustHold: 'private markers of each side\'s unsent history and config never cross',
  checks: [
    {
      promise: 'what either home thought, read, ran or was configured with is in no byte that went between them',
      run: async (ground) => {
        const homes = await openTwoHomes(ground, {
          ada: { leadAnswers: ({ system }) => (system.includes('Purpose: answer') ? JSON.stringify({ answer: 'b', why: 'MARK-ADA-WHY' }) : system.includes('review') ? JSON.stringify({ text: 'MARK-ADA-REVIEW', recommendation: 'accept' }) : JSON.stringify({ goal: 'g', scope: '', criteria: [], testCommand: 'bun test', excerptIds: [] })) },
        })
        homes.allowAll()
        const taskId = await atWork(homes, 'invitation-1', { title: 'MARK-ADA-TITLE' })
        const run = homes.bo.room.coder.run()
        run.say({ is: 'text', partId: 'prt_1', reasoning: true, text: 'MARK-BO-REASONING', done: true })
        run.say({ is: 'tool-running', callId: 'call_1' as never, tool: 'read', input: { filePath: '/workspace/MARK-BO-PATH' }, output: null })
        run.say({ is: 'tool-ended', callId: 'call_1' as never, tool: 'read', outcome: 'done', input: {}, output: 'MARK-BO-FILE', title: null, exitCode: null })
        run.say({ is: 'question-asked', questionId: 'que_1', callId: null, questions: [{ question: 'Which?', header: 'MARK-BO-HEADER', options: [], multiple: false }] })
        await homes.pump()
        sayTurnEnded(run, 'done')
        await homes.pump()
        assert.equal(homes.ada.room.state(taskId).status, 'result-ready')
        const crossed = homes.network.carried.map(({ bytes }) => new TextDecoder().decode(bytes)).join('\n')
        assert.deepEqual(crossed.match(/MARK-[A-Z-]+/g), null)
        for (const secret of ['/scripted', 'token-', '.sock', 'ses_', 'bubblewrap']) assert.ok(!crossed.includes(secret), `${secret} crossed`)
      },
    },
  ],
}

export const directApproval: Row = {
  name: 'approval', transport: 'direct',
  mustHold: 'A\'s owner cannot release B\'s hold nor the reverse, even with one operator; an edited envelope, a revoked grant or a refusal stops execution; a replay grants nothing',
  checks: [
    {
      promise: 'what is decided in one home releases nothing in the other, also when one operator decides in both',
      run: async (ground) => {
        const homes = await openTwoHomes(ground)
        homes.allowAll()
        const taskId = await homes.invite('invitation-1')
        await approveAll(homes, homes.ada.room, taskId)
        const bos = waitingHolds(homes.bo.room.state(taskId))[0]?.hold
        assert.ok(bos !== undefined)
        const decide = { is: 'decide-hold', approvalId: bos.approvalId, digest: bos.digest, verdict: 'approved', reason: null } as const
        // Ada's own hold on the same words was approved long ago, and the same operator now says it again in her home.
        assert.equal([...homes.ada.room.state(taskId).holds.values()][0]?.outcome, 'approved')
        await homes.bo.room.show(taskId, bos.approvalId)
        assert.equal(refusedAs(await homes.ada.room.give(taskId, decide)), 'already-decided')
        await homes.pump()
        assert.deepEqual([waitingHolds(homes.bo.room.state(taskId)).length, homes.bo.room.coder.runs.length], [1, 0])
        // And Bo's approval is not one of Ada's: her result still waits for her.
        await homes.bo.room.give(taskId, decide)
        await homes.pump()
        assert.equal(homes.bo.room.coder.runs.length, 1)
        sayTurnEnded(homes.bo.room.coder.run())
        await approveAll(homes, homes.bo.room, taskId)
        assert.equal(waitingHolds(homes.ada.room.state(taskId))[0]?.hold.kind, 'acceptance')
      },
    },
    {
      promise: 'Bo\'s refusal ends the task in his home and is told; nothing ran',
      run: async (ground) => {
        const homes = await openTwoHomes(ground)
        homes.allowAll()
        const taskId = await homes.invite('invitation-1')
        await approveAll(homes, homes.ada.room, taskId)
        await homes.bo.room.decide(taskId, 'denied')
        await homes.pump()
        assert.deepEqual([homes.bo.room.state(taskId).status, homes.bo.room.coder.runs.length], ['cancelled', 0])
      },
    },
    {
      promise: 'a grant revoked in the middle of a task stops what comes after it: the answer does not arrive, nothing goes on',
      run: async (ground) => {
        const homes = await openTwoHomes(ground)
        homes.allowAll()
        const taskId = await atWork(homes, 'invitation-1')
        homes.bo.office.permit(adaLead, boCoder, [])
        homes.bo.room.coder.run().say({ is: 'question-asked', questionId: 'que_1', callId: null, questions: [{ question: 'Which?', header: '', options: [], multiple: false }] })
        await homes.pump()
        assert.deepEqual(reasons(homes), ['no-permit'])
        assert.deepEqual([homes.bo.room.coder.run().answers, homes.bo.room.state(taskId).status], [[], 'blocked'])
      },
    },
    {
      promise: 'an envelope that was edited on the way is another one: same id, other bytes is a conflict, and the approved words stand',
      run: async (ground) => {
        const homes = await openTwoHomes(ground)
        homes.allowAll()
        const taskId = await homes.invite('invitation-1')
        await approveAll(homes, homes.ada.room, taskId)
        const sent = homes.network.carried[0]?.bytes ?? assert.fail('nothing was sent')
        homes.network.inject(route, new TextEncoder().encode(new TextDecoder().decode(sent).replace('Make it work', 'Make it fail')))
        homes.network.inject(route, sent)
        homes.network.deliver()
        assert.deepEqual(homes.bo.office.verdicts.map((verdict) => (verdict.is === 'refused' ? verdict.reason : verdict.is)), ['taken', 'conflict', 'duplicate'])
        assert.equal(homes.bo.room.state(taskId).requirement, 'Make it work')
        assert.equal(waitingHolds(homes.bo.room.state(taskId)).length, 1)
      },
    },
  ],
}

export const directDelivery: Row = {
  name: 'delivery and stop', transport: 'direct',
  mustHold: 'lost, doubled and late words between homes lead to one dispatch; a stop of Ada\'s reaches Bo and is observed by his proof; late words revive nothing',
  checks: [
    {
      promise: 'a request that is sent again, as often as one likes, is one task and one turn',
      run: async (ground) => {
        const homes = await openTwoHomes(ground)
        homes.allowAll()
        const taskId = await homes.invite('invitation-1')
        await approveAll(homes, homes.ada.room, taskId)
        const first = (JSON.parse(new TextDecoder().decode(homes.network.carried[0]?.bytes)) as Envelope).eventId
        for (let again = 0; again < 5; again += 1) { homes.ada.office.again(first); await homes.pump() }
        await approveAll(homes, homes.bo.room, taskId)
        assert.equal(homes.bo.room.coder.run().submitted.length, 1)
        assert.equal(homes.bo.office.verdicts.filter((verdict) => verdict.is === 'duplicate').length, 5)
      },
    },
    {
      promise: 'a home that cannot be reached leaves the task where it is, and the word can be sent again under its id',
      run: async (ground) => {
        const homes = await openTwoHomes(ground)
        homes.allowAll()
        homes.network.offline = true
        const taskId = await homes.invite('invitation-1')
        await approveAll(homes, homes.ada.room, taskId)
        zeroWorkAtBo(homes)
        homes.network.offline = false
        homes.ada.office.again(`ada-${taskId.slice(-6)}-1`)
        await homes.pump()
        assert.equal(homes.bo.room.state(taskId).status, 'open')
      },
    },
    {
      promise: 'Ada\'s stop raises the generation, stops Bo\'s coder with proof, and what Bo\'s coder says late is of a dead generation',
      run: async (ground) => {
        const homes = await openTwoHomes(ground)
        homes.allowAll()
        const taskId = await atWork(homes, 'invitation-1')
        await homes.ada.room.give(taskId, { is: 'stop-task' })
        await homes.pump()
        assert.deepEqual([homes.bo.room.state(taskId).status, homes.bo.room.coder.run().stopped], ['cancelled', true])
        assert.deepEqual(kinds(homes), ['request', 'cancel', 'cancel-observed'])
        const input = homes.ada.office.mailbox.bindings[0]?.input
        homes.network.inject({ ...route, from: boCoder, to: adaLead }, bytesOf(request(taskId, { kind: 'result', turnId: 'turn', inReplyTo: `ada-${taskId.slice(-6)}-1`, inputVersion: input?.version ?? 1, inputDigest: input?.digest ?? null, payload: { summary: 'late', testCommand: null, exitCode: null, logDigest: null, treeDigest: digestOfText('tree'), diffDigest: digestOfText('diff'), filesChanged: 0 } })))
        await homes.pump()
        assert.deepEqual(homes.ada.office.verdicts.flatMap((verdict) => (verdict.is === 'refused' ? [verdict.reason] : [])), ['stale-generation'])
        assert.equal(homes.ada.room.state(taskId).status, 'cancelled')
      },
    },
    {
      promise: 'a failure in Bo\'s home is a failure in Ada\'s, with its reason',
      run: async (ground) => {
        const homes = await openTwoHomes(ground)
        homes.allowAll()
        const taskId = await atWork(homes, 'invitation-1')
        sayTurnEnded(homes.bo.room.coder.run(), '', 'failed')
        await homes.pump()
        assert.deepEqual([homes.bo.room.state(taskId).status, homes.ada.room.state(taskId).status], ['failed', 'failed'])
        assert.match(homes.ada.room.state(taskId).failure?.message ?? '', /Bot B's model call failed/)
      },
    },
  ],
}

export const directCapability: Row = {
  name: 'capability failure', transport: 'direct',
  mustHold: 'same-owner enrolment, a room-scoped task and a session of another task are refused at enrolment',
  checks: [
    {
      promise: 'enrolment refuses what could not be told apart later',
      run: async (ground) => {
        const homes = await openTwoHomes(ground)
        homes.allowAll()
        const taskId = await homes.invite('invitation-1')
        const binding = { route, taskId: 'task_2', plays: 'lead', generation: 1, input: null, sessionId: null } as const
        const refusals = [
          homes.bo.office.enrol({ ...binding, route: { ...route, from: { owner: 'bo', bot: 'lead' } } }), homes.bo.office.enrol({ ...binding, route: { ...route, scope: 'room' } }),
          homes.bo.office.enrol({ ...binding, taskId }), homes.bo.office.enrol({ ...binding, route: { ...route, to: { owner: 'bo', bot: 'other' } } }),
        ]
        assert.deepEqual(refusals.map((refusal) => (refusal.ok ? 'taken' : refusal.error)), ['same-owner', 'other-owner', 'bound-already', 'wrong-recipient'])
        zeroWorkAtBo(homes)
      },
    },
  ],
}

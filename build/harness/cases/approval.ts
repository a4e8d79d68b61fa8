import assert from 'node:assert/strict'
import { steadyLead, type ScriptedRoom } from '../../../src-main/adapters/memory/scripted-room.ts'
import type { Hold } from '../../../src-main/core/approval/hold.ts'
import { standingOffer } from '../../../src-main/core/approval/standing-grant.ts'
import { createScriptedDirectory } from '../../../src-main/adapters/memory/scripted-world.ts'
import { waitingHolds } from '../../../src-main/core/task/model.ts'
import type { CommandVerdict, ModelTarget } from '../../../src-main/engine/ports.ts'
import { ok } from '../../../src-preload/contract/result.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import type { TaskId } from '../../../src-preload/contract/ids.ts'
import { eventsOf, refusedAs, toResult, toWork } from '../actors.ts'
import type { Ground, Row } from '../matrix.ts'

const remote: Partial<ModelTarget> = { demo: false, remote: true, needsKey: true, baseUrl: 'https://models.example/v1' }
const askBash = (room: ScriptedRoom, permissionId: string, command: string): void => {
  room.coder.run().say({ is: 'permission-asked', permissionId, callId: null, permission: 'bash', patterns: [command], command, workdir: '/workspace', files: [], diff: null })
}
/** A task at work whose Bot B asks for these commands, with the cards that wait for them. */
async function asking(ground: Ground, ...commands: readonly string[]): Promise<{ readonly room: ScriptedRoom; readonly taskId: TaskId; readonly cards: readonly Hold[] }> {
  const room = await ground.room({ leadAnswers: steadyLead })
  const taskId = await toWork(room)
  for (const [index, command] of commands.entries()) askBash(room, `per_${String(index + 1)}`, command)
  await room.settle()
  const cards = waitingHolds(room.state(taskId)).map(({ hold }) => hold)
  assert.equal(cards.length, commands.length)
  return { room, taskId, cards }
}
/** An approval of this card, and of no other. */
const approves = ({ approvalId, digest }: Hold) => ({ is: 'decide-hold', approvalId, digest, verdict: 'approved', reason: null }) as const
const outcomes = (room: ScriptedRoom, taskId: TaskId): string[] => [...room.state(taskId).holds.values()].map((record) => record.outcome)

export const approval: Row = {
  name: 'approval', transport: 'room',
  mustHold: 'holds at each layer are independent; rejection, revocation and changed content stop execution; a replay grants nothing',
  checks: [
    {
      promise: 'clearing the runtime\'s ask does not clear the broker\'s, nor one command another',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await toWork(room)
        askBash(room, 'per_1', 'ls')
        const other = room.coder.run().spec.decideCommand({ askId: 'ask_1', text: 'ls -la', cwd: '/workspace' }, new AbortController().signal)
        await room.settle()
        const [first, second] = waitingHolds(room.state(taskId))
        assert.deepEqual([first?.hold.subject.for, second?.hold.subject.for], ['permission', 'command'])
        await room.decide(taskId, 'approved', first?.hold.approvalId)
        assert.equal(room.state(taskId).status, 'blocked')
        assert.deepEqual(waitingHolds(room.state(taskId)).map((record) => record.hold.approvalId), [second?.hold.approvalId])
        await room.decide(taskId, 'denied', second?.hold.approvalId)
        assert.equal((await other).verdict, 'refuse')
        assert.equal(room.state(taskId).status, 'working')
        assert.equal((await room.coder.run().spec.decideCommand({ askId: 'ask_2', text: 'ls', cwd: '/workspace' }, new AbortController().signal)).verdict, 'run')
      },
    },
    {
      promise: 'an approved command runs once, in its directory, and only in its turn',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await toWork(room)
        const { spec } = room.coder.run()
        const never = new AbortController().signal
        askBash(room, 'per_1', 'ls')
        await room.settle()
        await room.decide(taskId, 'approved')
        void spec.decideCommand({ askId: 'ask_elsewhere', text: 'ls', cwd: '/workspace/src' }, never)
        assert.equal((await spec.decideCommand({ askId: 'ask_1', text: 'ls', cwd: '/workspace' }, never)).verdict, 'run')
        void spec.decideCommand({ askId: 'ask_again', text: 'ls', cwd: '/workspace' }, never)
        await room.settle()
        assert.deepEqual(waitingHolds(room.state(taskId)).map((record) => (record.hold.subject.for === 'command' ? record.hold.subject.askId : '')), ['ask_elsewhere', 'ask_again'])
      },
    },
    {
      promise: 'what was approved and did not run in its turn is asked for again in the next',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await toWork(room)
        askBash(room, 'per_1', 'ls')
        await room.settle()
        await room.decide(taskId, 'approved')
        room.sandbox.exitCodes.push(1)
        await toResult(room, taskId)
        assert.equal(room.state(taskId).turns.length, 2)
        void room.coder.run().spec.decideCommand({ askId: 'ask_1', text: 'ls', cwd: '/workspace' }, new AbortController().signal)
        await room.settle()
        assert.deepEqual(waitingHolds(room.state(taskId)).map((record) => record.hold.subject.for), ['command'])
      },
    },
    {
      promise: 'a standing grant covers its exact command in its own task until it is revoked, over a restart, each use on record as its own decision',
      run: async (ground) => {
        const never = new AbortController().signal
        const { room, taskId, cards: [card = assert.fail('no card')] } = await asking(ground, 'npm run lint')
        const standing = standingOffer(taskId, card)?.choices.at(-1)?.digest ?? assert.fail('nothing is offered')
        await room.show(taskId, card.approvalId)
        assert.equal((await room.give(taskId, { ...approves(card), standing })).ok, true)
        const decide = (askId: string, text: string): Promise<CommandVerdict> => room.coder.run().spec.decideCommand({ askId, text, cwd: '/workspace' }, never)
        assert.equal((await decide('ask_1', 'npm run lint')).verdict, 'run') // the approval itself
        assert.equal((await decide('ask_2', 'npm run lint')).verdict, 'run') // the grant
        askBash(room, 'per_2', 'npm run lint')
        await room.settle()
        const grantId = [...room.state(taskId).grants.keys()][0] ?? assert.fail('no grant')
        assert.equal(room.state(taskId).grants.get(grantId)?.uses, 2)
        assert.deepEqual([...room.journal.read(taskId)].filter((stored) => stored.type === 'permission-ruled').map((stored) => stored.actor), ['owner', `grant:${grantId}`, `grant:${grantId}`])
        // What the grant let through in the runtime, and did not run yet, is asked about once the grant is gone.
        await room.give(taskId, { is: 'revoke-grant', grantId })
        void decide('ask_3', 'npm run lint')
        await room.settle()
        assert.deepEqual(waitingHolds(room.state(taskId)).map(({ hold }) => hold.reaskReason), ['You revoked the standing grant that covered this.'])
        await room.restart()
        assert.equal(typeof room.state(taskId).grants.get(grantId)?.revokedAt, 'number')
      },
    },
    {
      promise: 'the providers of the two bots are approved apart, before the first byte of each',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead, directory: createScriptedDirectory(remote) })
        const taskId = await room.create()
        assert.equal(room.lead.asked.length, 0)
        const lead = waitingHolds(room.state(taskId))[0]?.hold
        assert.deepEqual([lead?.kind, lead?.bot], ['provider', 'lead'])
        await room.decide(taskId, 'approved')
        assert.deepEqual(room.state(taskId).providerCleared, { lead: true, coder: false })
        assert.deepEqual(await room.gateway.admit({ callNumber: 1, taskId, bot: 'coder', model: 'm', bodyBytes: 10, api: 'chat' }), { admit: false, code: 'provider_not_approved', message: 'The owner has not approved this provider for this bot.' })
        await room.decide(taskId, 'approved') // the brief
        assert.equal(room.coder.runs.length, 0)
        await room.decide(taskId, 'denied') // the coder's provider
        assert.equal(room.state(taskId).status, 'cancelled')
        assert.equal(room.coder.runs.length, 0)
      },
    },
    {
      promise: 'a provider that was changed after its approval gets nothing',
      run: async (ground) => {
        let target: ModelTarget = { ref: { providerId: 'demo', modelId: 'demo' }, providerLabel: 'Remote', api: 'chat', contextTokens: 1_000, outputTokens: 100, price: null, demo: false, remote: true, needsKey: true, baseUrl: 'https://models.example/v1' }
        const room = await ground.room({ leadAnswers: steadyLead, directory: { resolve: () => ok(target) } })
        const taskId = await room.create()
        target = { ...target, baseUrl: 'https://elsewhere.example/v1' }
        await room.decide(taskId, 'approved')
        assert.equal(room.lead.asked.length, 0)
        assert.equal(room.gateway.opened.length, 0)
        assert.equal(room.state(taskId).phase, 'briefing')
      },
    },
    {
      promise: 'a brief that was edited needs an approval of its own: the one for the older bytes is void',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await room.create()
        const older = waitingHolds(room.state(taskId))[0]?.hold
        await room.give(taskId, { is: 'write-brief', brief: { goal: 'Another goal', scope: '', criteria: [], testCommand: 'make test', excerpts: [] } })
        assert.equal(refusedAs(await room.decide(taskId, 'approved', older?.approvalId)), 'already-decided')
        assert.equal(room.coder.runs.length, 0)
        const newer = waitingHolds(room.state(taskId))[0]?.hold
        assert.notEqual(newer?.digest, older?.digest)
        await room.decide(taskId, 'approved')
        assert.ok(room.coder.run().submitted[0]?.text.includes('make test') === true)
      },
    },
    {
      promise: 'a replayed click is taken as recorded and grants nothing again; another click on a spent hold is refused',
      run: async (ground) => {
        const { room, taskId, cards: [card = assert.fail('no card')] } = await asking(ground, 'ls')
        const decide = approves(card)
        await room.show(taskId, card.approvalId)
        assert.equal((await room.give(taskId, decide, 'the-click')).ok, true)
        assert.equal((await room.give(taskId, decide, 'the-click')).ok, true)
        assert.equal(refusedAs(await room.give(taskId, { ...decide, verdict: 'denied' }, 'another-click')), 'already-decided')
        await room.restart()
        assert.equal((await room.give(taskId, decide, 'the-click')).ok, true)
        assert.deepEqual(room.coders[0]?.run().permissions, [{ permissionId: 'per_1', allow: true }])
        assert.deepEqual(room.coder.runs, [])
      },
    },
    {
      promise: 'a click\'s id that comes again with other content is a conflict: neither done nor told as done',
      run: async (ground) => {
        const { room, taskId, cards: [first = assert.fail('no card'), second = assert.fail('no card')] } = await asking(ground, 'ls', 'cat a')
        for (const { approvalId } of [first, second]) await room.show(taskId, approvalId)
        const click = (card: Hold) => room.give(taskId, approves(card), 'the-click')
        assert.equal(refusedAs(await click(first)), null)
        assert.equal(refusedAs(await click(second)), 'conflict')
        await room.restart()
        assert.equal(refusedAs(await click(second)), 'conflict')
        assert.deepEqual(room.coders[0]?.run().permissions, [{ permissionId: 'per_1', allow: true }])
      },
    },
    {
      promise: 'a stop takes every waiting approval back, told apart from the owner\'s refusal',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await toWork(room)
        askBash(room, 'per_1', 'ls')
        askBash(room, 'per_2', 'cat a')
        await room.settle()
        await room.decide(taskId, 'denied')
        await room.give(taskId, { is: 'stop-task' })
        assert.deepEqual(outcomes(room, taskId), ['approved', 'denied', 'withdrawn'])
        const last = [...room.state(taskId).holds.keys()].at(-1)
        assert.equal(refusedAs(await room.decide(taskId, 'approved', last)), 'already-decided')
        assert.deepEqual(room.coder.run().permissions, [{ permissionId: 'per_1', allow: false }])
      },
    },
    {
      promise: 'a decision on what nobody was shown, or faster than a person, is refused and uses nothing up',
      run: async (ground) => {
        const { room, taskId, cards: [card = assert.fail('no card')] } = await asking(ground, 'ls')
        const { approvalId, digest } = card
        const decide = approves(card)
        assert.equal(refusedAs(await room.give(taskId, decide)), 'not-shown')
        await room.give(taskId, { is: 'hold-shown', approvalId, digest })
        await room.time.advance(limits.humanDecisionMs - 1)
        assert.equal(refusedAs(await room.give(taskId, decide)), 'too-fast')
        assert.deepEqual([waitingHolds(room.state(taskId)).length, room.coder.run().permissions], [1, []])
        await room.time.advance(1)
        assert.equal(refusedAs(await room.give(taskId, decide)), null)
        assert.deepEqual(room.coder.run().permissions, [{ permissionId: 'per_1', allow: true }])
      },
    },
    {
      promise: 'a hold that was not drawn within its time raises an alarm, also after a restart; drawing it clears the alarm',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await room.create()
        await room.restart()
        await room.time.advance(limits.holdShownWithinMs)
        const record = waitingHolds(room.state(taskId))[0]
        assert.equal(record?.alarm, true)
        await room.give(taskId, { is: 'hold-shown', approvalId: record.hold.approvalId, digest: record.hold.digest })
        assert.deepEqual([waitingHolds(room.state(taskId))[0]?.alarm, waitingHolds(room.state(taskId))[0]?.shownAt === null], [false, false])
      },
    },
    {
      promise: 'a hold behind a card that is on screen raises no alarm while it waits its turn, and is not taken for shown',
      run: async (ground) => {
        const { room, taskId, cards: [front = assert.fail('no card'), behind] } = await asking(ground, 'ls', 'cat a')
        await room.give(taskId, { is: 'hold-shown', approvalId: front.approvalId, digest: front.digest })
        await room.time.advance(4 * limits.holdShownWithinMs)
        assert.deepEqual(waitingHolds(room.state(taskId)).map(({ alarm, shownAt }) => [alarm, shownAt === null]), [[false, false], [false, true]])
        await room.decide(taskId, 'approved', front.approvalId)
        await room.time.advance(limits.holdShownWithinMs)
        assert.deepEqual(waitingHolds(room.state(taskId)).map(({ hold, alarm }) => [hold.approvalId, alarm]), [[behind?.approvalId, true]])
      },
    },
    {
      promise: 'somebody else\'s answer to an ask ends the run: it is not under the owner\'s control any more',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await toWork(room)
        room.coder.run().say({ is: 'permission-replied', permissionId: 'per_1', reply: 'always' })
        await room.settle()
        assert.equal(room.state(taskId).status, 'failed')
        assert.equal(room.coder.run().stopped, true)
      },
    },
    {
      promise: 'a denied result is rejected, with its history kept, and is never applied',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await toWork(room)
        await toResult(room, taskId)
        await room.decide(taskId, 'denied')
        assert.deepEqual([room.state(taskId).status, room.state(taskId).disposition], ['cancelled', 'rejected'])
        assert.deepEqual(room.workspace.applied, [])
        assert.ok(eventsOf(room, taskId).some((event) => event.type === 'evidence-recorded'))
      },
    },
  ],
}

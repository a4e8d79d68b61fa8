import assert from 'node:assert/strict'
import { failure } from '../../../src-preload/contract/failure.ts'
import { err, ok } from '../../../src-preload/contract/result.ts'
import { sayTurnEnded, type ScriptedCoder } from '../../../src-main/adapters/memory/scripted-coder.ts'
import { steadyLead, type RoomOptions, type ScriptedRoom } from '../../../src-main/adapters/memory/scripted-room.ts'
import type { CoderSignal } from '../../../src-main/engine/ports.ts'
import type { TaskId } from '../../../src-preload/contract/ids.ts'
import { eventsOf, seeThrough, selfActingCoder, toWork } from '../actors.ts'
import { lookOver } from '../ground.ts'
import type { Ground, Row } from '../matrix.ts'
import type { Random } from '../random.ts'

/** Signals of a coder come twice, late and out of order. */
function distorted(coder: ScriptedCoder, random: Random): void {
  const start = coder.start.bind(coder)
  coder.start = (spec, signal) => {
    let held: CoderSignal[] = []
    const deliver = (): void => {
      const batch = random.shuffle(held.flatMap((one) => (random.chance(0.5) ? [one, one] : [one])))
      held = []
      for (const one of batch) spec.onSignal(one)
    }
    return start({ ...spec, onSignal: (one) => { if (held.push(one) === 1) setImmediate(deliver) } }, signal)
  }
}

/** What must hold of the dispatches of a room, whatever it went through. */
function atMostOneDispatch(room: ScriptedRoom, taskId: TaskId): void {
  const taken = room.coders.flatMap((coder) => coder.runs.flatMap((run) => run.submitted.map((turn) => turn.messageId)))
  assert.equal(new Set(taken).size, taken.length, 'a turn was submitted twice')
  const intended = eventsOf(room, taskId).flatMap((event) => (event.type === 'turn-intended' ? [event.messageId] : []))
  for (const messageId of taken) assert.ok(intended.includes(messageId), 'a turn was sent without its intent on record')
  assert.ok(room.workspace.applied.length <= 1, 'the result was applied twice')
  assert.ok(room.coder.runs.filter((run) => !run.stopped).length <= 1, 'two processes of one task')
}

/** A click without an answer is clicked again, under its own id. */
async function insistOnCreating(room: ScriptedRoom): Promise<TaskId> {
  for (let click = 0; click < 10; click += 1) {
    if (!room.life.alive) await room.restart()
    const created = await room.tryCreate({}, 'click-create')
    if (created.ok) return created.value.taskId
  }
  throw new Error('the task was never created')
}

/** A whole task with blows at the given places; ends accepted, and as it must be. */
async function wholeTask(ground: Ground, blowAt: NonNullable<RoomOptions['blowAt']>): Promise<{ readonly passed: number; readonly room: ScriptedRoom; readonly taskId: TaskId }> {
  let passed = 0
  const room = await ground.room({ leadAnswers: steadyLead, onCoder: selfActingCoder(), blowAt: (point, count, life) => { if (life === 1) passed = count; return blowAt(point, count, life) } })
  const taskId = await insistOnCreating(room)
  const state = await seeThrough(room, taskId)
  assert.equal(state.status, 'accepted', `ended ${state.status}: ${state.failure?.message ?? ''}`)
  assert.deepEqual(room.workspace.applied, [room.workspace.treeDigest])
  atMostOneDispatch(room, taskId)
  lookOver(room)
  return { passed, room, taskId }
}

/** Every place on a journal in memory; a seeded few on SQLite, where each costs a file. */
function places(ground: Ground, count: number, few: number): number[] {
  const all = Array.from({ length: count }, (_, index) => index)
  return ground.journal === 'memory' ? all : ground.random.shuffle(all).slice(0, few)
}

/** Says where, when it breaks. */
async function at<T>(place: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw new Error(`at ${place}`, { cause: error })
  }
}

const ambiguous = err(failure('submit-ambiguous', 'No answer came in time.', 'Check again.'))

export const delivery: Row = {
  name: 'delivery and crash', transport: 'room',
  mustHold: 'duplicates, reordering, crash before and after every write, send timeout, missing acknowledgement: at most one known dispatch of a turn, or explicit uncertain; budgets and cursors survive',
  checks: [
    {
      promise: 'signals that come twice and out of order lead to one dispatch, one final record a call, and an end',
      run: async (ground) => {
        for (let round = 0; round < (ground.journal === 'memory' ? 40 : 4); round += 1) {
          const act = selfActingCoder()
          const room = await ground.room({ leadAnswers: steadyLead, onCoder: (coder) => { act(coder); distorted(coder, ground.random) } })
          const taskId = await room.create()
          const state = await seeThrough(room, taskId)
          assert.ok(state.status === 'accepted', state.status)
          atMostOneDispatch(room, taskId)
        }
      },
    },
    {
      promise: 'a crash before or after any write: the task goes on, nothing is sent, applied or approved twice',
      run: async (ground) => {
        const { passed } = await wholeTask(ground, () => null)
        assert.ok(passed > 80, `only ${String(passed)} crash points`)
        for (const place of places(ground, passed, 10)) await at(`write ${String(place)}`, () => wholeTask(ground, (_point, count, life) => (life === 1 && count === place ? 'end' : null)))
      },
    },
    {
      promise: 'a crash, and another one while the first is being recovered from',
      run: async (ground) => {
        for (let round = 0; round < (ground.journal === 'memory' ? 120 : 6); round += 1) {
          const first = ground.random.below(110)
          const second = ground.random.below(30)
          await at(`writes ${String(first)} and ${String(second)}`, () => wholeTask(ground, (_point, count, life) => ((life === 1 && count === first) || (life === 2 && count === second) ? 'end' : null)))
        }
      },
    },
    {
      promise: 'a disk that is full at any write, for a while: nothing is lost, nothing is done twice, nothing becomes uncertain',
      run: async (ground) => {
        const { passed } = await wholeTask(ground, () => null)
        for (const place of places(ground, passed, 10)) {
          const { room, taskId } = await at(`write ${String(place)}`, () => wholeTask(ground, (point, count) => (point.endsWith(':before') && count >= place && count < place + 4 ? 'refuse' : null)))
          assert.ok(!eventsOf(room, taskId).some((event) => event.type === 'recovery-needed'))
        }
      },
    },
    {
      promise: 'a send without an answer is uncertain, is looked up, and goes on where history has it',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead, onCoder: (coder) => { coder.submitAnswer = ambiguous } })
        const taskId = await room.create()
        const go = room.coder.gates.hold('reconcile')
        await room.decide(taskId, 'approved')
        assert.equal(room.state(taskId).recovery?.state, 'uncertain')
        go()
        await room.settle()
        assert.deepEqual([room.state(taskId).recovery, room.state(taskId).status], [null, 'working'])
        sayTurnEnded(room.coder.run())
        await room.settle()
        assert.equal(room.state(taskId).status, 'result-ready')
        assert.equal(room.coder.run().submitted.length, 1)
      },
    },
    {
      promise: 'a send that never arrived is told as such, and sent again only by the owner, under the same ids, for the same turn of the budget',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead, onCoder: (coder) => { coder.submitAnswer = ambiguous; coder.history = 'absent' } })
        const taskId = await toWork(room)
        assert.match(room.state(taskId).recovery?.what ?? '', /never arrived/)
        const before = room.coder.run().submitted.length
        await room.time.advance(60_000)
        await room.settle()
        assert.equal(room.coder.run().submitted.length, before)
        room.coder.submitAnswer = ok(null)
        await room.give(taskId, { is: 'resolve-recovery', exit: 'resend' })
        assert.deepEqual([room.state(taskId).status, room.state(taskId).turns.length], ['working', 1])
      },
    },
    {
      promise: 'an acknowledgement that is lost in a crash leaves the turn uncertain, and history settles it',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await room.create()
        room.coder.gates.hold('submit')
        await room.decide(taskId, 'approved')
        await room.restart()
        assert.equal(room.state(taskId).recovery?.state, 'uncertain')
        assert.deepEqual(room.coder.runs, [])
        await room.give(taskId, { is: 'resolve-recovery', exit: 're-check' })
        assert.match(room.state(taskId).recovery?.what ?? '', /never arrived/)
        await room.give(taskId, { is: 'resolve-recovery', exit: 'mark-not-done' })
        assert.equal(room.state(taskId).status, 'failed')
        atMostOneDispatch(room, taskId)
      },
    },
    {
      promise: 'budgets and what was seen before survive a restart: nothing is bought or taken again',
      run: async (ground) => {
        const room = await ground.room({ leadAnswers: steadyLead })
        const taskId = await toWork(room)
        const ask = { taskId, bot: 'coder', model: 'demo', bodyBytes: 300, api: 'chat' } as const
        await room.gateway.admit({ callNumber: 1, ...ask })
        room.gateway.end({ callNumber: 1, taskId, bot: 'coder', path: 'direct', status: 200, modelAnswered: 'demo', inputTokens: 100, outputTokens: 20, latencyMs: 5, failure: null })
        await room.gateway.admit({ callNumber: 2, ...ask })
        room.coder.run().say({ is: 'text', partId: 'prt_1', reasoning: false, text: 'hello', done: true }, 'upstream-1')
        const { spending } = room.state(taskId)
        const events = eventsOf(room, taskId).length
        await room.restart()
        assert.deepEqual(room.state(taskId).spending, spending)
        assert.equal(spending.spent.tokens, 120)
        assert.ok(spending.open.has('call-2'), 'a call that nobody saw end counts as spent')
        assert.ok(eventsOf(room, taskId).slice(events).some((event) => event.type === 'call-lost' && event.call === 2))
        await room.give(taskId, { is: 'resolve-recovery', exit: 'resend' })
        const before = eventsOf(room, taskId).length
        room.coder.run().say({ is: 'text', partId: 'prt_1', reasoning: false, text: 'hello', done: true }, 'upstream-1')
        assert.equal(eventsOf(room, taskId).length, before)
      },
    },
  ],
}

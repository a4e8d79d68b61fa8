import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { failure } from '../../../src-preload/contract/failure.ts'
import { budgetMaxima } from '../../../src-preload/contract/limits.ts'
import type { BudgetLimits, RaiseOffer } from '../../../src-preload/contract/task.ts'
import { holdDigest } from '../approval/hold.ts'
import type { TaskCommand } from './commands.ts'
import { brokenLaws } from './laws.ts'
import { activeTurn, openQuestion, waitingHolds } from './model.ts'
import { aTask, playToWork, say, submitTurn, type Played } from './played.suite.ts'
import { chosenDigest } from './top-up.ts'

const price = { inputMicroUsd: 1_000_000, outputMicroUsd: 1_000_000 }
const call: TaskCommand = { is: 'call-wanted', bot: 'coder', model: 'demo', bodyBytes: 200, price, outputTokensMax: 100 }
const work = (budget: Partial<BudgetLimits>): Played => playToWork(say.open({ task: { budget: { ...aTask.budget, ...budget } } }))

function offered(task: Played): { readonly offer: RaiseOffer; readonly approvalId: ReturnType<typeof waitingHolds>[number]['hold']['approvalId'] } {
  const hold = waitingHolds(task.state).find((record) => record.hold.subject.for === 'budget')?.hold
  const offer = hold?.subject.for === 'budget' ? hold.subject.offer : undefined
  if (hold === undefined || offer === undefined) throw new Error('no amount is offered')
  return { offer, approvalId: hold.approvalId }
}

/** A task that waits for a raise of each cap, by the cap's name. */
const waits: Record<RaiseOffer['cap'], () => Played> = {
  tokens: () => work({ tokensMax: 100 }).play(call),
  requests: () => work({ requestsMax: 1 }).play(call, call),
  money: () => work({ moneyMicroUsdMax: 100 }).play(call),
  messages: () => work({ messagesMax: 3 }).play(say.question('que_1')),
  turns: () => work({ turnsMax: 1 }).play(say.question('que_1')),
}
const limitOf = { turns: 'turnsMax', messages: 'messagesMax', requests: 'requestsMax', tokens: 'tokensMax', money: 'moneyMicroUsdMax' } as const
const caps = Object.keys(limitOf) as RaiseOffer['cap'][]

describe.each(caps)('a raise of %s', (cap) => {
  it('is the owner\'s amount, and only of this cap', () => {
    for (const choose of [(offer: RaiseOffer) => offer.min, (offer: RaiseOffer) => offer.min + 7, (offer: RaiseOffer) => offer.max]) {
      const task = waits[cap]()
      const { offer, approvalId } = offered(task)
      const before = task.state.budget
      expect(offer).toMatchObject({ cap, from: before[limitOf[cap]], max: budgetMaxima[limitOf[cap]] })
      const to = Math.min(offer.max, choose(offer))
      expect(task.decideHold('approved', approvalId, to).ok).toBe(true)
      expect(task.state.budget).toEqual({ ...before, [limitOf[cap]]: to })
      expect(brokenLaws(task.history)).toEqual([])
    }
  })

  it('is what the card suggests where no amount is named', () => {
    const task = waits[cap]()
    const { offer, approvalId } = offered(task)
    task.decideHold('approved', approvalId)
    expect(task.state.budget[limitOf[cap]]).toBe(offer.suggested)
  })

  it('is refused outside of what the card offers, which uses nothing up', () => {
    fc.assert(fc.property(fc.oneof(fc.integer(), fc.double(), fc.constantFrom(NaN, Infinity, Number.MAX_SAFE_INTEGER)), (amount) => {
      const task = waits[cap]()
      const { offer, approvalId } = offered(task)
      fc.pre(!Number.isSafeInteger(amount) || amount < offer.min || amount > offer.max)
      task.show(approvalId)
      const events = task.events.length
      expect(task.decideHold('approved', approvalId, amount)).toMatchObject({ ok: false, error: { code: 'invalid-input' } })
      expect([task.events.length, task.state.holds.get(approvalId)?.outcome]).toEqual([events, 'waiting'])
      expect(task.decideHold('approved', approvalId, offer.min).ok).toBe(true)
    }), { numRuns: 20 })
  })

  it('is bound with its amount to the hold, and a replay or another amount grants nothing more', () => {
    const task = waits[cap]()
    const { offer, approvalId } = offered(task)
    const { hold } = task.state.holds.get(approvalId)!
    task.decideHold('approved', approvalId, offer.min)
    const settled = task.events.findLast((event) => event.type === 'hold-settled')
    expect(settled).toMatchObject({ digest: hold.digest, chosen: { to: offer.min, digest: chosenDigest(hold, offer.min) } })
    const events = task.events.length
    for (const amount of [offer.min, offer.max]) expect(task.decideHold('approved', approvalId, amount)).toMatchObject({ ok: false, error: { code: 'already-decided' } })
    expect([task.events.length, task.state.budget[limitOf[cap]]]).toEqual([events, offer.min])
  })

  it('is under a digest that covers cap, bounds and what goes on after it', () => {
    const task = waits[cap]()
    const { hold } = task.state.holds.get(offered(task).approvalId)!
    if (hold.subject.for !== 'budget' || hold.subject.offer === undefined) throw new Error('no offer')
    const { digest, approvalId: _, ...content } = hold
    expect(holdDigest(task.state.taskId, content)).toBe(digest)
    for (const [name, value] of Object.entries(hold.subject.offer)) {
      const other = { ...hold.subject, offer: { ...hold.subject.offer, [name]: typeof value === 'number' ? value + 1 : 'other' } as RaiseOffer }
      expect(holdDigest(task.state.taskId, { ...content, subject: other })).not.toBe(digest)
    }
    expect(holdDigest(task.state.taskId, { ...content, subject: { ...hold.subject, then: { do: 'turn', kind: 'continue', text: 'something else' } } })).not.toBe(digest)
  })

  it('is not offered at the hard maximum', () => {
    const task = waits[cap]()
    const { approvalId, offer } = offered(task)
    task.decideHold('approved', approvalId, offer.max)
    expect(waitingHolds(task.state).flatMap(({ hold: { subject } }) => (subject.for === 'budget' && subject.offer?.cap === cap ? [cap] : []))).toEqual([])
  })
})

describe('an amount', () => {
  it('is refused with every other approval, and where the cost is merely unknown', () => {
    const task = playToWork().play({ is: 'permission-asked', permissionId: 'per_1', callId: null, permission: 'bash', patterns: ['ls'], command: { text: 'ls', cwd: '/workspace' }, files: [], diff: null, isolation: '' })
    expect(task.decideHold('approved', undefined, 5)).toMatchObject({ ok: false, error: { code: 'invalid-input' } })
    const unknown = work({ moneyMicroUsdMax: 10_000 }).play(call, { is: 'call-ended', call: 1, path: 'direct', status: 200, modelAnswered: 'demo', inputTokens: null, outputTokens: null, costMicroUsd: null, latencyMs: 1, failure: null }, call)
    expect(unknown.decideHold('approved', undefined, 20_000)).toMatchObject({ ok: false, error: { code: 'invalid-input' } })
    expect(unknown.decideHold('approved').ok).toBe(true)
  })

  it('never lowers what another card raised meanwhile', () => {
    const task = work({ messagesMax: 3 }).play(say.question('que_1', 'First?'), say.question('que_2', 'Second?'))
    const [first, second] = waitingHolds(task.state).map(({ hold }) => hold.approvalId)
    task.decideHold('approved', first, 100)
    task.decideHold('approved', second, 10)
    expect([task.state.budget.messagesMax, task.state.questions.size]).toEqual([100, 2])
    expect(brokenLaws(task.history)).toEqual([])
  })
})

describe('a question that the budget does not allow', () => {
  it('waits live, is asked once however often it is told, and is handed over when the owner has raised the cap', () => {
    const task = work({ messagesMax: 3 }).play(say.question('que_1', 'Which?'), say.question('que_1', 'Which?'))
    expect([waitingHolds(task.state).length, task.state.status, activeTurn(task.state)?.index]).toEqual([1, 'blocked', 1])
    task.decideHold('approved')
    expect(openQuestion(task.state)).toMatchObject({ text: 'Which?', upstreamId: 'que_1', state: 'open' })
    expect(task.effects).toMatchObject([{ kind: 'lead.answer' }])
    expect(brokenLaws(task.history)).toEqual([])
  })

  it('takes a turn for its answer as well: both caps are asked for, one after the other', () => {
    const task = work({ messagesMax: 3, turnsMax: 1 }).play(say.question('que_1'))
    const titles: string[] = []
    for (let asked = 0; asked < 3 && waitingHolds(task.state).length > 0; asked += 1) {
      titles.push(waitingHolds(task.state)[0]?.hold.title ?? '')
      task.decideHold('approved')
    }
    expect([titles.toSorted(), openQuestion(task.state)?.state]).toEqual([['Bot B has used up its messages', 'Bot B has used up its turns'], 'open'])
    task.play({ is: 'lead-answered', questionId: openQuestion(task.state)!.questionId, answer: 'a', why: '' })
    expect(activeTurn(task.state)).toMatchObject({ kind: 'answer', index: 2 })
    expect(brokenLaws(task.history)).toEqual([])
  })

  it('is gone with its turn and with its process, and so is its card', () => {
    for (const end of [say.restarted, { is: 'coder-exited', how: 'code 1' } as const, { is: 'turn-ended', messageId: 'msg_1', outcome: 'failed', text: '', failure: failure('opencode-failed', 'broke', '') } as const, { is: 'stop-task' } as const]) {
      const task = work({ messagesMax: 3 }).play(say.question('que_1'), end)
      expect([end.is, waitingHolds(task.state).length]).toEqual([end.is, 0])
      expect(brokenLaws(task.history)).toEqual([])
    }
  })

  it('ends the task by the owner\'s denial', () => {
    const task = work({ messagesMax: 3 }).play(say.question('que_1'))
    task.decideHold('denied')
    expect([task.state.status, task.effects]).toEqual(['failed', [{ kind: 'coder.stop' }]])
  })
})

describe('resending without a turn left', () => {
  function resent(): Played {
    const task = work({ turnsMax: 1 }).play(say.restarted)
    return task.play({ is: 'resolve-recovery', exit: 'resend' })
  }

  it('asks for one, sends nothing until then, and then goes on in it', () => {
    const task = resent()
    expect([waitingHolds(task.state).map(({ hold }) => hold.title), activeTurn(task.state), task.effects]).toEqual([['Bot B has used up its turns'], null, []])
    task.decideHold('approved', undefined, 3)
    expect([task.state.budget.turnsMax, activeTurn(task.state)?.kind, task.effects]).toEqual([3, 'continue', [{ kind: 'coder.start' }]])
    submitTurn(task.play(say.started))
    expect(brokenLaws(task.history)).toEqual([])
  })

  it('survives a restart with its question to the owner', () => {
    const task = resent().play(say.restarted)
    expect([waitingHolds(task.state).length, task.state.recovery]).toEqual([1, null])
    task.decideHold('approved')
    expect(activeTurn(task.state)).toMatchObject({ index: 2, kind: 'continue' })
  })
})

import { describe, expect, it } from 'vitest'
import { failure } from '../../../src-preload/contract/failure.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import type { NewTask } from '../../../src-preload/contract/methods.ts'
import { sameModel } from '../../../src-preload/contract/model-name.ts'
import type { Row } from '../../../src-preload/contract/rows.ts'
import type { TaskCommand } from './commands.ts'
import { describeEvent } from './describe.ts'
import { brokenLaws } from './laws.ts'
import { activeTurn, waitingHolds } from './model.ts'
import { project } from './rows/project.ts'
import { aTask, playTask, playToWork, remoteTarget, say, submitTurn, type Played } from './played.suite.ts'

const price = { inputMicroUsd: 1_000_000, outputMicroUsd: 2_000_000 }
const call = (more: Partial<Extract<TaskCommand, { is: 'call-wanted' }>> = {}): TaskCommand => ({ is: 'call-wanted', bot: 'coder', model: 'demo', bodyBytes: 200, price, outputTokensMax: 100, ...more })
/** The end of the call that was reserved last. */
const ended = (task: Played, more: Partial<Extract<TaskCommand, { is: 'call-ended' }>> = {}): TaskCommand => ({ is: 'call-ended', call: task.state.calls.length, path: 'direct', status: 200, modelAnswered: 'demo', inputTokens: 1, outputTokens: 1, costMicroUsd: 1, latencyMs: 1, failure: null, ...more })
const withBudget = (budget: Partial<NewTask['budget']>): TaskCommand => say.open({ task: { budget: { ...aTask.budget, ...budget } } })
const outOf = (code: 'budget-exhausted' | 'usage-unknown'): Partial<Extract<TaskCommand, { is: 'turn-ended' }>> => ({ outcome: 'failed', text: '', failure: failure(code, 'no more', '') })

/** A call that is reserved and ends. */
function made(task: Played, wanted: TaskCommand, end: Partial<Extract<TaskCommand, { is: 'call-ended' }>> = {}): Played {
  task.play(wanted)
  return task.play(ended(task, end))
}

function endTurn(task: Played, more: Partial<Extract<TaskCommand, { is: 'turn-ended' }>>): void {
  task.play({ is: 'turn-ended', messageId: activeTurn(task.state)?.messageId ?? 'none', outcome: 'failed', text: '', failure: null, ...more })
}

/** Laws that a history breaks, given its events in order. */
function lawsOf(task: Played): string[] {
  return brokenLaws(task.history)
}

describe('a budget that is used up in Bot B\'s turn', () => {
  function exhausted(): Played {
    const task = playToWork(withBudget({ tokensMax: 250 }))
    return made(task, call(), { inputTokens: 100, outputTokens: 100 }).play(call())
  }

  it('refuses the call, and asks the owner alone for more, once', () => {
    const task = exhausted()
    expect(task.events.at(-2)).toMatchObject({ type: 'call-refused', code: 'budget_exhausted' })
    task.play(call(), call())
    const holds = waitingHolds(task.state)
    expect(holds.map(({ hold }) => [hold.kind, hold.bot, hold.subject.for])).toEqual([['budget', 'coder', 'budget']])
    expect(JSON.parse(holds[0]?.hold.exact.text ?? '')).toEqual({ cap: 'tokens', from: 250, atLeast: 251, atMost: 100_000_000, suggested: 500 })
    expect(task.state.status).toBe('blocked')
  })

  it('waits when the turn has failed of it, and goes on in a new turn once the owner has raised the cap', () => {
    const task = exhausted()
    endTurn(task, outOf('budget-exhausted'))
    expect([task.state.status, activeTurn(task.state)]).toEqual(['blocked', null])
    task.decideHold('approved')
    expect(task.state.budget.tokensMax).toBe(500)
    expect(activeTurn(task.state)).toMatchObject({ kind: 'continue', index: 2 })
    expect(task.effects).toMatchObject([{ kind: 'coder.submit' }])
    submitTurn(task).play(call())
    expect(task.events.at(-1)).toMatchObject({ type: 'call-reserved' })
    expect(lawsOf(task)).toEqual([])
  })

  it('goes on as well when the owner was faster than the turn\'s end', () => {
    const task = exhausted()
    task.decideHold('approved')
    expect(task.effects).toEqual([])
    endTurn(task, outOf('budget-exhausted'))
    expect(activeTurn(task.state)).toMatchObject({ kind: 'continue', index: 2 })
    expect(lawsOf(task)).toEqual([])
  })

  it('ends the task when the owner denies, and when it fails of something else after a top-up', () => {
    const denied = exhausted()
    endTurn(denied, outOf('budget-exhausted'))
    denied.decideHold('denied')
    expect(denied.state).toMatchObject({ status: 'failed', failure: { code: 'budget-exhausted' } })
    expect(lawsOf(denied)).toEqual([])
    const other = exhausted()
    other.decideHold('approved')
    endTurn(other, { failure: failure('provider-refused', 'down', '') })
    expect(other.state).toMatchObject({ status: 'failed', failure: { code: 'provider-refused' } })
  })

  it('takes the question back when the turn is completed all the same, and when the task is stopped', () => {
    const done = exhausted()
    endTurn(done, { outcome: 'completed', text: 'done' })
    expect(waitingHolds(done.state)).toEqual([])
    const stopped = exhausted().play({ is: 'stop-task' })
    expect(waitingHolds(stopped.state)).toEqual([])
    expect(lawsOf(stopped)).toEqual([])
  })

  it('survives a restart: the question waits, and the answer starts Bot B again', () => {
    const task = exhausted()
    endTurn(task, outOf('budget-exhausted'))
    task.play(say.restarted)
    expect([waitingHolds(task.state).length, task.state.recovery]).toEqual([1, null])
    task.decideHold('approved')
    expect(task.effects).toEqual([{ kind: 'coder.start' }])
    task.play(say.started)
    expect(task.effects).toMatchObject([{ kind: 'coder.submit' }])
  })

  it('needs a turn to go on: with none left the owner is asked for one as well, and ends the task by denying it', () => {
    const task = playToWork(withBudget({ tokensMax: 250, turnsMax: 1 }))
    made(task, call(), { inputTokens: 100, outputTokens: 100 }).play(call())
    endTurn(task, outOf('budget-exhausted'))
    task.decideHold('approved')
    expect([task.state.status, waitingHolds(task.state).map(({ hold }) => hold.title)]).toEqual(['blocked', ['Bot B has used up its turns']])
    task.decideHold('denied')
    expect(task.state).toMatchObject({ status: 'failed', failure: { code: 'budget-exhausted' } })
    expect(lawsOf(task)).toEqual([])
  })
})

describe('caps of requests and money', () => {
  it('are raised in the same way', () => {
    const requests = playToWork(withBudget({ requestsMax: 1 }))
    made(requests, call()).play(call())
    requests.decideHold('approved')
    expect(requests.state.budget.requestsMax).toBe(2)
    const money = playToWork(withBudget({ moneyMicroUsdMax: 350 }))
    made(money, call(), { inputTokens: 100, outputTokens: 100, costMicroUsd: 300 }).play(call())
    money.decideHold('approved')
    expect(money.state.budget.moneyMicroUsdMax).toBe(700)
  })

  it('let a task go on after an unknown cost only by the owner\'s word, and only until the next one', () => {
    const task = playToWork(withBudget({ moneyMicroUsdMax: 10_000 }))
    made(task, call(), { inputTokens: null, outputTokens: null, costMicroUsd: null }).play(call())
    expect(task.events.at(-2)).toMatchObject({ type: 'call-refused', code: 'usage_unknown' })
    task.decideHold('approved')
    endTurn(task, outOf('usage-unknown'))
    submitTurn(task).play(call())
    expect(task.events.at(-1)).toMatchObject({ type: 'call-reserved' })
    task.play(ended(task, { inputTokens: null, outputTokens: null, costMicroUsd: null }), call())
    expect(task.events.at(-2)).toMatchObject({ type: 'call-refused', code: 'usage_unknown' })
    expect(lawsOf(task)).toEqual([])
  })

  it('are not raised for an unknown price: that is to be entered', () => {
    const task = playToWork(withBudget({ moneyMicroUsdMax: 10_000 })).play(call({ price: null }))
    expect(task.events.at(-1)).toMatchObject({ type: 'call-refused', code: 'usage_unknown' })
    expect(waitingHolds(task.state)).toEqual([])
  })

  it('give a stream what is left, where it wants more', () => {
    const task = playToWork(withBudget({ tokensMax: 1_000 })).play(call({ outputTokensMax: 5_000, streams: true }))
    expect(task.events.at(-1)).toMatchObject({ type: 'call-reserved', tokens: 1_000, outputTokensMax: 900 })
  })

  it('bound a stream for which all was reserved, and reserve each answer that it asks for', () => {
    const task = playToWork(withBudget({ tokensMax: 1_000 })).play(call({ streams: true, outputTokensAsked: 50, choices: 3 }))
    expect(task.events.at(-1)).toMatchObject({ type: 'call-reserved', tokens: 250, outputTokensMax: 150, outputWhole: true })
    task.play(call({ outputTokensAsked: 50, choices: 100 }))
    expect(task.events.at(-2)).toMatchObject({ type: 'call-refused', code: 'budget_exhausted' })
  })

  it('refuse for now where only a call that still runs is in the way, and for good where what is spent is', () => {
    const task = playToWork(withBudget({ tokensMax: 250 })).play(call(), call())
    expect(task.events.find(({ type }) => type === 'call-refused')).toMatchObject({ code: 'budget_exhausted', passing: true })
    task.play({ is: 'call-ended', call: 1, path: 'direct', status: 200, modelAnswered: 'demo', inputTokens: 100, outputTokens: 100, costMicroUsd: 300, latencyMs: 1, failure: null }, call())
    expect(task.events.at(-1)).not.toHaveProperty('passing')
    expect(task.events.at(-1)).toMatchObject({ type: 'call-refused', code: 'budget_exhausted' })
  })
})

describe('the lead without a budget for its brief', () => {
  it('waits for the owner, and writes the brief once the cap is raised', () => {
    const task = playTask(withBudget({ tokensMax: 150 })).play(say.prepared, call({ bot: 'lead' }))
    task.play({ is: 'lead-failed', purpose: 'brief', questionId: null, failure: failure('budget-exhausted', 'no more', '') })
    expect(waitingHolds(task.state).map(({ hold }) => [hold.kind, hold.bot])).toEqual([['budget', 'lead']])
    task.decideHold('approved')
    expect(task.effects).toEqual([{ kind: 'lead.brief' }])
    task.play(call({ bot: 'lead' }), say.brief)
    expect(task.state.phase).toBe('brief-waits')
    expect(lawsOf(task)).toEqual([])
  })

  it('is helped by the owner as ever when it fails of something else after that', () => {
    const task = playTask(withBudget({ tokensMax: 150 })).play(say.prepared, call({ bot: 'lead' }))
    task.decideHold('approved')
    task.play({ is: 'lead-failed', purpose: 'brief', questionId: null, failure: failure('budget-exhausted', 'the first try', '') })
    expect(task.state.questions.size).toBe(0)
    task.play({ is: 'lead-failed', purpose: 'brief', questionId: null, failure: failure('provider-unreachable', 'the second try', '') })
    expect([...task.state.questions.values()]).toMatchObject([{ purpose: 'brief', state: 'asked-owner' }])
  })
})

describe('a call that a fallback served after the direct one may have left', () => {
  it('says in its row and in the audit log that it may be charged twice, and keeps its reservation', () => {
    const task = made(playToWork(), call(), { path: 'warm', inputTokens: null, outputTokens: null, costMicroUsd: null, directLeft: true })
    const rows = new Map<string, Row>()
    for (const [order, event] of task.events.entries()) for (const row of project(task.state, event, { at: 0, order, get: (key) => rows.get(key) })) rows.set(row.key, row)
    expect([...rows.values()].flatMap((row) => (row.kind === 'entry' && row.body.is === 'call' ? [row.body.call] : []))).toMatchObject([{ path: 'warm', directLeft: true, costMicroUsd: null }])
    expect(describeEvent(task.events.at(-1)!)).toContain('the direct call before it may have left too')
    expect([task.state.spending.spent.tokens, task.state.spending.unknown.tokens]).toEqual([200, true])
  })

  it('is not said of a call that went one way only', () => {
    const task = made(playToWork(), call())
    expect(describeEvent(task.events.at(-1)!)).not.toContain('may have left')
  })
})

describe('a turn that goes round in circles', () => {
  it('gets no more than its share of requests, and the next turn its own', () => {
    const task = playToWork(withBudget({ requestsMax: 1_000, tokensMax: 10_000_000 }))
    for (let count = 0; count < limits.requestsPerTurnMax; count += 1) made(task, call())
    expect(task.events.at(-1)).toMatchObject({ type: 'call-settled' })
    task.play(call())
    expect(task.events.at(-1)).toMatchObject({ type: 'call-refused', code: 'requests_per_turn' })
    expect(waitingHolds(task.state)).toEqual([])
    task.play(call({ bot: 'lead' }))
    expect(task.events.at(-1)).toMatchObject({ type: 'call-reserved' })
  })
})

describe('the model that answers', () => {
  it('is told aloud when it is not the pinned one, once for each', () => {
    const task = playToWork()
    for (const modelAnswered of ['demo', 'demo-2026-11-29', 'other', 'other', null, 'third']) made(task, call({ price: null }), { modelAnswered })
    expect(task.events.filter((event) => event.type === 'noted' && event.level === 'error').map((event) => (event.type === 'noted' ? event.text.replace(/^[^“]*“([^”]*)”.*$/, '$1') : ''))).toEqual(['other', 'third'])
  })

  it.each([
    ['gpt-4o', 'gpt-4o-2024-08-06'], ['openai/gpt-4o', 'gpt-4o'], ['gpt-4o', 'GPT-4o'], ['llama3', 'llama3:latest'], ['claude-3-5-sonnet-latest', 'claude-3-5-sonnet-20241022'], ['deepseek/deepseek-r1:free', 'deepseek/deepseek-r1'], ['gpt-4', 'gpt-4-0613'], ['gemini-1.5-pro', 'gemini-1.5-pro-002'],
  ])('is %s when it answers as %s', (asked, answered) => { expect(sameModel(asked, answered)).toBe(true) })

  it.each([['gpt-4o', 'gpt-4o-mini'], ['gpt-4o', 'gpt-4'], ['m-1', 'm-10'], ['claude-3-opus', 'claude-3-5-opus'], ['gpt-4', 'gpt-4o'], ['llama3', 'llama3.1'], ['a', 'b']])('is not %s when it answers as %s', (asked, answered) => { expect(sameModel(asked, answered)).toBe(false) })
})

describe('the card of a provider', () => {
  it('names what may answer instead, and where the credential goes first', () => {
    const task = playTask(say.open({ lead: { ...remoteTarget, fallback: 'Muse (warm, then exec)', exchangeHost: 'auth.example' } })).play(say.prepared)
    const { hold } = waitingHolds(task.state)[0]!
    expect(JSON.parse(hold.exact.text)).toMatchObject({ fallback: 'Muse (warm, then exec)', exchangeHost: 'auth.example' })
    expect(hold.facts.map(({ label, value }) => [label, value])).toEqual(expect.arrayContaining([['Credential goes to', 'auth.example'], ['May be answered instead by', 'Muse (warm, then exec)']]))
  })
})

describe('a call that cannot be served, now or again', () => {
  it('ends the turn with its reason, stops what runs, and settles every row', () => {
    const task = playToWork().play(say.toolStarted('c1'), { is: 'call-unservable', failure: failure('credential-missing', 'There is no key.', 'Enter it.') })
    expect(task.state).toMatchObject({ status: 'failed', failure: { code: 'credential-missing' } })
    expect(task.effects).toEqual([{ kind: 'coder.stop' }])
    expect(task.state.openTools.size).toBe(0)
    expect(lawsOf(task)).toEqual([])
  })

  it('changes nothing where no turn runs, where the task stops, and where it is uncertain', () => {
    const unservable: TaskCommand = { is: 'call-unservable', failure: failure('credential-missing', 'There is no key.', '') }
    for (const task of [playTask().play(say.prepared), playToWork().play({ is: 'stop-task' }), playToWork().play(say.restarted)]) {
      const before = task.events.length
      task.play(unservable)
      expect(task.events).toHaveLength(before)
    }
  })
})

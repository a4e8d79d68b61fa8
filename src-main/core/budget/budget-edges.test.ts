import { describe, expect, it, test } from 'vitest'
import type { BudgetLimits } from '../../../src-preload/contract/task.ts'
import { committedOf, emptyBudget, exhaustedFailure, meters, release, reserve, settle, type BudgetState, type Charge, type ExhaustedReason } from './budget.ts'
import { messageCharge, turnCharge, usageOf } from './charge.ts'
import { fitRequest } from './fit.ts'
import { pilot as limits, request, reserved } from './budget.suite.ts'

describe('a limit', () => {
  it('can be used to its last', () => {
    expect(reserve(emptyBudget, limits, 'a', request(1_000, 2_500_000)).ok).toBe(true)
    expect(reserve(emptyBudget, limits, 'a', request(1_001, 0))).toMatchObject({ error: { reason: 'tokens' } })
    expect(reserve(emptyBudget, limits, 'a', request(1, 2_500_001))).toMatchObject({ error: { reason: 'money' } })
  })

  it('that was lowered below what is spent stops only what takes of it', () => {
    const spent = settle(reserved(emptyBudget, 'a', turnCharge), 'a', { tokens: 0, moneyMicroUsd: 0 })
    const lowered = { ...limits, turnsMax: 0 }
    expect(reserve(spent, lowered, 'm', messageCharge).ok).toBe(true)
    expect(reserve(spent, lowered, 't', turnCharge)).toMatchObject({ error: { reason: 'turns' } })
  })

  const nothing: Charge = { turns: 0, messages: 0, requests: 0, tokens: 0, moneyMicroUsd: 0 }
  it.each(['turns', 'messages', 'requests', 'tokens'] as const)('of %s is used up with its last, stops one more, and lets through what takes none even when it was lowered below', (name) => {
    const two = { ...limits, [`${name}Max`]: 2 }
    const first = reserved(emptyBudget, 'a', { ...nothing, [name]: 1 })
    const used = reserve(first, two, 'b', { ...nothing, [name]: 1 })
    expect(used.ok).toBe(true)
    if (!used.ok) return
    expect(reserve(used.value, two, 'c', { ...nothing, [name]: 1 })).toMatchObject({ error: { reason: name } })
    expect(reserve(used.value, { ...two, [`${name}Max`]: 1 }, 'c', nothing).ok).toBe(true)
  })
})

describe('an accepted unknown cost', () => {
  const unknown = settle(reserved(emptyBudget, 'a', request(1, 1)), 'a', { tokens: 1, moneyMicroUsd: null })

  it('stays accepted after a known one, and not after another unknown one', () => {
    const accepted = { ...unknown, moneyAccepted: true }
    const known = settle(reserved(accepted, 'b', request(1, 1)), 'b', { tokens: 1, moneyMicroUsd: 1 })
    expect(known.moneyAccepted).toBe(true)
    expect(reserve(known, limits, 'c', request(1, 1)).ok).toBe(true)
    const again = settle(reserved(accepted, 'b', request(1, 1)), 'b', { tokens: 1, moneyMicroUsd: null })
    expect(again.moneyAccepted).toBe(false)
    expect(reserve(again, limits, 'c', request(1, 1))).toMatchObject({ error: { reason: 'usage-unknown' } })
  })

  it('is accepted by nobody but the owner', () => {
    expect(emptyBudget.moneyAccepted).toBe(false)
    expect(settle(reserved(emptyBudget, 'a', request(1, 1)), 'a', { tokens: 1, moneyMicroUsd: 1 }).moneyAccepted).toBe(false)
  })
})

test('giving back what is not open changes nothing, not even a copy', () => {
  const state = reserved(emptyBudget, 'a', turnCharge)
  expect(release(state, 'other')).toBe(state)
  expect(release(state, 'a').open.size).toBe(0)
})

test('the same id with any other charge is another charge', () => {
  const charge: Charge = { turns: 1, messages: 1, requests: 1, tokens: 1, moneyMicroUsd: 1 }
  const state = reserved(emptyBudget, 'a', charge)
  for (const name of ['turns', 'messages', 'requests', 'tokens', 'moneyMicroUsd'] as const) expect(reserve(state, limits, 'a', { ...charge, [name]: 2 })).toMatchObject({ error: { reason: 'other-charge' } })
  expect(reserve(state, limits, 'a', { ...charge })).toEqual({ ok: true, value: state })
})

test('what is committed is spent and reserved, each kind by itself', () => {
  const charge: Charge = { turns: 1, messages: 2, requests: 3, tokens: 40, moneyMicroUsd: 500 }
  const state = reserved(settle(reserved(emptyBudget, 'a', charge), 'a', { tokens: 10, moneyMicroUsd: 20 }), 'b', charge)
  expect(committedOf(state)).toEqual({ turns: 2, messages: 4, requests: 6, tokens: 50, moneyMicroUsd: 520 })
  expect(meters(state, limits)).toEqual([
    { name: 'turns', used: 1, reserved: 1, limit: 4, unknown: false }, { name: 'messages', used: 2, reserved: 2, limit: 8, unknown: false }, { name: 'requests', used: 3, reserved: 3, limit: 10, unknown: false },
    { name: 'tokens', used: 10, reserved: 40, limit: 1_000, unknown: false }, { name: 'money', used: 20, reserved: 500, limit: 2_500_000, unknown: false },
  ])
})

describe('the money meter is unknown', () => {
  const money = (state: BudgetState): boolean | undefined => meters(state, limits).at(-1)?.unknown
  const free = { ...limits, moneyMicroUsdMax: null }

  test.each([
    ['when an open request has no price', reserved(reserved(emptyBudget, 'a', request(1, 1), free), 'b', request(1, null), free), true],
    ['not when all open requests have one', reserved(emptyBudget, 'a', request(1, 1)), false],
    ['not for what is no request', reserved(emptyBudget, 'a', { ...turnCharge, moneyMicroUsd: null }), false],
    ['not when nothing is open', emptyBudget, false],
  ] as const)('%s', (_when, state, unknown) => { expect(money(state)).toBe(unknown) })
})

const topUp = 'Raise the budget of the task, or start a new one. Stopping it stays possible.'
test.each<[ExhaustedReason, string, string, string]>([
  ['turns', 'budget-exhausted', 'All 4 turns of this task are used.', topUp],
  ['messages', 'budget-exhausted', 'All 8 messages between the bots are used.', topUp],
  ['requests', 'budget-exhausted', 'All 10 model requests of this task are used or reserved.', topUp],
  ['tokens', 'budget-exhausted', 'The task\'s 1000 tokens are used or reserved.', topUp],
  ['money', 'budget-exhausted', 'The task\'s 2.50 USD are used or reserved.', topUp],
  ['price-unknown', 'usage-unknown', 'This task has a money cap, and the price of this model is not known.', 'Enter the model\'s price in Settings, or take the money cap away.'],
  ['usage-unknown', 'usage-unknown', 'This task has a money cap, and what an earlier call cost is not known.', 'Look at the provider\'s bill, then raise the budget or take the money cap away.'],
  ['already-settled', 'conflict', 'This step was paid for and settled before.', 'Nothing to do: it was not run again.'],
  ['other-charge', 'conflict', 'This step was reserved before with other content.', 'Nothing to do: it was not run again.'],
])('of “%s” the owner reads what ran out and what to do', (reason, code, message, todo) => {
  expect(exhaustedFailure({ reason }, limits)).toEqual({ code, message, todo })
})

test('usage of which one number is missing is unknown whole', () => {
  const price = { inputMicroUsd: 1_000_000, outputMicroUsd: 1_000_000 }
  for (const half of [{ inputTokens: 5, outputTokens: null }, { inputTokens: null, outputTokens: 5 }]) expect(usageOf(half, price)).toEqual({ tokens: null, moneyMicroUsd: null })
  expect(usageOf({ inputTokens: 5, outputTokens: 5 }, price)).toEqual({ tokens: 10, moneyMicroUsd: 10 })
})

describe('the room that a request is cut to', () => {
  const wanted = { bodyBytes: 200, outputTokensMax: 5_000, outputTokensAsked: null, streams: true, price: null }
  const wide = { ...limits, moneyMicroUsdMax: null, tokensMax: 1_000 }
  const roomOf = (state: BudgetState, caps: BudgetLimits, change: Partial<Parameters<typeof fitRequest>[3]> = {}): unknown => {
    const fit = fitRequest(state, caps, 'x', { ...wanted, ...change })
    if (!fit.ok) return fit.error.reason
    return fit.value.bound.outputWhole === true ? null : fit.value.bound.outputTokensMax
  }

  it('leaves out what others hold or have spent', () => {
    const held = settle(reserved(reserved(emptyBudget, 'a', request(300, 0), wide), 'b', request(50, 0), wide), 'b', { tokens: 50, moneyMicroUsd: 0 })
    expect([roomOf(emptyBudget, wide), roomOf(held, wide)]).toEqual([900, 550])
  })

  it('is refused below 256 tokens, and given at 256', () => {
    expect([roomOf(emptyBudget, { ...wide, tokensMax: 356 }), roomOf(emptyBudget, { ...wide, tokensMax: 355 })]).toEqual([256, 'tokens'])
  })

  it('counts the money that others hold, and not a price of nothing', () => {
    const caps = { ...wide, tokensMax: 100_000, moneyMicroUsdMax: 2_000 }
    const price = { inputMicroUsd: 1_000_000, outputMicroUsd: 1_000_000 }
    const held = reserved(emptyBudget, 'a', request(1, 500), caps)
    expect([roomOf(emptyBudget, caps, { price }), roomOf(held, caps, { price })]).toEqual([1_899, 1_399])
    expect(roomOf(emptyBudget, { ...caps, tokensMax: 1_000 }, { price: { inputMicroUsd: 1_000_000, outputMicroUsd: 0 } })).toBe(900)
  })

  it('is not asked for where something else than tokens or money ran out', () => {
    expect(roomOf(emptyBudget, { ...wide, requestsMax: 0 })).toBe('requests')
  })

  it('knows no money where there is no cap', () => {
    expect(roomOf(emptyBudget, wide, { price: { inputMicroUsd: 1_000_000, outputMicroUsd: 9_000_000_000 } })).toBe(900)
  })
})

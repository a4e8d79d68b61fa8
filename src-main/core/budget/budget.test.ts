import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BudgetLimits } from '../../../src-preload/contract/task.ts'
import { emptyBudget, exhaustedFailure, exhaustedReasons, meters, release, reserve, settle, type BudgetState } from './budget.ts'
import { costMicroUsd, messageCharge, requestCharge, turnCharge, usageOf } from './charge.ts'
import { pilot, request, reserved } from './budget.suite.ts'

const limits: BudgetLimits = { ...pilot, moneyMicroUsdMax: 500 }
const meter = (state: BudgetState, name: string, caps = limits) => meters(state, caps).find((one) => one.name === name)

describe('budget', () => {
  it('counts a reservation as spent until its outcome is known', () => {
    const state = reserved(emptyBudget, 'a', request(600, 300))
    expect(reserve(state, limits, 'b', request(500, 100))).toMatchObject({ error: { reason: 'tokens' } })
    expect(reserve(state, limits, 'b', request(100, 300))).toMatchObject({ error: { reason: 'money' } })
    const after = settle(state, 'a', { tokens: 50, moneyMicroUsd: 20 })
    expect(reserve(after, limits, 'b', request(500, 100)).ok).toBe(true)
    expect(meter(after, 'tokens')).toMatchObject({ used: 50, reserved: 0, unknown: false })
  })

  it('keeps the whole reservation spent where usage is unknown, and says so', () => {
    const state = settle(reserved(emptyBudget, 'a', request(600, 300)), 'a', { tokens: null, moneyMicroUsd: null })
    expect(meter(state, 'tokens')).toMatchObject({ used: 600, unknown: true })
    expect(meter(state, 'money')).toMatchObject({ used: 300, unknown: true })
    expect(reserve(state, limits, 'b', request(500, 1))).toMatchObject({ error: { reason: 'tokens' } })
  })

  it('buys nothing under a money cap at an unknown price or after an unknown cost', () => {
    expect(reserve(emptyBudget, limits, 'a', request(1, null))).toMatchObject({ error: { reason: 'price-unknown' } })
    const unknown = settle(reserved(emptyBudget, 'a', request(1, 1)), 'a', { tokens: 1, moneyMicroUsd: null })
    expect(reserve(unknown, limits, 'b', request(1, 1))).toMatchObject({ error: { reason: 'usage-unknown' } })
    expect(reserve(unknown, limits, 't', turnCharge).ok).toBe(true)
  })

  it('only meters money where no cap is set', () => {
    const uncapped = { ...limits, moneyMicroUsdMax: null }
    const state = settle(reserved(emptyBudget, 'a', request(1, null), uncapped), 'a', { tokens: 1, moneyMicroUsd: null })
    expect(meter(state, 'money', uncapped)).toEqual({ name: 'money', used: 0, reserved: 0, limit: null, unknown: true })
    expect(reserve(state, uncapped, 'b', request(1, null)).ok).toBe(true)
    // A cap set afterwards does not pretend that the past was free.
    expect(reserve(state, limits, 'b', request(1, 1))).toMatchObject({ error: { reason: 'usage-unknown' } })
    expect(reserve(reserved(emptyBudget, 'a', request(1, null), uncapped), limits, 'b', request(1, 1))).toMatchObject({ error: { reason: 'usage-unknown' } })
  })

  it('buys once an id, and refuses other content under it', () => {
    const state = reserved(emptyBudget, 'a', request(10, 10))
    expect(reserve(state, limits, 'a', request(10, 10))).toEqual({ ok: true, value: state })
    expect(reserve(state, limits, 'a', request(11, 10))).toMatchObject({ error: { reason: 'other-charge' } })
    const after = settle(state, 'a', { tokens: 10, moneyMicroUsd: 10 })
    expect(reserve(after, limits, 'a', request(10, 10))).toMatchObject({ error: { reason: 'already-settled' } })
    expect(settle(after, 'a', { tokens: 99, moneyMicroUsd: 99 })).toBe(after)
    expect(settle(after, 'never', { tokens: 99, moneyMicroUsd: 99 })).toBe(after)
  })

  it('counts turns and messages apart from requests', () => {
    let state = emptyBudget
    for (let n = 0; n < 4; n++) state = reserved(state, `t${n}`, turnCharge)
    for (let n = 0; n < 8; n++) state = reserved(state, `m${n}`, messageCharge)
    expect(reserve(state, limits, 't4', turnCharge)).toMatchObject({ error: { reason: 'turns' } })
    expect(reserve(state, limits, 'm8', messageCharge)).toMatchObject({ error: { reason: 'messages' } })
    expect(reserve(state, limits, 'r', request(1, 1)).ok).toBe(true)
  })

  it('goes on after a top-up, and not before', () => {
    const state = reserved(emptyBudget, 'a', request(1_000, 1))
    expect(reserve(state, limits, 'b', request(1, 1)).ok).toBe(false)
    expect(reserve(state, { ...limits, tokensMax: 1_001 }, 'b', request(1, 1)).ok).toBe(true)
  })

  it('has words for every refusal', () => {
    for (const reason of exhaustedReasons) expect(exhaustedFailure({ reason }, limits).message).not.toBe('')
  })

  // Every interleaving of reservations, settlements (known, unknown, late, doubled) and releases, over few ids so that they meet.
  const step = fc.oneof(
    fc.record({ do: fc.constant('reserve' as const), id: fc.nat(12), charge: fc.oneof(fc.constant(turnCharge), fc.constant(messageCharge), fc.record({ turns: fc.constant(0), messages: fc.constant(0), requests: fc.constant(1), tokens: fc.nat(600), moneyMicroUsd: fc.option(fc.nat(300), { freq: 8 }) })) }),
    fc.record({ do: fc.constant('settle' as const), id: fc.nat(12), share: fc.option(fc.double({ min: 0, max: 1, noNaN: true })) }),
    fc.record({ do: fc.constant('release' as const), id: fc.nat(12) }),
  )
  it('never overspends, under any interleaving', () => {
    fc.assert(fc.property(fc.array(step, { maxLength: 60 }), fc.option(fc.nat(700)), (steps, moneyMicroUsdMax) => {
      const caps = { ...limits, moneyMicroUsdMax }
      let state = emptyBudget
      for (const one of steps) {
        const before = state
        const id = `id-${one.id}`
        if (one.do === 'reserve') {
          const result = reserve(state, caps, id, one.charge)
          if (result.ok) state = result.value
        } else if (one.do === 'release') state = release(state, id)
        else {
          const charge = state.open.get(id)
          const part = (whole: number | null | undefined): number | null => (one.share === null || whole === null || whole === undefined ? null : Math.floor(whole * one.share))
          state = settle(state, id, { tokens: part(charge?.tokens), moneyMicroUsd: part(charge?.moneyMicroUsd) })
        }
        for (const { name, used, reserved: held, limit } of meters(state, caps)) {
          if (limit !== null) expect(used + held, name).toBeLessThanOrEqual(limit)
          expect(used).toBeGreaterThanOrEqual(meters(before, caps).find((one) => one.name === name)?.used ?? 0)
        }
        expect(state.unknown.tokens || !before.unknown.tokens).toBe(true)
        expect(state.unknown.money || !before.unknown.money).toBe(true)
      }
    }), { numRuns: 500 })
  })

  it('reports honestly what went beyond its reservation, and buys nothing more', () => {
    const state = settle(reserved(emptyBudget, 'a', request(10, 10)), 'a', { tokens: 5_000, moneyMicroUsd: 900 })
    expect(meter(state, 'tokens')).toMatchObject({ used: 5_000 })
    expect(reserve(state, limits, 'b', request(1, 1)).ok).toBe(false)
  })
})

describe('charges', () => {
  it('cost whole micro-USD, rounded up, exactly', () => {
    expect(costMicroUsd({ inputMicroUsd: 3_000_000, outputMicroUsd: 15_000_000 }, 1_000, 100)).toBe(4_500)
    expect(costMicroUsd({ inputMicroUsd: 1, outputMicroUsd: 0 }, 1, 0)).toBe(1)
    expect(costMicroUsd({ inputMicroUsd: 0, outputMicroUsd: 0 }, 1_000, 1_000)).toBe(0)
    expect(costMicroUsd({ inputMicroUsd: 999_999_937, outputMicroUsd: 999_999_937 }, 10_000_000, 1)).toBe(10_000_000_370)
  })

  it('reserve more than a request of that size can use', () => {
    expect(requestCharge({ bodyBytes: 1_001, outputTokensMax: 400, price: { inputMicroUsd: 1_000_000, outputMicroUsd: 2_000_000 } })).toEqual({ turns: 0, messages: 0, requests: 1, tokens: 901, moneyMicroUsd: 501 + 800 })
    expect(requestCharge({ bodyBytes: 1, outputTokensMax: 1, price: null }).moneyMicroUsd).toBe(null)
  })

  it('are unknown when a number is missing', () => {
    expect(usageOf({ inputTokens: 5, outputTokens: null }, { inputMicroUsd: 1, outputMicroUsd: 1 })).toEqual({ tokens: null, moneyMicroUsd: null })
    expect(usageOf({ inputTokens: 5, outputTokens: 5 }, null)).toEqual({ tokens: 10, moneyMicroUsd: null })
    expect(usageOf({ inputTokens: 0, outputTokens: 0 }, { inputMicroUsd: 1, outputMicroUsd: 1 })).toEqual({ tokens: 0, moneyMicroUsd: 0 })
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BudgetLimits } from '../../../src-preload/contract/task.ts'
import { emptyBudget, meters, release, reserve, settle } from './budget.ts'
import { reserved } from './budget.suite.ts'
import { costMicroUsd, requestCharge, turnCharge } from './charge.ts'
import { fitRequest, tokensUncapped, type WantedRequest } from './fit.ts'

const limits: BudgetLimits = { profile: 'pilot', turnsMax: 4, messagesMax: 8, requestsMax: 100, tokensMax: 10_000, moneyMicroUsdMax: null, deadlineMs: 600_000 }
const wanted: WantedRequest = { bodyBytes: 2_000, outputTokensMax: 4_000, outputTokensAsked: null, streams: true, price: null }

describe('a request that is fitted into a budget', () => {
  it('is reserved whole where it fits, and bounded there where tokens or money are capped', () => {
    expect(fitRequest(emptyBudget, limits, 'a', wanted)).toMatchObject({ ok: true, value: { bound: { outputTokensMax: 4_000, outputWhole: true }, charge: { tokens: 5_000 } } })
    expect(fitRequest(emptyBudget, limits, 'a', { ...wanted, outputTokensAsked: 300 })).toMatchObject({ ok: true, value: { bound: { outputTokensMax: 300, outputWhole: true }, charge: { tokens: 1_300 } } })
    const uncapped = { ...limits, tokensMax: tokensUncapped }
    expect(fitRequest(emptyBudget, uncapped, 'a', wanted)).toMatchObject({ ok: true, value: { bound: {} } })
    expect(fitRequest(emptyBudget, { ...uncapped, moneyMicroUsdMax: 1 }, 'a', { ...wanted, price: { inputMicroUsd: 0, outputMicroUsd: 0 } })).toMatchObject({ ok: true, value: { bound: { outputTokensMax: 4_000, outputWhole: true } } })
  })

  it('is reserved for each answer that it asks for, of the length asked for or of the model’s', () => {
    expect(fitRequest(emptyBudget, limits, 'a', { ...wanted, outputTokensAsked: 300, choices: 30 })).toMatchObject({ ok: true, value: { charge: { tokens: 10_000 }, bound: { outputTokensMax: 9_000 } } })
    expect(fitRequest(emptyBudget, limits, 'a', { ...wanted, streams: false, choices: 3 })).toMatchObject({ error: { reason: 'tokens' } })
    const huge = fitRequest(emptyBudget, { ...limits, tokensMax: Number.MAX_SAFE_INTEGER }, 'a', { ...wanted, outputTokensAsked: Number.MAX_SAFE_INTEGER, choices: 1_000_000 })
    expect(huge.ok && Number.isSafeInteger(huge.value.charge.tokens)).toBe(true)
  })

  it('gets what is left where its output is too much, and is cut there', () => {
    expect(fitRequest(emptyBudget, { ...limits, tokensMax: 3_000 }, 'a', wanted)).toMatchObject({ ok: true, value: { bound: { outputTokensMax: 2_000 }, charge: { tokens: 3_000 } } })
    const price = { inputMicroUsd: 1_000_000, outputMicroUsd: 2_000_000 }
    const fit = fitRequest(emptyBudget, { ...limits, moneyMicroUsdMax: 3_000 }, 'a', { ...wanted, price })
    expect(fit).toMatchObject({ ok: true, value: { bound: { outputTokensMax: 999 } } })
    expect(fit.ok && fit.value.charge.moneyMicroUsd).toBeLessThanOrEqual(3_000)
  })

  it('gets what is left beside those that run and those that ended', () => {
    const price = { inputMicroUsd: 1_000_000, outputMicroUsd: 2_000_000 }
    const ended = settle(reserved(emptyBudget, 'e', { ...turnCharge, tokens: 500, moneyMicroUsd: 700 }, limits), 'e', { tokens: 500, moneyMicroUsd: 700 })
    const busy = reserved(ended, 'r', { ...turnCharge, tokens: 2_500, moneyMicroUsd: 1_300 }, limits)
    expect(fitRequest(busy, { ...limits, tokensMax: 6_000 }, 'a', wanted)).toMatchObject({ ok: true, value: { bound: { outputTokensMax: 2_000 }, charge: { tokens: 3_000 } } })
    expect(fitRequest(busy, { ...limits, moneyMicroUsdMax: 5_000 }, 'a', { ...wanted, price })).toMatchObject({ ok: true, value: { bound: { outputTokensMax: 999 } } })
  })

  it('is cut by tokens alone where money is not bounded, and down to the least that is worth a request', () => {
    const price = { inputMicroUsd: 1_000_000, outputMicroUsd: 2_000_000 }
    expect(fitRequest(emptyBudget, { ...limits, tokensMax: 1_256 }, 'a', { ...wanted, price })).toMatchObject({ ok: true, value: { bound: { outputTokensMax: 256 }, charge: { tokens: 1_256 } } })
    expect(fitRequest(emptyBudget, { ...limits, tokensMax: 1_255 }, 'a', { ...wanted, price })).toMatchObject({ error: { reason: 'tokens' } })
  })

  it('is cut by tokens alone where output costs nothing, also with the last of the money', () => {
    const price = { inputMicroUsd: 1_000_000, outputMicroUsd: 0 }
    expect(fitRequest(emptyBudget, { ...limits, tokensMax: 3_000, moneyMicroUsdMax: 1_001 }, 'a', { ...wanted, price })).toMatchObject({ ok: true, value: { bound: { outputTokensMax: 2_000 }, charge: { tokens: 3_000, moneyMicroUsd: 1_000 } } })
  })

  it('is refused where too little is left, where it does not stream, and for every other reason', () => {
    expect(fitRequest(emptyBudget, { ...limits, tokensMax: 1_200 }, 'a', wanted)).toMatchObject({ error: { reason: 'tokens' } })
    expect(fitRequest(emptyBudget, { ...limits, tokensMax: 3_000 }, 'a', { ...wanted, streams: false })).toMatchObject({ error: { reason: 'tokens' } })
    expect(fitRequest(emptyBudget, { ...limits, moneyMicroUsdMax: 10 }, 'a', wanted)).toMatchObject({ error: { reason: 'price-unknown' } })
    expect(fitRequest(emptyBudget, { ...limits, requestsMax: 0 }, 'a', wanted)).toMatchObject({ error: { reason: 'requests' } })
  })

  it('is refused for good only where what is spent alone does not suffice', () => {
    const small = { ...limits, tokensMax: 6_000 }
    const busy = reserved(emptyBudget, 'r', requestCharge(wanted), small)
    const refused = fitRequest(busy, small, 'a', { ...wanted, streams: false })
    expect(refused).toEqual({ ok: false, error: { reason: 'tokens', passing: true } })
    const ended = settle(busy, 'r', { tokens: 10, moneyMicroUsd: null })
    expect(fitRequest(ended, small, 'a', { ...wanted, streams: false }).ok).toBe(true)
    const much = settle(busy, 'r', { tokens: 5_000, moneyMicroUsd: null })
    expect(fitRequest(much, small, 'a', { ...wanted, streams: false })).toEqual({ ok: false, error: { reason: 'tokens' } })
    // With another call open, too, and where a stream would have got the rest.
    expect(fitRequest(reserved(much, 's', { ...turnCharge, tokens: 1 }, small), small, 'a', { ...wanted, streams: false })).toEqual({ ok: false, error: { reason: 'tokens' } })
    expect(fitRequest(busy, small, 'a', { ...wanted, bodyBytes: 1_600 })).toEqual({ ok: false, error: { reason: 'tokens', passing: true } })
  })

  /*
   * Requests that come, end and are lost in any order. The input takes at most what was reserved for it. So does the output of a stream: past its bound
   * the proxy cuts it. A reply that is no stream may take more than it was asked to: nothing can be cut of it, and it is settled with what it took.
   */
  const request = fc.record({ bodyBytes: fc.nat(4_000), outputTokensMax: fc.integer({ min: 1, max: 5_000 }), outputTokensAsked: fc.option(fc.integer({ min: 1, max: 5_000 })), choices: fc.integer({ min: 1, max: 3 }), streams: fc.boolean(), priced: fc.boolean() })
  const step = fc.oneof(fc.record({ do: fc.constant('want' as const), request }), fc.record({ do: fc.constant('end' as const), which: fc.nat(20), share: fc.option(fc.double({ min: 0, max: 2, noNaN: true })) }), fc.record({ do: fc.constant('lose' as const), which: fc.nat(20) }))

  it('cannot overspend by streams, however many run at once, nor by other replies but for what those took beyond their own reservation', () => {
    fc.assert(fc.property(fc.array(step, { maxLength: 80 }), fc.option(fc.integer({ min: 0, max: 60_000 })), fc.nat(20_000), (steps, moneyMicroUsdMax, tokensMax) => {
      const caps = { ...limits, moneyMicroUsdMax, tokensMax: tokensMax + 1 }
      const price = { inputMicroUsd: 3_000_000, outputMicroUsd: 15_000_000 }
      let state = emptyBudget
      let made = 0
      const [used, beyond] = [{ tokens: 0, money: 0 }, { tokens: 0, money: 0 }]
      const open: { readonly id: string; readonly input: number; readonly output: number; readonly streams: boolean; readonly priced: boolean }[] = []
      for (const one of steps) {
        if (one.do === 'want') {
          const id = `r${made++}`
          const fit = fitRequest(state, caps, id, { ...one.request, price: one.request.priced ? price : null })
          if (!fit.ok) continue
          state = fit.value.state
          const input = Math.ceil(one.request.bodyBytes / 2)
          const output = fit.value.charge.tokens - input
          // The bound that the proxy cuts at is what was reserved.
          expect(fit.value.bound.outputTokensMax).toBe(output)
          open.push({ id, input, output, streams: one.request.streams, priced: one.request.priced })
        } else {
          const [ended] = open.splice(one.which % Math.max(1, open.length), 1)
          if (ended === undefined) continue
          const share = one.do === 'lose' ? null : one.share
          const output = Math.floor(ended.output * (share === null ? 1 : ended.streams ? Math.min(1, share) : share))
          const money = ended.priced ? costMicroUsd(price, ended.input, output) : 0
          used.tokens += ended.input + output
          used.money += money
          beyond.tokens += Math.max(0, output - ended.output)
          beyond.money += ended.priced ? Math.max(0, money - costMicroUsd(price, ended.input, ended.output)) : 0
          state = settle(state, ended.id, share === null ? { tokens: null, moneyMicroUsd: null } : { tokens: ended.input + output, moneyMicroUsd: ended.priced ? money : null })
        }
        expect(used.tokens).toBeLessThanOrEqual(caps.tokensMax + beyond.tokens)
        if (moneyMicroUsdMax !== null) expect(used.money).toBeLessThanOrEqual(moneyMicroUsdMax + beyond.money)
        const over = { tokens: beyond.tokens, money: beyond.money, turns: 0, messages: 0, requests: 0 }
        for (const { name, used: spent, reserved, limit } of meters(state, caps)) if (limit !== null) expect(spent + reserved, name).toBeLessThanOrEqual(limit + over[name])
      }
    }), { numRuns: 500 })
  })

  it('reserves the same as a plain reservation where both fit', () => {
    const fit = fitRequest(emptyBudget, limits, 'a', wanted)
    const plain = reserve(emptyBudget, limits, 'a', requestCharge(wanted))
    expect(fit.ok && plain.ok && [...fit.value.state.open]).toEqual(plain.ok && [...plain.value.open])
    expect(fit.ok && release(fit.value.state, 'a').open.size).toBe(0)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BudgetLimits } from '../../../src-preload/contract/task.ts'
import { emptyBudget, meters, release, reserve, settle } from './budget.ts'
import { reserved } from './budget.suite.ts'
import { costMicroUsd, requestCharge, turnCharge } from './charge.ts'
import { fitRequest, type WantedRequest } from './fit.ts'

const limits: BudgetLimits = { profile: 'pilot', turnsMax: 4, messagesMax: 8, requestsMax: 100, tokensMax: 10_000, moneyMicroUsdMax: null, deadlineMs: 600_000 }
const wanted: WantedRequest = { bodyBytes: 2_000, outputTokensMax: 4_000, outputTokensAsked: null, streams: true, price: null }

describe('a request that is fitted into a budget', () => {
  it('is reserved whole where it fits, and not cut', () => {
    expect(fitRequest(emptyBudget, limits, 'a', wanted)).toMatchObject({ ok: true, value: { outputTokensMax: null, charge: { tokens: 5_000 } } })
    expect(fitRequest(emptyBudget, limits, 'a', { ...wanted, outputTokensAsked: 300 })).toMatchObject({ ok: true, value: { outputTokensMax: null, charge: { tokens: 1_300 } } })
  })

  it('gets what is left where its output is too much, and is cut there', () => {
    expect(fitRequest(emptyBudget, { ...limits, tokensMax: 3_000 }, 'a', wanted)).toMatchObject({ ok: true, value: { outputTokensMax: 2_000, charge: { tokens: 3_000 } } })
    const price = { inputMicroUsd: 1_000_000, outputMicroUsd: 2_000_000 }
    const fit = fitRequest(emptyBudget, { ...limits, moneyMicroUsdMax: 3_000 }, 'a', { ...wanted, price })
    expect(fit).toMatchObject({ ok: true, value: { outputTokensMax: 999 } })
    expect(fit.ok && fit.value.charge.moneyMicroUsd).toBeLessThanOrEqual(3_000)
  })

  it('gets what is left beside those that run and those that ended', () => {
    const price = { inputMicroUsd: 1_000_000, outputMicroUsd: 2_000_000 }
    const ended = settle(reserved(emptyBudget, 'e', { ...turnCharge, tokens: 500, moneyMicroUsd: 700 }, limits), 'e', { tokens: 500, moneyMicroUsd: 700 })
    const busy = reserved(ended, 'r', { ...turnCharge, tokens: 2_500, moneyMicroUsd: 1_300 }, limits)
    expect(fitRequest(busy, { ...limits, tokensMax: 6_000 }, 'a', wanted)).toMatchObject({ ok: true, value: { outputTokensMax: 2_000, charge: { tokens: 3_000 } } })
    expect(fitRequest(busy, { ...limits, moneyMicroUsdMax: 5_000 }, 'a', { ...wanted, price })).toMatchObject({ ok: true, value: { outputTokensMax: 999 } })
  })

  it('is cut by tokens alone where money is not bounded, and down to the least that is worth a request', () => {
    const price = { inputMicroUsd: 1_000_000, outputMicroUsd: 2_000_000 }
    expect(fitRequest(emptyBudget, { ...limits, tokensMax: 1_256 }, 'a', { ...wanted, price })).toMatchObject({ ok: true, value: { outputTokensMax: 256, charge: { tokens: 1_256 } } })
    expect(fitRequest(emptyBudget, { ...limits, tokensMax: 1_255 }, 'a', { ...wanted, price })).toMatchObject({ error: { reason: 'tokens' } })
  })

  it('is cut by tokens alone where output costs nothing, also with the last of the money', () => {
    const price = { inputMicroUsd: 1_000_000, outputMicroUsd: 0 }
    expect(fitRequest(emptyBudget, { ...limits, tokensMax: 3_000, moneyMicroUsdMax: 1_001 }, 'a', { ...wanted, price })).toMatchObject({ ok: true, value: { outputTokensMax: 2_000, charge: { tokens: 3_000, moneyMicroUsd: 1_000 } } })
  })

  it('is refused where too little is left, where it does not stream, and for every other reason', () => {
    expect(fitRequest(emptyBudget, { ...limits, tokensMax: 1_200 }, 'a', wanted)).toMatchObject({ error: { reason: 'tokens' } })
    expect(fitRequest(emptyBudget, { ...limits, tokensMax: 3_000 }, 'a', { ...wanted, streams: false })).toMatchObject({ error: { reason: 'tokens' } })
    expect(fitRequest(emptyBudget, { ...limits, moneyMicroUsdMax: 10 }, 'a', wanted)).toMatchObject({ error: { reason: 'price-unknown' } })
    expect(fitRequest(emptyBudget, { ...limits, requestsMax: 0 }, 'a', wanted)).toMatchObject({ error: { reason: 'requests' } })
  })

  // Requests that come, end and are lost in any order, each using at most what was reserved for it: as the proxy sees to.
  const request = fc.record({ bodyBytes: fc.nat(4_000), outputTokensMax: fc.integer({ min: 1, max: 5_000 }), outputTokensAsked: fc.option(fc.integer({ min: 1, max: 5_000 })), streams: fc.boolean(), priced: fc.boolean() })
  const step = fc.oneof(fc.record({ do: fc.constant('want' as const), request }), fc.record({ do: fc.constant('end' as const), which: fc.nat(20), share: fc.option(fc.double({ min: 0, max: 1, noNaN: true })) }), fc.record({ do: fc.constant('lose' as const), which: fc.nat(20) }))

  it('cannot overspend, however many run at once', () => {
    fc.assert(fc.property(fc.array(step, { maxLength: 80 }), fc.option(fc.integer({ min: 0, max: 60_000 })), fc.nat(20_000), (steps, moneyMicroUsdMax, tokensMax) => {
      const caps = { ...limits, moneyMicroUsdMax, tokensMax: tokensMax + 1 }
      const price = { inputMicroUsd: 3_000_000, outputMicroUsd: 15_000_000 }
      let state = emptyBudget
      let made = 0
      const used = { tokens: 0, money: 0 }
      const open: { readonly id: string; readonly tokens: number; readonly input: number; readonly priced: boolean }[] = []
      for (const one of steps) {
        if (one.do === 'want') {
          const id = `r${made++}`
          const fit = fitRequest(state, caps, id, { ...one.request, price: one.request.priced ? price : null })
          if (!fit.ok) continue
          state = fit.value.state
          open.push({ id, tokens: fit.value.charge.tokens, input: Math.ceil(one.request.bodyBytes / 2), priced: one.request.priced })
        } else {
          const [ended] = open.splice(one.which % Math.max(1, open.length), 1)
          if (ended === undefined) continue
          const share = one.do === 'lose' ? null : one.share
          const output = share === null ? ended.tokens - ended.input : Math.floor((ended.tokens - ended.input) * share)
          const money = ended.priced ? costMicroUsd(price, ended.input, output) : 0
          used.tokens += ended.input + output
          used.money += money
          state = settle(state, ended.id, share === null ? { tokens: null, moneyMicroUsd: null } : { tokens: ended.input + output, moneyMicroUsd: ended.priced ? money : null })
        }
        expect(used.tokens).toBeLessThanOrEqual(caps.tokensMax)
        if (moneyMicroUsdMax !== null) expect(used.money).toBeLessThanOrEqual(moneyMicroUsdMax)
        for (const { name, used: spent, reserved, limit } of meters(state, caps)) if (limit !== null) expect(spent + reserved, name).toBeLessThanOrEqual(limit)
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

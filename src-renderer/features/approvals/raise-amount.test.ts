import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RaiseOffer } from '../../../src-preload/contract/task.ts'
import { amountFromText, amountText, defaultAmount } from './raise-amount.ts'

const turns: RaiseOffer = { cap: 'turns', from: 4, min: 5, max: 64, suggested: 8 }
const money: RaiseOffer = { cap: 'money', from: 2_500_000, min: 2_500_001, max: 10_000_000_000, suggested: 5_000_000 }

describe('the amount on a budget card', () => {
  it.each([['8', 8], [' 64 ', 64], ['5', 5], ['4', 'too-low'], ['0', 'too-low'], ['65', 'too-high'], ['9999999', 'too-high'], ['', 'no-number'], ['-8', 'no-number'], ['8.5', 'no-number'], ['1e1', 'no-number'], ['eight', 'no-number'], ['8 9', 'no-number'], ['0x10', 'no-number'], ['９', 'no-number']] as const)('of turns: “%s” is %s', (text, amount) => {
    expect(amountFromText(turns, text)).toBe(amount)
  })

  it.each([['5', 5_000_000], ['$5.00', 5_000_000], ['2.50', 'too-low'], ['2.51', 2_510_000], ['1,250.75', 1_250_750_000], ['10000', 10_000_000_000], ['10000.01', 'too-high'], ['5,5', 'no-number'], ['0,125', 'no-number'], ['1250,750', 'no-number'], ['1.2.3', 'no-number'], ['.', 'no-number']] as const)('of money: “%s” is %s', (text, amount) => {
    expect(amountFromText(money, text)).toBe(amount)
  })

  it.each([['200,000', 200_000], ['200 000', 200_000], ['200000', 200_000], ['20,00', 'no-number']] as const)('of tokens may be grouped: “%s” is %s', (text, amount) => {
    expect(amountFromText({ cap: 'tokens', from: 100, min: 101, max: 100_000_000, suggested: 200 }, text)).toBe(amount)
  })

  it('is what the host suggests to begin with, and that can be sent as it stands', () => {
    expect(amountText(money, defaultAmount(money))).toBe('5.00')
    fc.assert(fc.property(fc.constantFrom('turns', 'money', 'tokens'), fc.nat(1_000_000), fc.nat(1_000_000), fc.nat(1_000_000), (cap, from, more, room) => {
      const offer: RaiseOffer = { cap, from, min: from + 1, max: from + 1 + more + room, suggested: from + 1 + more }
      const amount = defaultAmount(offer)
      expect(amountFromText(offer, amountText(offer, amount))).toBe(amount)
    }))
  })
})

import { expect, test } from 'bun:test'
import { formatEuros, wholeCents } from '../src/money.ts'

test('writes amounts as on a receipt', () => {
  expect(formatEuros(0)).toBe('0.00 €')
  expect(formatEuros(4_90)).toBe('4.90 €')
  expect(formatEuros(1_234_05)).toBe('1,234.05 €')
})

test('refuses fractions of a cent and negative amounts', () => {
  expect(() => wholeCents(0.5)).toThrow(RangeError)
  expect(() => wholeCents(-1)).toThrow(RangeError)
})

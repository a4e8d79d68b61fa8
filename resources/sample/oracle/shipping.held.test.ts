/**
 * The held criteria tests of the sample task. Only the verification sees them: they are read-only where HELD_TESTS says, beside the clean
 * copy in which they run, and are never in the coder's workspace. Exactly 50.00 euros is where the requirement leaves two readings.
 */
import { describe, expect, test } from 'bun:test'

interface Shipping { readonly shippingCost: (orderValue: number) => number; readonly shippingNote: (orderValue: number) => string }
const { shippingCost, shippingNote } = (await import(`${process.cwd()}/src/shipping.ts`)) as Shipping

describe('a customer who reaches a threshold gets the better price', () => {
  const cases: readonly (readonly [orderValue: number, cost: number])[] = [
    [0, 6_90], [19_99, 6_90], [20_00, 4_90], [20_01, 4_90],
    [49_99, 4_90], [50_00, 1_90], [50_01, 1_90],
    [99_99, 1_90], [100_00, 0], [100_01, 0], [10_000_00, 0],
  ]
  for (const [orderValue, cost] of cases) {
    test(`an order of ${orderValue} cents pays ${cost}`, () => {
      expect(shippingCost(orderValue)).toBe(cost)
    })
  }
})

test('never asks more for a larger order', () => {
  let before = Number.POSITIVE_INFINITY
  for (let orderValue = 0; orderValue <= 120_00; orderValue += 1) {
    const cost = shippingCost(orderValue)
    expect(cost).toBeLessThanOrEqual(before)
    before = cost
  }
})

test('the note leads to the price that it names', () => {
  expect(shippingNote(49_99)).toBe('Shipping costs 4.90 €. Add 0.01 € to ship for 1.90 €.')
  expect(shippingNote(50_00)).toBe('Shipping costs 1.90 €. Add 50.00 € to ship for free.')
  expect(shippingNote(0)).toBe('Shipping costs 6.90 €. Add 20.00 € to ship for 4.90 €.')
  expect(shippingNote(100_00)).toBe('Shipping is free.')
})

test('refuses what is not a whole number of cents', () => {
  for (const value of [0.5, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(() => shippingCost(value)).toThrow(RangeError)
    expect(() => shippingNote(value)).toThrow(RangeError)
  }
})

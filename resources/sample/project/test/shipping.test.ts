import { describe, expect, test } from 'bun:test'
import { shippingCost, shippingNote } from '../src/shipping.ts'

describe('shippingCost', () => {
  test('asks 6.90 € for a small order', () => {
    expect(shippingCost(0)).toBe(6_90)
    expect(shippingCost(12_00)).toBe(6_90)
    expect(shippingCost(19_99)).toBe(6_90)
  })

  test('asks 4.90 € between 20 and 50 euros', () => {
    expect(shippingCost(35_00)).toBe(4_90)
  })

  test('asks 1.90 € between 50 and 100 euros', () => {
    expect(shippingCost(75_00)).toBe(1_90)
  })

  test('is free from 100 euros on', () => {
    expect(shippingCost(100_00)).toBe(0)
    expect(shippingCost(249_90)).toBe(0)
  })

  test('refuses what is not a whole number of cents', () => {
    expect(() => shippingCost(35.5)).toThrow(RangeError)
    expect(() => shippingCost(-1)).toThrow(RangeError)
  })
})

describe('shippingNote', () => {
  test('says how much is missing to the next better price', () => {
    expect(shippingNote(35_00)).toBe('Shipping costs 4.90 €. Add 15.00 € to ship for 1.90 €.')
  })

  test('says that free shipping is near', () => {
    expect(shippingNote(88_00)).toBe('Shipping costs 1.90 €. Add 12.00 € to ship for free.')
  })

  test('says when shipping is free', () => {
    expect(shippingNote(120_00)).toBe('Shipping is free.')
  })
})

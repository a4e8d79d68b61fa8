import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blockRows, Blocks } from './blocks.ts'

const keysOf = (rows: number): string[] => Array.from({ length: rows }, (_, row) => `k${row.toString()}`)
const items = (blocks: Blocks): number[] => [...Array(blocks.count).keys()]

test('every row is in exactly one item, in order, however many there are', () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: 3_000 }), (rows) => {
    const blocks = new Blocks(() => 1).take(keysOf(rows))
    expect(items(blocks).flatMap((item) => { const [from, to] = blocks.rows(item); return [...Array(to - from).keys()].map((row) => from + row) })).toEqual([...Array(rows).keys()])
    expect(new Set(items(blocks).map((item) => blocks.key(item))).size).toBe(blocks.count)
    expect(items(blocks).reduce((sum, item) => sum + blocks.height(item), 0)).toBe(rows)
  }))
})

test('a row that comes changes no item before it, but for those that become a block', () => {
  const blocks = new Blocks(() => 1)
  const before = new Set(items(blocks.take(keysOf(5_000))).map((item) => blocks.key(item)))
  const after = items(blocks.take(keysOf(5_001))).map((item) => blocks.key(item))
  expect(after.filter((key) => !before.has(key)).length).toBeLessThanOrEqual(2)
  expect(blocks.count).toBeLessThan(5_000 / blockRows + 260)
})

test('a block whose first row is another has another key', () => {
  const blocks = new Blocks(() => 1)
  const key = blocks.take(keysOf(1_000)).key(3)
  expect(blocks.take(['new', ...keysOf(1_000)]).key(3)).not.toBe(key)
  expect(blocks.take(keysOf(1_000)).key(3)).toBe(key)
})

test('the last rows stand each by itself: in a short transcript all of them', () => {
  const short = new Blocks(() => 1).take(keysOf(200))
  expect(items(short).some((item) => short.isBlock(item))).toBe(false)
  const long = new Blocks(() => 1).take(keysOf(20_000))
  expect(items(long).slice(-200).some((item) => long.isBlock(item))).toBe(false)
})

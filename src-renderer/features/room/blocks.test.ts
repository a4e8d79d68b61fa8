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
    expect(items(blocks).reduce((sum, item) => sum + blocks.height(item, () => undefined), 0)).toBe(rows)
  }))
})

test('an item names its rows and the one before them', () => {
  const keys = keysOf(300)
  const blocks = new Blocks(() => 1).take(keys)
  const named = items(blocks).map((item) => blocks.rowKeys(item))
  expect(named.flatMap(({ rows }) => rows)).toEqual(keys)
  expect(named.map(({ previousKey }) => previousKey)).toEqual([null, ...named.slice(0, -1).map(({ rows }) => rows.at(-1))])
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

test('rows that become a block are as high as they were measured, and as guessed where they were not', () => {
  const blocks = new Blocks(() => 10).take(keysOf(243))
  const measured = new Map([['k0', 101], ['k2', 7]])
  expect(blocks.isBlock(0)).toBe(false)
  expect(blocks.take(keysOf(244)).height(0, (key) => measured.get(key))).toBe(101 + 10 + 7 + 10)
})

test('the item of a row is the one whose rows have it, wherever it is looked for first', () => {
  fc.assert(fc.property(fc.integer({ min: 1, max: 3_000 }), fc.nat(), fc.nat(4_000), (rows, which, near) => {
    const blocks = new Blocks(() => 1).take(keysOf(rows))
    const row = which % rows
    const place = blocks.itemOf(`k${row.toString()}`, near)
    expect(place?.row).toBe(row)
    expect(blocks.rowKeys(place?.item ?? -1).rows).toContain(`k${row.toString()}`)
    expect(blocks.itemOf('none', near)).toBeNull()
  }))
})

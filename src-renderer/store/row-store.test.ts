import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EntryRow, HoldRow, Row, TaskRow } from '../../src-preload/contract/rows.ts'
import { RowStore } from './row-store.ts'

const entry = (key: string, order: number, taskId = 't1'): Row => ({ kind: 'entry', key, taskId, order, at: 0, author: 'host', turnId: null, body: { is: 'status', status: 'open', text: key } }) as unknown as EntryRow
const task = (taskId: string, createdAt: number): Row => ({ kind: 'task', key: `task:${taskId}`, taskId, createdAt }) as unknown as TaskRow
const hold = (id: string, order: number, outcome = 'waiting'): Row => ({ kind: 'hold', key: `hold:${id}`, approvalId: id, order, outcome }) as unknown as HoldRow

function started(...rows: Row[]): RowStore {
  const store = new RowStore()
  store.replace({ seq: 4, put: rows, drop: [] }, null, false)
  store.rebase(4)
  return store
}

describe('RowStore', () => {
  it('keeps a transcript in order, whatever order its rows come in', () => {
    const store = started(entry('b', 2), entry('a', 1))
    store.apply({ seq: 5, put: [entry('d', 4), entry('c', 3)], drop: [] })
    expect(store.entryKeys('t1')).toEqual(['a', 'b', 'c', 'd'])
  })

  it('keeps the order for any sequence of patches', () => {
    const rows = fc.record({ key: fc.integer({ min: 0, max: 12 }).map((n) => `k${n.toString()}`), order: fc.integer({ min: 0, max: 9 }) })
    fc.assert(
      fc.property(fc.array(fc.record({ put: fc.uniqueArray(rows, { selector: (row) => row.key, maxLength: 4 }), drop: fc.array(fc.integer({ min: 0, max: 12 }).map((n) => `k${n.toString()}`), { maxLength: 2 }) }), { maxLength: 20 }), (patches) => {
        const store = started()
        const model = new Map<string, number>()
        for (const [index, { put, drop }] of patches.entries()) {
          for (const key of drop) model.delete(key)
          for (const row of put) model.set(row.key, row.order)
          store.apply({ seq: 5 + index, put: put.map((row) => entry(row.key, row.order)), drop })
        }
        const expected = [...model].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1)).map(([key]) => key)
        expect(store.entryKeys('t1')).toEqual(expected)
      }),
    )
  })

  it('keeps the order of many rows that come, move and go at once', () => {
    const many = (from: number, step: number): Row[] => Array.from({ length: 300 }, (_, n) => entry(`k${(from + n).toString()}`, ((from + n) * step) % 1_009))
    const store = started(...many(0, 7))
    store.apply({ seq: 5, put: [...many(200, 11), entry('k7', 5_000), entry('k7', -1)], drop: many(50, 1).slice(0, 100).map(({ key }) => key) })
    const orders = store.entryKeys('t1').map((key) => store.entry(key)?.order ?? Number.NaN)
    expect(orders).toEqual([...orders].sort((a, b) => a - b))
    expect(new Set(store.entryKeys('t1'))).toEqual(new Set([...Array(500).keys()].filter((n) => n < 50 || n >= 150).map((n) => `k${n.toString()}`)))
  })

  it('lists a task’s model calls, and tells of them only', () => {
    const call = (key: string, order: number): Row => ({ ...entry(key, order), body: { is: 'call' } }) as unknown as EntryRow
    const store = started(entry('a', 1), call('c1', 2))
    let told = 0
    store.subscribeCalls('t1', () => (told += 1))
    store.apply({ seq: 5, put: [entry('b', 3)], drop: ['a'] })
    expect([told, store.callKeys('t1')]).toEqual([0, ['c1']])
    store.apply({ seq: 6, put: [call('c2', 1)], drop: [] })
    expect([told, store.callKeys('t1')]).toEqual([1, ['c2', 'c1']])
    store.apply({ seq: 7, put: [], drop: ['c1'] })
    expect([told, store.callKeys('t1')]).toEqual([2, ['c2']])
  })

  it('lists tasks newest first, and waiting holds oldest first', () => {
    const store = started(task('old', 1), task('new', 2), hold('h2', 9), hold('h1', 3), hold('done', 1, 'approved'))
    expect(store.taskKeys()).toEqual(['task:new', 'task:old'])
    expect(store.waitingHoldKeys()).toEqual(['hold:h1', 'hold:h2'])
  })

  it('takes a hold out of the queue when it is decided', () => {
    const store = started(hold('h1', 1), hold('h2', 2))
    store.apply({ seq: 5, put: [hold('h1', 1, 'approved')], drop: [] })
    expect(store.waitingHoldKeys()).toEqual(['hold:h2'])
  })

  it('tells the queue when main has it on record that a waiting hold was shown', () => {
    const store = started({ ...hold('h1', 1), shownAt: null } as Row)
    let told = 0
    store.subscribeHolds(() => (told += 1))
    store.apply({ seq: 5, put: [{ ...hold('h1', 1), shownAt: 7 } as Row], drop: [] })
    store.apply({ seq: 6, put: [{ ...hold('h1', 1), shownAt: 7 } as Row], drop: [] })
    expect(told).toBe(1)
  })

  it('tells the queue when the bytes of a waiting hold change under its id', () => {
    const store = started(hold('h1', 1))
    let told = 0
    store.subscribeHolds(() => (told += 1))
    store.apply({ seq: 5, put: [{ ...hold('h1', 1), digest: 'other' } as Row], drop: [] })
    expect(told).toBe(1)
  })

  it('refuses a patch behind a hole and changes nothing', () => {
    const store = started(entry('a', 1))
    expect(store.apply({ seq: 6, put: [entry('b', 2)], drop: [] })).toBe('gap')
    expect(store.entryKeys('t1')).toEqual(['a'])
    expect(store.seq).toBe(4)
  })

  it('drops a patch that it has already seen', () => {
    const store = started(entry('a', 1))
    expect(store.apply({ seq: 4, put: [entry('b', 2)], drop: [] })).toBe('stale')
    expect(store.entryKeys('t1')).toEqual(['a'])
  })

  it('takes nothing before its first snapshot', () => {
    expect(new RowStore().apply({ seq: 0, put: [entry('a', 1)], drop: [] })).toBe('gap')
  })

  it('redraws only the row that changed, and not the list around it', () => {
    const store = started(entry('a', 1), entry('b', 2))
    const told: string[] = []
    store.subscribeRow('a', () => told.push('a'))
    store.subscribeRow('b', () => told.push('b'))
    store.subscribeEntries('t1', () => told.push('list'))
    const list = store.entryKeys('t1')
    store.apply({ seq: 5, put: [entry('b', 2)], drop: [] })
    expect(told).toEqual(['b'])
    expect(store.entryKeys('t1')).toBe(list)
  })

  it('tells the list and the row when a row goes', () => {
    const store = started(entry('a', 1), entry('b', 2))
    const told: string[] = []
    store.subscribeRow('a', () => told.push('a'))
    store.subscribeEntries('t1', () => told.push('list'))
    store.apply({ seq: 5, put: [], drop: ['a', 'never-there'] })
    expect(told.sort()).toEqual(['a', 'list'])
    expect(store.entryKeys('t1')).toEqual(['b'])
    expect(store.entry('a')).toBeUndefined()
  })

  it('moves a row whose order changed', () => {
    const store = started(entry('a', 1), entry('b', 2))
    store.apply({ seq: 5, put: [entry('a', 3)], drop: [] })
    expect(store.entryKeys('t1')).toEqual(['b', 'a'])
  })

  it('replaces one transcript by its snapshot and leaves the rest alone', () => {
    const store = started(task('t1', 1), entry('a', 1), entry('x', 1, 't2'))
    store.replace({ seq: 5, put: [entry('b', 1)], drop: [] }, 't1' , false)
    expect(store.entryKeys('t1')).toEqual(['b'])
    expect(store.entryKeys('t2')).toEqual(['x'])
    expect(store.taskKeys()).toEqual(['task:t1'])
  })

  it('stops telling whoever unsubscribed', () => {
    const store = started(entry('a', 1))
    let told = 0
    const stop = store.subscribeRow('a', () => (told += 1))
    stop()
    store.apply({ seq: 5, put: [entry('a', 1)], drop: [] })
    expect(told).toBe(0)
  })
})

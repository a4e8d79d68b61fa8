import { describe, expect, it, vi } from 'vitest'
import type { Bridge } from '../../src-preload/contract/methods.ts'
import type { TaskId } from '../../src-preload/contract/ids.ts'
import type { EntryRow, Row, RowPatch, TaskRow } from '../../src-preload/contract/rows.ts'
import { RowSync } from './row-sync.ts'

const entry = (key: string, order: number, taskId = 't1'): Row => ({ kind: 'entry', key, taskId, order, body: { is: 'status' } }) as unknown as EntryRow
const task = (taskId: string): Row => ({ kind: 'task', key: `task:${taskId}`, taskId, createdAt: 0 }) as unknown as TaskRow

/** A main process of rows: it numbers patches, and can lose some on their way. */
class FakeMain {
  seq = 0
  snapshots = 0
  failing = false
  readonly rows = new Map<string, Row>()
  readonly lazy: boolean
  listener: (patch: RowPatch) => void = () => undefined
  beforeAnswer: () => void = () => undefined

  constructor(lazy: boolean) {
    this.lazy = lazy
  }

  readonly bridge = {
    call: (_method: string, input: { taskId: string | null }) => {
      this.snapshots += 1
      if (this.failing) return Promise.resolve({ ok: false, error: { code: 'unavailable', message: 'no', todo: 'wait' } })
      const put = [...this.rows.values()].filter((row) => (input.taskId === null ? !(this.lazy && row.kind === 'entry') : row.kind === 'entry' && row.taskId === input.taskId))
      const value = { seq: this.seq, put, drop: [] }
      this.beforeAnswer()
      return Promise.resolve({ ok: true, value })
    },
    onPatch: (listener: (patch: RowPatch) => void) => {
      this.listener = listener
      return () => undefined
    },
    onSignal: () => () => undefined,
  } as unknown as Bridge

  put(row: Row, options: { lost?: boolean } = {}): void {
    this.seq += 1
    this.rows.set(row.key, row)
    if (options.lost !== true) this.listener({ seq: this.seq, put: [row], drop: [] })
  }
}

const live = (sync: RowSync): Promise<void> => vi.waitFor(() => { expect(sync.state.at).toBe('live') })

describe.each([['everything at once', false], ['transcripts one by one', true]])('RowSync with a host that sends %s', (_how, lazy) => {
  it('shows what the snapshot holds, then follows', async () => {
    const main = new FakeMain(lazy)
    main.put(task('t1'), { lost: true })
    main.put(entry('a', 1), { lost: true })
    const sync = new RowSync(main.bridge)
    sync.watch('t1' as TaskId)
    await live(sync)
    main.put(entry('b', 2))
    expect(sync.rows.entryKeys('t1')).toEqual(['a', 'b'])
  })

  it('loses nothing that arrives while the snapshot is under way', async () => {
    const main = new FakeMain(lazy)
    main.put(entry('a', 1), { lost: true })
    main.beforeAnswer = () => {
      main.beforeAnswer = () => undefined
      main.put(entry('b', 2))
    }
    const sync = new RowSync(main.bridge)
    sync.watch('t1' as TaskId)
    await live(sync)
    expect(sync.rows.entryKeys('t1')).toEqual(['a', 'b'])
  })

  it('asks for a snapshot after a hole and ends with every row', async () => {
    const main = new FakeMain(lazy)
    main.put(entry('a', 1), { lost: true })
    const sync = new RowSync(main.bridge)
    sync.watch('t1' as TaskId)
    await live(sync)
    main.put(entry('b', 2), { lost: true })
    main.put(entry('c', 3))
    await vi.waitFor(() => { expect(sync.rows.entryKeys('t1')).toEqual(['a', 'b', 'c']) })
    expect(sync.rows.seq).toBe(main.seq)
  })

  it('says when it cannot get the rows, and recovers when asked', async () => {
    const main = new FakeMain(lazy)
    main.put(entry('a', 1), { lost: true })
    main.failing = true
    const sync = new RowSync(main.bridge)
    await vi.waitFor(() => { expect(sync.state.at).toBe('failed') })
    main.failing = false
    sync.watch('t1' as TaskId)
    sync.retry()
    await live(sync)
    expect(sync.rows.entryKeys('t1')).toEqual(['a'])
  })
})

it('gives up and says so when every snapshot is too old', async () => {
  const main = new FakeMain(false)
  main.beforeAnswer = () => {
    main.put(entry(`x${main.seq.toString()}`, main.seq), { lost: true })
    main.put(entry(`y${main.seq.toString()}`, main.seq))
  }
  const sync = new RowSync(main.bridge)
  await vi.waitFor(() => { expect(sync.state).toMatchObject({ at: 'failed', failure: { code: 'too-busy' } }) })
})

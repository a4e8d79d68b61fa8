import type { EntryRow, HoldRow, Row, RowPatch, TaskRow } from '../../src-preload/contract/rows.ts'

type Listener = () => void

/** What became of a patch: taken in, older than what is held, or a hole before it. */
export type PatchOutcome = 'applied' | 'stale' | 'gap'

/** What happened to a task's list of rows: keys that have to be put in their place, keys that stand in it no more, and whether a model call is among them. */
interface ListChange {
  readonly placed: Set<string>
  readonly removed: Set<string>
  calls: boolean
}

/** So many rows of one patch are put in their places one by one; of more, the whole list is sorted. */
const singlyMax = 64

const noKeys: readonly string[] = Object.freeze([])

/**
 * All rows of the room by key, with a subscription for each key and for each list, so that one changed row redraws one
 * component. Lists are arrays of keys; a list is a new array only when a row came, went or moved.
 */
export class RowStore {
  #seq = -1
  readonly #rows = new Map<string, Row>()
  readonly #entries = new Map<string, string[]>()
  readonly #calls = new Map<string, readonly string[]>()
  #tasks: readonly string[] = noKeys
  #holds: readonly string[] = noKeys
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #changed = new Set<string>()

  /** Number of the last patch taken in; -1 before the first snapshot. */
  get seq(): number {
    return this.#seq
  }

  row(key: string): Row | undefined {
    return this.#rows.get(key)
  }

  task(key: string): TaskRow | undefined {
    const row = this.#rows.get(key)
    return row?.kind === 'task' ? row : undefined
  }

  entry(key: string): EntryRow | undefined {
    const row = this.#rows.get(key)
    return row?.kind === 'entry' ? row : undefined
  }

  hold(key: string): HoldRow | undefined {
    const row = this.#rows.get(key)
    return row?.kind === 'hold' ? row : undefined
  }

  /** Keys of all tasks, newest first. */
  taskKeys(): readonly string[] {
    return this.#tasks
  }

  /** Keys of the holds that wait, oldest first. */
  waitingHoldKeys(): readonly string[] {
    return this.#holds
  }

  /** Keys of a task's transcript in order. */
  entryKeys(taskId: string): readonly string[] {
    return this.#entries.get(taskId) ?? noKeys
  }

  /** Keys of a task's model calls in order. */
  callKeys(taskId: string): readonly string[] {
    return this.#calls.get(taskId) ?? noKeys
  }

  /** Takes in one patch. `gap` and `stale` change nothing. */
  apply(patch: RowPatch): PatchOutcome {
    if (this.#seq < 0) return 'gap'
    if (patch.seq <= this.#seq) return 'stale'
    if (patch.seq !== this.#seq + 1) return 'gap'
    this.#seq = patch.seq
    this.#take(patch.put, patch.drop)
    this.#publish()
    return 'applied'
  }

  /**
   * Replaces rows by a snapshot: those of one task, or (`taskId` null) everything. With `keepEntries`, transcripts that
   * the snapshot does not hold stay: some hosts send them one task at a time.
   */
  replace(snapshot: RowPatch, taskId: string | null, keepEntries: boolean): void {
    const incoming = new Set(snapshot.put.map((row) => row.key))
    const gone: string[] = []
    for (const [key, row] of this.#rows) {
      if (incoming.has(key)) continue
      const covered = taskId === null ? !(keepEntries && row.kind === 'entry') : row.kind === 'entry' && row.taskId === taskId
      if (covered) gone.push(key)
    }
    this.#take(snapshot.put, gone)
    this.#publish()
  }

  /** Says from which patch on the store goes on; patches up to and with `seq` are in. */
  rebase(seq: number): void {
    this.#seq = seq
  }

  subscribeRow(key: string, listener: Listener): () => void {
    return this.#subscribe(`row ${key}`, listener)
  }

  subscribeTasks(listener: Listener): () => void {
    return this.#subscribe('tasks', listener)
  }

  subscribeHolds(listener: Listener): () => void {
    return this.#subscribe('holds', listener)
  }

  subscribeEntries(taskId: string, listener: Listener): () => void {
    return this.#subscribe(`entries ${taskId}`, listener)
  }

  subscribeCalls(taskId: string, listener: Listener): () => void {
    return this.#subscribe(`calls ${taskId}`, listener)
  }

  #subscribe(topic: string, listener: Listener): () => void {
    const set = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, set.add(listener))
    return () => {
      set.delete(listener)
      if (set.size === 0 && this.#listeners.get(topic) === set) this.#listeners.delete(topic)
    }
  }

  #take(put: readonly Row[], drop: readonly string[]): void {
    const changes = new Map<string, ListChange>()
    let tasksMoved = false
    let holdsMoved = false
    for (const key of drop) {
      const row = this.#rows.get(key)
      if (row === undefined) continue
      this.#rows.delete(key)
      this.#changed.add(`row ${key}`)
      if (row.kind === 'task') tasksMoved = true
      if (row.kind === 'hold') holdsMoved = true
      if (row.kind === 'entry') noteRemoved(row, changes)
    }
    for (const row of put) {
      const before = this.#rows.get(row.key)
      this.#rows.set(row.key, row)
      this.#changed.add(`row ${row.key}`)
      if (row.kind === 'task') tasksMoved ||= before?.kind !== 'task' || before.createdAt !== row.createdAt
      if (row.kind === 'hold') holdsMoved ||= before?.kind !== 'hold' || before.outcome !== row.outcome || before.order !== row.order || before.digest !== row.digest || before.holdKind !== row.holdKind || (before.shownAt === null) !== (row.shownAt === null)
      if (row.kind === 'entry') {
        if (before?.kind === 'entry' && before.order !== row.order) noteRemoved(before, changes)
        if (before?.kind !== 'entry' || before.order !== row.order) notePlaced(row, changes)
      }
    }
    if (tasksMoved) this.#sortTasks()
    if (holdsMoved) this.#sortHolds()
    for (const [taskId, change] of changes) this.#sortEntries(taskId, change)
  }

  #sortEntries(taskId: string, { placed, removed, calls }: ListChange): void {
    const before = (a: string, b: string): number => compareEntries(this.entry(a), this.entry(b))
    const old = this.#entries.get(taskId) ?? []
    // What moved is taken out by its key, since its order is another by now; nearly always it stands at the end.
    const all = old.slice()
    if (removed.size <= singlyMax) for (const key of removed) all.splice(all.lastIndexOf(key), 1)
    const kept = removed.size <= singlyMax ? all : all.filter((key) => !removed.has(key))
    if (placed.size <= singlyMax) for (const key of placed) kept.splice(placeOf(kept, key, before), 0, key)
    else kept.push(...placed)
    if (placed.size > singlyMax) kept.sort(before)
    this.#entries.set(taskId, kept)
    this.#changed.add(`entries ${taskId}`)
    if (!calls) return
    this.#calls.set(taskId, kept.filter((key) => this.entry(key)?.body.is === 'call'))
    this.#changed.add(`calls ${taskId}`)
  }

  #sortTasks(): void {
    const tasks = [...this.#rows.values()].filter((row) => row.kind === 'task')
    this.#tasks = tasks.sort((a, b) => b.createdAt - a.createdAt || compareText(a.key, b.key)).map((row) => row.key)
    this.#changed.add('tasks')
  }

  #sortHolds(): void {
    const holds = [...this.#rows.values()].filter((row) => row.kind === 'hold' && row.outcome === 'waiting') as HoldRow[]
    this.#holds = holds.sort((a, b) => a.order - b.order || compareText(a.key, b.key)).map((row) => row.key)
    this.#changed.add('holds')
  }

  #publish(): void {
    const topics = [...this.#changed]
    this.#changed.clear()
    for (const topic of topics) for (const listener of [...(this.#listeners.get(topic) ?? [])]) listener()
  }
}

function changeOf(taskId: string, changes: Map<string, ListChange>): ListChange {
  const known = changes.get(taskId)
  if (known !== undefined) return known
  const made: ListChange = { placed: new Set(), removed: new Set(), calls: false }
  changes.set(taskId, made)
  return made
}

/** A row that stood in the list goes, or has another place. One that came with this very patch does not stand in it yet. */
function noteRemoved(row: EntryRow, changes: Map<string, ListChange>): void {
  const change = changeOf(row.taskId, changes)
  if (!change.placed.delete(row.key)) change.removed.add(row.key)
  change.calls ||= row.body.is === 'call'
}

function notePlaced(row: EntryRow, changes: Map<string, ListChange>): void {
  const change = changeOf(row.taskId, changes)
  change.placed.add(row.key)
  change.calls ||= row.body.is === 'call'
}

/** Where a key belongs in a sorted list. Rows nearly always come at the end. */
function placeOf(sorted: readonly string[], key: string, before: (a: string, b: string) => number): number {
  let [low, high] = [0, sorted.length]
  const last = sorted.at(-1)
  if (last === undefined || before(last, key) <= 0) return sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (before(sorted[middle] ?? '', key) <= 0) low = middle + 1
    else high = middle
  }
  return low
}

function compareEntries(a: EntryRow | undefined, b: EntryRow | undefined): number {
  if (a === undefined || b === undefined) return 0
  return a.order - b.order || compareText(a.key, b.key)
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

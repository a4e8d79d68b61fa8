import type { EntryRow, HoldRow, Row, RowPatch, TaskRow } from '../../src-preload/contract/rows.ts'

type Listener = () => void

/** What became of a patch: taken in, older than what is held, or a hole before it. */
export type PatchOutcome = 'applied' | 'stale' | 'gap'

/** What happened to a task's list of rows: those that came, and whether one went or moved. */
interface ListChange {
  readonly added: string[]
  moved: boolean
}

const noKeys: readonly string[] = Object.freeze([])

/**
 * All rows of the room by key, with a subscription for each key and for each list, so that one changed row redraws one
 * component. Lists are arrays of keys; a list is a new array only when a row came, went or moved.
 */
export class RowStore {
  #seq = -1
  readonly #rows = new Map<string, Row>()
  readonly #entries = new Map<string, string[]>()
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
      if (row.kind === 'entry') changeOf(row.taskId, changes).moved = true
    }
    for (const row of put) {
      const before = this.#rows.get(row.key)
      this.#rows.set(row.key, row)
      this.#changed.add(`row ${row.key}`)
      if (row.kind === 'task') tasksMoved ||= before?.kind !== 'task' || before.createdAt !== row.createdAt
      if (row.kind === 'hold') holdsMoved ||= before?.kind !== 'hold' || before.outcome !== row.outcome || before.order !== row.order || before.digest !== row.digest || before.holdKind !== row.holdKind || (before.shownAt === null) !== (row.shownAt === null)
      if (row.kind === 'entry') {
        if (before?.kind !== 'entry') changeOf(row.taskId, changes).added.push(row.key)
        else if (before.order !== row.order) changeOf(row.taskId, changes).moved = true
      }
    }
    if (tasksMoved) this.#sortTasks()
    if (holdsMoved) this.#sortHolds()
    for (const [taskId, change] of changes) this.#sortEntries(taskId, change)
  }

  #sortEntries(taskId: string, { added, moved }: ListChange): void {
    const before = (a: string, b: string): number => compareEntries(this.entry(a), this.entry(b))
    const old = this.#entries.get(taskId) ?? []
    const fresh = added.filter((key) => this.entry(key)?.taskId === taskId).sort(before)
    const [first] = fresh
    const last = old.at(-1)
    // Rows nearly always come at the end; then nothing that is there already has to be looked at.
    const append = !moved && (first === undefined || last === undefined || before(last, first) <= 0)
    // A row that was dropped and put in one patch is in both.
    const all = append ? [...old, ...fresh] : [...new Set([...old, ...fresh])].filter((key) => this.entry(key)?.taskId === taskId).sort(before)
    this.#entries.set(taskId, all)
    this.#changed.add(`entries ${taskId}`)
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
  const made: ListChange = { added: [], moved: false }
  changes.set(taskId, made)
  return made
}

function compareEntries(a: EntryRow | undefined, b: EntryRow | undefined): number {
  if (a === undefined || b === undefined) return 0
  return a.order - b.order || compareText(a.key, b.key)
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

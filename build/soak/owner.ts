import { stubModels } from '../../e2e/models.ts'
import { limits } from '../../src-preload/contract/limits.ts'
import type { CommandId } from '../../src-preload/contract/ids.ts'
import type { Row, RowPatch } from '../../src-preload/contract/rows.ts'
import type { Random } from '../harness/random.ts'
import type { Life } from './life.ts'
import type { OwnersAct } from './moments.ts'

type TaskRow = Extract<Row, { kind: 'task' }>
type HoldRow = Extract<Row, { kind: 'hold' }>

const finished: ReadonlySet<TaskRow['status']> = new Set(['accepted', 'cancelled', 'failed'])

/** Lasts long enough to die in it. */
export const soakTestCommand = 'sleep 0.5'

/** One look: how many tasks have not come to their end, and all that the room shows of them. */
export interface Look { readonly open: number; readonly rows: readonly Row[] }

/**
 * The owner of the soak: opens tasks, decides what waits, chooses exits, through the window's own bridge. `ending`: begins nothing, and wants all
 * to end. `stopping`: stops a task sooner or later in this life. `acts` hears of what is about to be sent.
 */
export class SoakOwner {
  readonly #random: Random
  readonly #folder: string
  readonly #shown = new Map<string, number>()
  #clicks = 0
  /** A start waits for OpenCode's version, and the owner for nobody. */
  #beginning: Promise<void> | null = null
  ending = false
  stopping = false
  acts: (act: OwnersAct) => void = () => undefined

  constructor(random: Random, folder: string) {
    this.#random = random
    this.#folder = folder
  }

  /** One look at the room. Null when the app has ended. */
  async look(life: Life): Promise<Look | null> {
    const seen = await life.call('room.snapshot', { taskId: null })
    if (seen === null) return null
    if (!seen.ok) return { open: 1, rows: [] }
    const tasks = seen.value.put.filter((row) => row.kind === 'task').filter(({ status }) => !finished.has(status))
    const ids = new Set(tasks.map(({ taskId }) => taskId))
    const rows: Row[] = seen.value.put.filter((row) => ids.has(row.taskId))
    for (const taskId of ids) {
      const own = await life.call('room.snapshot', { taskId })
      if (own === null) return null
      if (own.ok) rows.push(...own.value.put.filter((row) => row.kind === 'entry'))
    }
    return { open: tasks.length, rows }
  }

  /** What the owner does about it. */
  async act(life: Life, { rows }: Look): Promise<void> {
    const tasks = rows.filter((row) => row.kind === 'task')
    if (!this.ending && this.#beginning === null && tasks.filter(({ status }) => status !== 'result-ready').length < limits.concurrentTasksMax) {
      this.#beginning = this.#begin(life)
      void this.#beginning.then(() => { this.#beginning = null })
    }
    for (const hold of rows) if (hold.kind === 'hold' && hold.outcome === 'waiting') await this.#decide(life, hold, tasks)
    for (const task of tasks) await this.#careFor(life, task, rows)
  }

  /** After the life's end. Throws with what went wrong while a task was begun. */
  async done(): Promise<void> {
    await this.#beginning
    this.#beginning = null
  }

  /** All rows of the room, with every task's own. Null when the app has ended. */
  async rows(life: Life): Promise<readonly Row[] | null> {
    const seen = await life.call('room.snapshot', { taskId: null })
    if (!seen?.ok) return null
    const patches: RowPatch[] = [seen.value]
    for (const row of seen.value.put) {
      if (row.kind !== 'task') continue
      const own = await life.call('room.snapshot', { taskId: row.taskId })
      if (!own?.ok) return null
      patches.push(own.value)
    }
    return patches.flatMap((patch) => patch.put)
  }

  #click(): CommandId {
    // Now and then the same click comes twice.
    if (this.#clicks === 0 || !this.#random.chance(0.05)) this.#clicks += 1
    return `soak-${String(this.#clicks)}` as CommandId
  }

  async #begin(life: Life): Promise<void> {
    const settings = await life.call('settings.get', {})
    if (settings?.ok !== true) return
    const { budget, grant } = settings.value.defaults
    const source = this.#random.chance(0.5) ? { kind: 'folder' as const, path: this.#folder, mounts: [] } : { kind: 'sample' as const }
    // No two tasks have the same words: what the provider is asked twice is then one turn that was sent twice.
    const commandId = this.#click()
    await life.call('task.create', { commandId, title: `A task of ${commandId}`, requirement: 'Do what the script says.', criteria: [], testCommand: soakTestCommand, source, models: stubModels, budget, grant, revisionOf: null })
  }

  async #decide(life: Life, hold: HoldRow, tasks: readonly TaskRow[]): Promise<void> {
    const { approvalId, digest } = hold
    const since = this.#shown.get(approvalId)
    if (since === undefined) {
      await life.call('approval.shown', { approvalId: approvalId, digest: digest })
      this.#shown.set(approvalId, performance.now())
      return
    }
    // No person is faster.
    if (performance.now() - since < limits.humanDecisionMs * 2) return
    const unverified = hold.holdKind === 'acceptance' && tasks.find(({ taskId }) => taskId === hold.taskId)?.result?.verified !== true
    const verdict = unverified || this.#random.chance(0.1) ? 'denied' as const : 'approved' as const
    if (verdict === 'approved' && hold.holdKind === 'acceptance') this.acts('result accepted')
    if (verdict === 'approved' && hold.holdKind === 'command') this.acts('command approved')
    await life.call('approval.decide', { commandId: this.#click(), approvalId: approvalId, digest: digest, verdict, reason: null })
  }

  async #careFor(life: Life, task: TaskRow, rows: readonly Row[]): Promise<void> {
    const { taskId } = task
    if (task.recovery !== null) {
      const exits = this.ending ? ['mark-done', 'mark-not-done'] as const : ['re-check', 're-check', 'resend', 'resend', 'resend', 'mark-done', 'mark-not-done'] as const
      if (!this.#random.chance(0.4)) return
      const exit = this.#random.pick(exits)
      if (exit === 'resend') this.acts('turn resent')
      await life.call('task.recover', { commandId: this.#click(), taskId: taskId, exit })
      return
    }
    const atWork = task.status === 'working' || task.status === 'blocked'
    if (this.#random.chance(this.ending ? 0.03 : this.stopping && atWork ? 0.05 : 0.003)) { await life.call('task.stop', { commandId: this.#click(), taskId: taskId }); return }
    if (task.waiting?.for !== 'input') return
    for (const row of rows) {
      if (row.kind !== 'entry' || row.taskId !== taskId || row.body.is !== 'question' || row.body.state !== 'asked-owner') continue
      await life.call('task.answer', { commandId: this.#click(), taskId: taskId, questionId: row.body.questionId, text: 'The second.' })
    }
  }
}

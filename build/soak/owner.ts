import { stubModels } from '../../e2e/models.ts'
import { limits } from '../../src-preload/contract/limits.ts'
import type { CommandId } from '../../src-preload/contract/ids.ts'
import type { Row, RowPatch } from '../../src-preload/contract/rows.ts'
import type { Random } from '../harness/random.ts'
import type { Life } from './life.ts'

type TaskRow = Extract<Row, { kind: 'task' }>
type HoldRow = Extract<Row, { kind: 'hold' }>

const finished: ReadonlySet<TaskRow['status']> = new Set(['accepted', 'cancelled', 'failed'])

/** The owner of the soak: opens tasks, decides what waits, chooses exits, through the window's own bridge. `ending`: begins nothing, and wants all to end. */
export class SoakOwner {
  readonly #random: Random
  readonly #folder: string
  readonly #shown = new Map<string, number>()
  #clicks = 0
  ending = false

  constructor(random: Random, folder: string) {
    this.#random = random
    this.#folder = folder
  }

  /** One look at the room and what follows from it. False when the app has ended. `open`: tasks that have not come to their end. */
  async look(life: Life): Promise<{ readonly open: number } | null> {
    const seen = await life.call('room.snapshot', { taskId: null })
    if (seen === null) return null
    if (!seen.ok) return { open: 1 }
    const tasks = seen.value.put.filter((row) => row.kind === 'task')
    const open = tasks.filter(({ status }) => !finished.has(status))
    const waiting = seen.value.put.filter((row) => row.kind === 'hold').filter(({ outcome }) => outcome === 'waiting')
    if (!this.ending && open.filter(({ status }) => status !== 'result-ready').length < limits.concurrentTasksMax) await this.#begin(life)
    for (const hold of waiting) await this.#decide(life, hold, tasks)
    for (const task of open) await this.#act(life, task)
    return { open: open.length }
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
    await life.call('task.create', { commandId, title: `A task of ${commandId}`, requirement: 'Do what the script says.', criteria: [], testCommand: 'true', source, models: stubModels, budget, grant, revisionOf: null })
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
    await life.call('approval.decide', { commandId: this.#click(), approvalId: approvalId, digest: digest, verdict, reason: null })
  }

  async #act(life: Life, task: TaskRow): Promise<void> {
    const { taskId } = task
    if (task.recovery !== null) {
      const exits = this.ending ? ['mark-done', 'mark-not-done'] as const : ['re-check', 're-check', 'resend', 'resend', 'mark-done', 'mark-not-done'] as const
      if (this.#random.chance(0.4)) await life.call('task.recover', { commandId: this.#click(), taskId: taskId, exit: this.#random.pick(exits) })
      return
    }
    if (this.#random.chance(this.ending ? 0.03 : 0.004)) { await life.call('task.stop', { commandId: this.#click(), taskId: taskId }); return }
    if (task.waiting === null) return
    const own = await life.call('room.snapshot', { taskId })
    if (own?.ok !== true) return
    for (const row of own.value.put) {
      if (row.kind !== 'entry' || row.taskId !== taskId || row.body.is !== 'question' || row.body.state !== 'asked-owner') continue
      await life.call('task.answer', { commandId: this.#click(), taskId: taskId, questionId: row.body.questionId, text: 'The second.' })
    }
  }
}

import type { ApprovalId, TaskId } from '../../src-preload/contract/ids.ts'
import { limits } from '../../src-preload/contract/limits.ts'
import type { TaskEvent } from '../core/task/events.ts'
import { waitingHolds, type TaskState } from '../core/task/model.ts'
import { deadlines } from '../core/task/rows/task-row.ts'
import type { HostCommand } from '../core/task/commands.ts'
import type { Dispatcher } from './dispatch.ts'
import type { Lanes } from './lanes.ts'
import type { Clock, Ids, Notifier, Timers } from './ports.ts'

export interface WatchDeps { readonly dispatcher: () => Dispatcher; readonly lanes: Lanes; readonly clock: Clock; readonly timers: Timers; readonly ids: Ids; readonly notifier: Notifier }

/** Watches the wall clock for tasks: deadlines of tasks and questions, and holds that were never drawn. */
export class Watch {
  readonly #deps: WatchDeps
  readonly #armed = new Map<TaskId, AbortController>()
  readonly #lifetime = new AbortController()
  #waitingHolds = 0

  constructor(deps: WatchDeps) {
    this.#deps = deps
  }

  /** Looks at a task after its state changed. */
  observe(state: TaskState, events: readonly TaskEvent[]): void {
    this.#arm(state)
    for (const event of events) if (event.type === 'hold-opened') this.#watchShown(state.taskId, event.hold.approvalId)
    const waiting = this.#deps.dispatcher().states().reduce((sum, each) => sum + waitingHolds(each).length, 0)
    if (waiting !== this.#waitingHolds) {
      this.#waitingHolds = waiting
      this.#deps.notifier.holdWaiting(waiting)
    }
  }

  /** Looks at a task of an earlier life: what waited then and was never drawn is watched anew. */
  resume(state: TaskState): void {
    this.observe(state, [])
    for (const record of waitingHolds(state)) if (record.shownAt === null) this.#watchShown(state.taskId, record.hold.approvalId)
  }

  close(): void {
    this.#lifetime.abort()
    for (const armed of this.#armed.values()) armed.abort()
  }

  #arm(state: TaskState): void {
    this.#armed.get(state.taskId)?.abort()
    const armed = new AbortController()
    this.#armed.set(state.taskId, armed)
    const { taskAt, question } = deadlines(state)
    const { clock, timers } = this.#deps
    if (taskAt !== null) timers.after(Math.max(0, taskAt - clock.now()), armed.signal, () => { this.#tell(state.taskId, { is: 'deadline-passed' }) })
    if (question !== null) timers.after(Math.max(0, question.at - clock.now()), armed.signal, () => { this.#tell(state.taskId, { is: 'question-expired', questionId: question.id }) })
  }

  #watchShown(taskId: TaskId, approvalId: ApprovalId): void {
    this.#deps.timers.after(limits.holdShownWithinMs, this.#lifetime.signal, () => {
      if (this.#waitsItsTurn(taskId, approvalId)) this.#watchShown(taskId, approvalId)
      else this.#tell(taskId, { is: 'hold-not-shown', approvalId })
    })
  }

  /** Cards are shown one after the other, over all tasks: one that stands behind a card on screen is late only when its turn has come. */
  #waitsItsTurn(taskId: TaskId, approvalId: ApprovalId): boolean {
    const waiting = this.#deps.dispatcher().states().flatMap((state) => waitingHolds(state)).filter(({ hold }) => hold.kind !== 'acceptance')
    const own = this.#deps.dispatcher().state(taskId)?.holds.get(approvalId)
    return own !== undefined && own.hold.kind !== 'acceptance' && waiting.some((record) => record.order < own.order && record.shownAt !== null)
  }

  #tell(taskId: TaskId, command: HostCommand): void {
    const commandId = this.#deps.ids.next('clock')
    this.#deps.lanes.take(taskId, () => {
      const recorded = this.#deps.dispatcher().record(taskId, command, { commandId, actor: 'clock' })
      return recorded.is === 'journal-refused' ? recorded.failure : null
    })
  }
}

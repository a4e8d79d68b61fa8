import type { Failure } from '../../src-preload/contract/failure.ts'
import type { TaskId } from '../../src-preload/contract/ids.ts'
import { limits } from '../../src-preload/contract/limits.ts'
import { rowKey } from '../../src-preload/contract/rows.ts'
import type { Clock, Timers } from './ports.ts'
import { refusalOf } from './refusal.ts'
import type { Room } from './room.ts'

/** One thing to record. Gives the journal's refusal, or null when it is done: recorded, or of no consequence. */
export type Step = () => Failure | null

export interface LanesDeps {
  readonly clock: Clock
  readonly timers: Timers
  readonly room: Room
  /** A lane is full: the task's run is ended, and the step says so in the journal once it takes anything again. */
  readonly overflow: (taskId: TaskId) => Step
  readonly log: (level: 'info' | 'error', msg: string, fields: Record<string, unknown>) => void
}

const againMs = 1_000
/** The notice of a refusing journal stands below everything else. */
const lastOrder = Number.MAX_SAFE_INTEGER

/**
 * What the host observed is not lost because the journal refuses (disk full, read-only): it waits, in order, and is tried again.
 * L1. Of one task nothing overtakes what waits. L2. A full lane ends the task's run; it does not grow. L3. The window says that it waits.
 */
export class Lanes {
  readonly #deps: LanesDeps
  readonly #waiting = new Map<TaskId, Step[]>()
  readonly #lifetime = new AbortController()

  constructor(deps: LanesDeps) {
    this.#deps = deps
  }

  /** Records now, or as soon as the journal takes it. */
  take(taskId: TaskId, step: Step): void {
    const waiting = this.#waiting.get(taskId)
    if (waiting === undefined) {
      const refused = this.#try(taskId, step)
      if (refused !== null) this.#wait(taskId, [step], refused)
    } else if (waiting.length < limits.laneQueueMax) waiting.push(step)
    else if (waiting.length === limits.laneQueueMax) waiting.push(this.#deps.overflow(taskId))
  }

  /** Tries what waits. Null when nothing does any more; else the journal's refusal, and nothing newer of this task may be recorded. */
  ready(taskId: TaskId): Failure | null {
    const waiting = this.#waiting.get(taskId)
    for (let step = waiting?.[0]; step !== undefined; step = waiting?.[0]) {
      const refused = this.#try(taskId, step)
      if (refused !== null) return refused
      waiting?.shift()
    }
    if (waiting !== undefined && this.#waiting.delete(taskId)) this.#deps.room.drop(taskId, rowKey.entry(taskId, 'journal-refuses'))
    return null
  }

  /** Nothing is tried again. What waits is found as an interruption at the next start. */
  close(): void {
    this.#lifetime.abort()
  }

  /** A step that throws is a bug: it is told, and does not hold up those behind it. */
  #try(taskId: TaskId, step: Step): Failure | null {
    try {
      return step()
    } catch (error) {
      const refused = refusalOf(error)
      if (refused === null) this.#deps.log('error', 'a step could not be recorded', { taskId, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
      return refused
    }
  }

  #wait(taskId: TaskId, steps: Step[], refused: Failure): void {
    this.#waiting.set(taskId, steps)
    this.#deps.room.put(taskId, [{
      kind: 'entry', key: rowKey.entry(taskId, 'journal-refuses'), taskId, order: lastOrder, at: this.#deps.clock.now(), author: 'host', turnId: null,
      body: { is: 'notice', level: 'error', text: `Nothing can be recorded, so nothing goes on: ${refused.message}`, todo: refused.todo },
    }])
    this.#later(taskId)
  }

  #later(taskId: TaskId): void {
    this.#deps.timers.after(againMs, this.#lifetime.signal, () => { if (this.ready(taskId) !== null) this.#later(taskId) })
  }
}

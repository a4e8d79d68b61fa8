import type { Digest, TaskId } from '../../src-preload/contract/ids.ts'
import type { HostCommand } from '../core/task/commands.ts'
import type { TaskState } from '../core/task/model.ts'
import type { Dispatcher } from './dispatch.ts'
import { compareResult } from './effects/workspace.ts'
import type { Lanes } from './lanes.ts'
import type { Ids, Workspace } from './ports.ts'

export interface EarlierResultsDeps { readonly dispatcher: Dispatcher; readonly lanes: Lanes; readonly workspace: Workspace; readonly ids: Ids; readonly signal: AbortSignal; readonly log: (level: 'info' | 'error', msg: string, fields: Record<string, unknown>) => void }

/**
 * R6. While the app was down the files of a result that waits may have been changed, or put back from an older copy. Reading them takes its time, so
 * each is compared once, when its task is first opened, and none before a start lets it; and whenever they are read anyway.
 */
export class EarlierResults {
  readonly #deps: EarlierResultsDeps
  readonly #unseen = new Set<TaskId>()
  readonly #opened = new Set<TaskId>()
  #begun = false

  constructor(deps: EarlierResultsDeps) {
    this.#deps = deps
  }

  /** What an earlier life left. */
  remember(states: readonly TaskState[]): void {
    for (const state of states) if (state.phase === 'acceptance-waits') this.#unseen.add(state.taskId)
  }

  /** The owner opens a task. */
  open(taskId: TaskId): void {
    this.#opened.add(taskId)
    if (this.#begun) this.#look(taskId)
  }

  /** From now on looks may be taken; those of tasks that were opened before are. */
  begin(): void {
    this.#begun = true
    for (const taskId of this.#opened) this.#look(taskId)
  }

  /** The files of a task's result were read for the owner: what was found is recorded where it is not the result. */
  read(taskId: TaskId, found: Digest): void {
    const state = this.#deps.dispatcher.state(taskId)
    if (state?.phase !== 'acceptance-waits' || state.evidence === null || state.evidence.treeDigest === found) return
    this.#record(taskId, { is: 'result-compared', expected: state.evidence.treeDigest, found, why: null, asked: false })
  }

  #look(taskId: TaskId): void {
    const { dispatcher, workspace, signal, log } = this.#deps
    const state = dispatcher.state(taskId)
    if (!this.#unseen.delete(taskId) || state?.phase !== 'acceptance-waits' || state.evidence === null) return
    compareResult(workspace, taskId, state.evidence.treeDigest, false, signal).then((compared) => {
      if (compared !== null && !signal.aborted) this.#record(taskId, compared)
    }, (error: unknown) => { log('error', 'a result could not be compared with its files', { taskId, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }) })
  }

  #record(taskId: TaskId, compared: Extract<HostCommand, { is: 'result-compared' }>): void {
    const commandId = this.#deps.ids.next('compared')
    this.#deps.lanes.take(taskId, () => {
      const recorded = this.#deps.dispatcher.record(taskId, compared, { commandId, actor: 'host' })
      return recorded.is === 'journal-refused' ? recorded.failure : null
    })
  }
}

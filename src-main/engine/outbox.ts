import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import type { TaskId } from '../../src-preload/contract/ids.ts'
import type { Result } from '../../src-preload/contract/result.ts'
import type { HostCommand } from '../core/task/commands.ts'
import type { Effect, EffectKind } from '../core/task/effects.ts'
import type { Dispatcher, EffectPayload } from './dispatch.ts'
import { failpoint, type Failing } from './failpoints.ts'
import type { Lanes } from './lanes.ts'
import type { Clock, EffectRecord, Journal } from './ports.ts'

/** Runs one effect against the outside and says what was observed. Null: done, nothing to tell. */
export type EffectHandler<K extends EffectKind> = (taskId: TaskId, effect: Extract<Effect, { kind: K }>) => Promise<Result<HostCommand | null, Failure>>
export type EffectHandlers = { readonly [K in EffectKind]: EffectHandler<K> }
type Outcome = Awaited<ReturnType<EffectHandler<EffectKind>>>

export interface OutboxDeps extends Failing {
  readonly journal: Journal
  readonly clock: Clock
  readonly dispatcher: Dispatcher
  readonly lanes: Lanes
  readonly handlers: EffectHandlers
  readonly log: (level: 'info' | 'error', msg: string, fields: Record<string, unknown>) => void
}

/** Outcomes of these count whatever generation they were decided in: they are about ending. */
const ofAnyGeneration: ReadonlySet<EffectKind> = new Set(['coder.stop', 'workspace.dispose'])
/** These hold processes or folders of the task: a stop is observed only after they have let go. */
const holdsProcesses: ReadonlySet<EffectKind> = new Set(['workspace.prepare', 'coder.start', 'evidence.collect', 'verify.run'])

/**
 * Runs effects after their commit. O1. `started` is written before the outside is touched. O2. The outcome's command settles the
 * effect in its own transaction. O3. An effect runs at most once in one life of the app; what a restart does with it is `afterRestart`'s.
 * O4. A quit is like a crash: what an effect says that was cut off by it is not what happened to it, and is not recorded.
 */
export class Outbox {
  readonly #deps: OutboxDeps
  readonly #running = new Map<string, Promise<void>>()
  readonly #calls = new Map<string, { readonly taskId: TaskId; readonly kind: EffectKind; readonly over: Promise<unknown> }>()
  #closed = false

  constructor(deps: OutboxDeps) {
    this.#deps = deps
  }

  /** Takes committed effects. They start at once, beside each other: their order is that of the decisions. */
  take(records: readonly EffectRecord[]): void {
    for (const record of records) this.#take(record, false)
  }

  /** Runs an effect that an earlier life of the app may have started: only for kinds that are safe to repeat. */
  takeAgain(record: EffectRecord): void {
    this.#take(record, true)
  }

  /** Resolves when nothing that was begun for this task holds a process or a folder any more. Aborting it is the caller's. */
  async quiet(taskId: TaskId): Promise<void> {
    await Promise.allSettled([...this.#calls.values()].filter((call) => call.taskId === taskId && holdsProcesses.has(call.kind)).map((call) => call.over))
  }

  /** No effect starts any more, and no outcome is recorded. Resolves when those that run have ended. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled([...this.#calls.values()].map((call) => call.over))
  }

  /** Asked anew after each wait. */
  #open(): boolean {
    return !this.#closed
  }

  #take(record: EffectRecord, again: boolean): void {
    if (this.#closed || this.#running.has(record.id)) return
    const run = this.#run(record, again)
      .catch((error: unknown) => { this.#deps.log('error', 'an effect could not be run', { taskId: record.stream, effect: record.kind, error: words(error) }) })
      .finally(() => { this.#running.delete(record.id) })
    this.#running.set(record.id, run)
  }

  async #run(record: EffectRecord, again: boolean): Promise<void> {
    const taskId = record.stream as TaskId
    const { effect } = record.payload as EffectPayload
    if (!await this.#begin(record, again) || !this.#open()) return
    if (this.#stale(record)) { this.#deps.lanes.take(taskId, () => this.#end(record, 'retired')); return }
    failpoint(this.#deps, `${effect.kind}:before`)
    const call = this.#call(taskId, effect)
    this.#calls.set(record.id, { taskId, kind: effect.kind, over: call })
    const outcome = await call.finally(() => { this.#calls.delete(record.id) })
    failpoint(this.#deps, `${effect.kind}:after`)
    if (this.#open()) this.#deps.lanes.take(taskId, () => this.#settle(record, outcome))
  }

  /** Resolves to true when `started` is written: at once, or when the journal takes it again. */
  #begin(record: EffectRecord, again: boolean): Promise<boolean> {
    const { journal, clock, lanes } = this.#deps
    return new Promise((begun) => { lanes.take(record.stream as TaskId, () => { begun(journal.startEffect(record.id, clock.now()) || again); return null }) })
  }

  #stale(record: EffectRecord): boolean {
    const { effect, generation } = record.payload as EffectPayload
    const state = this.#deps.dispatcher.state(record.stream as TaskId)
    return state !== undefined && state.generation !== generation && !ofAnyGeneration.has(effect.kind)
  }

  #end(record: EffectRecord, state: 'done' | 'retired'): null {
    this.#deps.journal.endEffect(record.id, state, this.#deps.clock.now())
    return null
  }

  /** O6. What was retired while it ran says nothing any more: the process or turn that it speaks of may have been replaced since. */
  #settle(record: EffectRecord, outcome: Outcome): Failure | null {
    const { effect } = record.payload as EffectPayload
    if (!this.#deps.journal.openEffects().some((open) => open.id === record.id)) return null
    if (this.#stale(record)) return this.#end(record, 'retired')
    if (outcome.ok && outcome.value === null) return this.#end(record, 'done')
    const command = outcome.ok && outcome.value !== null ? outcome.value : failed(effect, outcome.ok ? brokeOff(effect) : outcome.error)
    failpoint(this.#deps, 'receipt:before')
    const refused = this.#tell(record, command, 'outcome')
    failpoint(this.#deps, 'receipt:after')
    if (refused.is === 'journal-refused') return refused.failure
    if (refused.is === 'taken') return null
    // O5. An outcome that the task cannot take still ends the effect: no phase waits for it.
    const told = this.#tell(record, failed(effect, refused.failure), 'refused')
    if (told.is === 'journal-refused') return told.failure
    return told.is === 'taken' ? null : this.#end(record, 'done')
  }

  #tell(record: EffectRecord, command: HostCommand, as: 'outcome' | 'refused'): { readonly is: 'taken' } | { readonly is: 'journal-refused' | 'refused'; readonly failure: Failure } {
    const { dispatcher, log } = this.#deps
    const { effect } = record.payload as EffectPayload
    const fields = { taskId: record.stream, effect: effect.kind, command: command.is }
    try {
      const recorded = dispatcher.record(record.stream as TaskId, command, { commandId: `${record.id}:${as}`, actor: 'host', settles: [record.id] })
      if (recorded.is === 'journal-refused') return recorded
      if (recorded.result.ok) return { is: 'taken' }
      log('error', 'an effect\'s outcome was refused', { ...fields, code: recorded.result.error.code })
      return { is: 'refused', failure: recorded.result.error }
    } catch (error) {
      log('error', 'an effect\'s outcome could not be decided', { ...fields, error: words(error) })
      return { is: 'refused', failure: brokeOff(effect) }
    }
  }

  async #call(taskId: TaskId, effect: Effect): Promise<Outcome> {
    const handler = this.#deps.handlers[effect.kind] as EffectHandler<EffectKind>
    try {
      return await handler(taskId, effect)
    } catch (error) {
      // A bug of an adapter must not leave the task waiting for ever: it is told, and logged with its stack.
      this.#deps.log('error', 'an effect threw', { taskId, effect: effect.kind, error: words(error) })
      return { ok: false, error: brokeOff(effect) }
    }
  }
}

function failed(effect: Effect, because: Failure): HostCommand {
  return { is: 'effect-failed', effect: effect.kind, failure: because, ...(effect.kind === 'coder.answerPermission' ? { permissionId: effect.permissionId } : {}) }
}

/** Only an apply touches the owner's folder, and one that broke off does not say how far it came. */
function brokeOff(effect: Effect): Failure {
  const folder = effect.kind === 'workspace.apply' ? 'Check again: that looks at your folder and says whether the result is in it.' : 'Start the task again; nothing was applied to your folder.'
  return failure('internal', `Something went wrong inside the app (${effect.kind}).`, `The log has the details. ${folder}`)
}

function words(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

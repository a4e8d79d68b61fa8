import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import type { TaskId } from '../../src-preload/contract/ids.ts'
import type { Result } from '../../src-preload/contract/result.ts'
import type { HostCommand } from '../core/task/commands.ts'
import type { Effect, EffectKind } from '../core/task/effects.ts'
import type { Dispatcher, EffectPayload } from './dispatch.ts'
import type { Clock, EffectRecord, Journal } from './ports.ts'

/** Runs one effect against the outside and says what was observed. Null: done, nothing to tell. */
export type EffectHandler<K extends EffectKind> = (taskId: TaskId, effect: Extract<Effect, { kind: K }>) => Promise<Result<HostCommand | null, Failure>>
export type EffectHandlers = { readonly [K in EffectKind]: EffectHandler<K> }

export interface OutboxDeps {
  readonly journal: Journal
  readonly clock: Clock
  readonly dispatcher: Dispatcher
  readonly handlers: EffectHandlers
  readonly log: (level: 'info' | 'error', msg: string, fields: Record<string, unknown>) => void
}

/** Outcomes of these count whatever generation they were decided in: they are about ending. */
const ofAnyGeneration: ReadonlySet<EffectKind> = new Set(['coder.stop', 'workspace.dispose'])

/**
 * Runs effects after their commit. O1. `started` is written before the outside is touched. O2. The outcome's command settles the
 * effect in its own transaction. O3. An effect runs at most once in one life of the app; what a restart does with it is `afterRestart`'s.
 */
export class Outbox {
  readonly #deps: OutboxDeps
  readonly #running = new Map<string, Promise<void>>()
  #closed = false

  constructor(deps: OutboxDeps) {
    this.#deps = deps
  }

  /** Takes committed effects. They start at once, beside each other: their order is that of the decisions. */
  take(records: readonly EffectRecord[]): void {
    for (const record of records) {
      if (this.#closed || this.#running.has(record.id)) continue
      this.#running.set(record.id, this.#run(record).finally(() => { this.#running.delete(record.id) }))
    }
  }

  /** Runs an effect that an earlier life of the app may have started: only for kinds that are safe to repeat. */
  takeAgain(record: EffectRecord): void {
    if (this.#closed || this.#running.has(record.id)) return
    this.#running.set(record.id, this.#run(record, true).finally(() => { this.#running.delete(record.id) }))
  }

  /** No effect starts any more. Resolves when those that run have ended. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#running.values())
  }

  async #run(record: EffectRecord, again = false): Promise<void> {
    const { journal, clock, dispatcher, log } = this.#deps
    const taskId = record.stream as TaskId
    const { effect, generation } = record.payload as EffectPayload
    if (!journal.startEffect(record.id, clock.now()) && !again) return
    const outcome = await this.#call(taskId, effect)
    const state = dispatcher.state(taskId)
    if (state !== undefined && state.generation !== generation && !ofAnyGeneration.has(effect.kind)) {
      journal.endEffect(record.id, 'retired', clock.now())
      return
    }
    const command: HostCommand | null = outcome.ok ? outcome.value : { is: 'effect-failed', effect: effect.kind, failure: outcome.error }
    if (command === null) { journal.endEffect(record.id, 'done', clock.now()); return }
    const dispatched = dispatcher.dispatch(taskId, command, { commandId: `${record.id}:outcome`, actor: 'host', settles: [record.id] })
    if (!dispatched.ok) log('error', 'an effect\'s outcome was refused', { taskId, effect: effect.kind, code: dispatched.error.code })
  }

  async #call(taskId: TaskId, effect: Effect): Promise<Result<HostCommand | null, Failure>> {
    const handler = this.#deps.handlers[effect.kind] as EffectHandler<EffectKind>
    try {
      return await handler(taskId, effect)
    } catch (error) {
      // A bug of an adapter must not leave the task waiting for ever: it is told, and logged with its stack.
      this.#deps.log('error', 'an effect threw', { taskId, effect: effect.kind, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
      return { ok: false, error: failure('internal', `Something went wrong inside the app (${effect.kind}).`, 'The log has the details. Start the task again; nothing was applied to your folder.') }
    }
  }
}

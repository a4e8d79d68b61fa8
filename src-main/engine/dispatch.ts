import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import type { TaskId } from '../../src-preload/contract/ids.ts'
import type { Row } from '../../src-preload/contract/rows.ts'
import { err, ok, type Result } from '../../src-preload/contract/result.ts'
import { digestOfText } from '../core/digest.ts'
import type { TaskCommand } from '../core/task/commands.ts'
import { decide } from '../core/task/decide.ts'
import type { Effect } from '../core/task/effects.ts'
import type { TaskEvent } from '../core/task/events.ts'
import { evolve, opened } from '../core/task/evolve.ts'
import { isFinished, type TaskState } from '../core/task/model.ts'
import { entriesOf, holdsOf, project } from '../core/task/rows/project.ts'
import { taskRow, type LiveFacts } from '../core/task/rows/task-row.ts'
import type { Coder, EffectRecord, Journal, StoredEvent } from './ports.ts'
import { contentDigestOf } from './content-digest.ts'
import { refusalOf } from './refusal.ts'
import type { Room } from './room.ts'
import type { SteadyClock } from './steady-clock.ts'

/** Who gives a command, under which id, and which effect's outcome it reports. */
export interface CommandMeta { readonly commandId: string; readonly actor: string; readonly settles?: readonly string[] }
/** What a command led to. `duplicate`: it was committed before, nothing happened now. */
export interface Dispatched { readonly events: readonly TaskEvent[]; readonly duplicate: boolean }
/** `journal-refused`: decided, but nothing could be written and nothing changed; the same command may be given again. */
export type Recorded = { readonly is: 'taken'; readonly result: Result<Dispatched, Failure> } | { readonly is: 'journal-refused'; readonly failure: Failure }
/** An effect as it is kept in the journal: the generation at its decision decides whether its outcome still counts. */
export interface EffectPayload { readonly effect: Effect; readonly generation: number }

export interface DispatcherDeps {
  readonly journal: Journal
  readonly clock: SteadyClock
  readonly coder: Pick<Coder, 'mintIds'>
  readonly room: Room
  readonly live: (taskId: TaskId) => LiveFacts
  /** Called after each commit, in the same lane: effects may run now, deadlines may have moved. */
  readonly committed: (state: TaskState, events: readonly TaskEvent[], effects: readonly EffectRecord[]) => void
}

/**
 * The one way in: receipt? decide, commit, evolve, project. It is synchronous, so each task's lane is the call itself:
 * D1. No command sees a state that another one is changing. D2. Nothing is shown or run that was not committed.
 */
export class Dispatcher {
  readonly #deps: DispatcherDeps
  readonly #states = new Map<TaskId, TaskState>()

  constructor(deps: DispatcherDeps) {
    this.#deps = deps
  }

  state(taskId: TaskId): TaskState | undefined {
    return this.#states.get(taskId)
  }

  states(): readonly TaskState[] {
    return [...this.#states.values()]
  }

  /** Folds a stream's history and draws its rows; those of a finished task's transcript when somebody wants them. Returns false for a stream that is no task. */
  load(stream: string): boolean {
    const taskId = stream as TaskId
    const { room } = this.#deps
    const holds = new Map<string, Row>()
    const state = this.#replay(stream, (after, event) => { for (const row of holdsOf(after, event)) holds.set(row.key, row) })
    if (state === null) return false
    this.#states.set(taskId, state)
    room.put(taskId, [...holds.values(), taskRow(state, this.#deps.live(taskId))])
    room.leave(taskId, () => this.#entries(stream))
    if (!isFinished(state.status)) room.fetch(taskId)
    return true
  }

  /** A transcript as the journal has it now. */
  #entries(stream: string): readonly Row[] {
    const rows = new Map<string, Row>()
    this.#replay(stream, (state, event, { at, seq }) => { for (const row of entriesOf(state, event, { at, order: seq, get: (key) => rows.get(key) })) rows.set(row.key, row) })
    return [...rows.values()]
  }

  /** Folds what the journal holds of a stream. Null for a stream that is no task. */
  #replay(stream: string, each: (state: TaskState, event: TaskEvent, stored: StoredEvent) => void): TaskState | null {
    let state: TaskState | null = null
    for (const stored of this.#deps.journal.read(stream)) {
      const event = stored.payload as TaskEvent
      if (state === null) {
        if (event.type !== 'task-opened') return null
        state = opened(event, stored.at)
      } else state = evolve(state, event, stored.at, stored.seq)
      this.#deps.clock.atLeast(stored.at)
      each(state, event, stored)
    }
    return state
  }

  /** Gives one command. Refusals are values; a failing journal is a refusal with what to do. */
  dispatch(taskId: TaskId, command: TaskCommand, meta: CommandMeta): Result<Dispatched, Failure> {
    const recorded = this.record(taskId, command, meta)
    return recorded.is === 'taken' ? recorded.result : err(recorded.failure)
  }

  /** As `dispatch`, and tells a journal that refuses, also to be read, from a refusal of the task. */
  record(taskId: TaskId, command: TaskCommand, meta: CommandMeta): Recorded {
    try {
      return this.#record(taskId, command, meta)
    } catch (error) {
      const refused = refusalOf(error)
      if (refused === null) throw error
      return { is: 'journal-refused', failure: refused }
    }
  }

  #record(taskId: TaskId, command: TaskCommand, meta: CommandMeta): Recorded {
    const { journal, clock } = this.#deps
    const contentDigest = contentDigestOf(taskId, command)
    const receipt = journal.receiptOf(meta.commandId)
    if (receipt !== null) return taken(receipt.contentDigest === null || receipt.contentDigest === contentDigest ? again : otherContent)
    const state = this.#states.get(taskId) ?? null
    const now = clock.now()
    let minted = 0
    const decision = decide(state, command, {
      now, commandId: meta.commandId,
      mint: (prefix) => { minted += 1; return `${prefix}_${digestOfText(`${meta.commandId}#${String(minted)}`).slice(7, 31)}` },
      messageIds: () => this.#deps.coder.mintIds(now),
    })
    if (!decision.ok) return taken(decision)
    const { events, effects, retire } = decision.value
    const settles = meta.settles ?? []
    if (events.length === 0 && effects.length === 0 && settles.length === 0) return taken(ok({ events: [], duplicate: false }))
    const open = retire === 'all' || retire.length > 0 ? journal.openEffects().filter((effect) => effect.stream === taskId && !settles.includes(effect.id)) : []
    const retires = open.filter((effect) => retire === 'all' || (retire as readonly string[]).includes(effect.kind)).map((effect) => effect.id)
    this.#deps.room.fetch(taskId)
    const generation = generationAfter(state, events)
    const records: EffectRecord[] = effects.map((effect, index) => ({ id: `eff_${digestOfText(`${meta.commandId}!${String(index)}`).slice(7, 31)}`, stream: taskId, kind: effect.kind, payload: { effect, generation } satisfies EffectPayload, state: 'pending', attempts: 0, commandId: meta.commandId }))
    const outcome = journal.commit({ stream: taskId, commandId: meta.commandId, contentDigest, actor: decidedBy(events) ?? meta.actor, at: now, expectedVersion: state?.version ?? 0, events: events.map((event) => ({ type: event.type, payload: event })), effects: records, settles, retires })
    if (outcome.is === 'duplicate') return taken(again)
    if (outcome.is === 'other-content') return taken(otherContent)
    if (outcome.is === 'failed') return { is: 'journal-refused', failure: outcome.failure }
    if (outcome.is === 'conflict') return taken(err(failure('conflict', 'The journal has newer facts of this task than the app.', 'Restart the app; nothing was lost.')))
    this.#fold(taskId, state, outcome.stored, records)
    return taken(ok({ events, duplicate: false }))
  }

  /** Puts the task's own row again, after something live about it changed. */
  touch(taskId: TaskId): void {
    const state = this.#states.get(taskId)
    if (state !== undefined) this.#deps.room.put(taskId, [taskRow(state, this.#deps.live(taskId))])
  }

  /** Folds what the journal holds, not what was handed to it: a restart then sees the same. */
  #fold(taskId: TaskId, before: TaskState | null, stored: readonly StoredEvent[], records: readonly EffectRecord[]): void {
    let state = before
    const { room } = this.#deps
    for (const { payload, at, seq } of stored) {
      const event = payload as TaskEvent
      if (state === null) {
        if (event.type !== 'task-opened') throw new Error('a task begins with task-opened')
        state = opened(event, at)
      } else state = evolve(state, event, at, seq)
      room.put(taskId, project(state, event, { at, order: seq, get: (key) => room.get(taskId, key) }))
    }
    if (state === null) return
    this.#states.set(taskId, state)
    room.put(taskId, [taskRow(state, this.#deps.live(taskId))])
    this.#deps.committed(state, stored.map(({ payload }) => payload as TaskEvent), records)
  }
}

const again: Result<Dispatched, Failure> = ok({ events: [], duplicate: true })
/** D3. The same id with other content is a conflict: never a new execution, and never told as done. */
export const otherContent: Result<never, Failure> = err(failure('conflict', 'Something else was recorded under the id of this click.', 'Nothing happened now. Look at the room, then do it again.'))

function taken(result: Result<Dispatched, Failure>): Recorded {
  return { is: 'taken', result }
}

/** A decision that a standing grant makes is that grant's, not the host's. */
function decidedBy(events: readonly TaskEvent[]): string | null {
  const ruled = events.find((event) => event.type === 'permission-ruled' && event.grantId !== undefined)
  return ruled?.type === 'permission-ruled' && ruled.grantId !== undefined ? `grant:${ruled.grantId}` : null
}

function generationAfter(state: TaskState | null, events: readonly TaskEvent[]): number {
  const cancelled = events.find((event) => event.type === 'cancel-requested')
  return cancelled?.type === 'cancel-requested' ? cancelled.generation : (state?.generation ?? 1)
}

import { failure } from '../../../src-preload/contract/failure.ts'
import type { Failpoint } from '../../engine/failpoints.ts'
import type { Commit, Journal, Timers, Workspace } from '../../engine/ports.ts'
import { RefusedWrite } from './memory-journal.ts'

/** What happens at a failpoint: the life ends there, or, before a write, the disk refuses it. */
export type Blow = 'end' | 'refuse' | null

/** One life of the app: once over, nothing of it reaches the journal or the clock any more, as after a SIGKILL. */
export interface Life {
  readonly alive: boolean
  end(): void
}

/** Thrown at everything that a dead life still tries. */
export class DeadLife extends Error {
  constructor() {
    super('this life of the app is over')
  }
}

/** A life that passes failpoints. `pass` gives false where the disk refuses; after a write it cannot refuse any more. */
export interface MortalLife extends Life { pass(point: Failpoint): boolean }

/** `at` is asked at every failpoint, with how many were passed before. */
export function createLife(at: (point: Failpoint, passed: number) => Blow = () => null): MortalLife {
  let alive = true
  let passed = 0
  return {
    get alive() { return alive },
    end: () => { alive = false },
    pass: (point) => {
      const blow = alive ? at(point, passed) : null
      if (blow === 'end') alive = false
      passed += 1
      if (!alive) throw new DeadLife()
      return blow !== 'refuse'
    },
  }
}

const diskFull = failure('disk-full', 'The disk that holds the journal is full.', 'Free some space on it and try again.')

/** The journal as one life sees it. Its failpoints are those of the real journal; what dies inside a commit leaves nothing of it. */
export function mortalJournal(journal: Journal, life: MortalLife): Journal {
  const living = <T>(read: () => T): T => { if (!life.alive) throw new DeadLife(); return read() }
  const written = <T>(kind: 'commit' | 'start' | 'end', write: () => T, refused: () => T): T => {
    if (!life.pass(`${kind}:before`)) return refused()
    if (kind === 'commit') life.pass('commit:inside')
    const done = write()
    life.pass(`${kind}:after`)
    return done
  }
  const refuse = (): never => { throw new RefusedWrite(diskFull) }
  return {
    commit: (commit: Commit) => written('commit', () => journal.commit(commit), () => ({ is: 'failed', failure: diskFull })),
    startEffect: (id, at) => written('start', () => journal.startEffect(id, at), refuse),
    endEffect: (id, state, at) => { written('end', () => { journal.endEffect(id, state, at) }, refuse) },
    receiptOf: (commandId) => living(() => journal.receiptOf(commandId)),
    streams: () => living(() => journal.streams()),
    read: (stream, fromVersion) => living(() => journal.read(stream, fromVersion)),
    openEffects: () => living(() => journal.openEffects()),
  }
}

/**
 * The folders as one life sees them, with the failpoints of the real ones: an apply that dies before its first step is taken back by whoever
 * looks next, one that dies later is finished; a disposal counts once it is on record.
 */
export function mortalWorkspace(workspace: Workspace & { readonly applyRefusal: string | null }, life: MortalLife): Workspace {
  return {
    ...workspace,
    apply: async (taskId, expected) => {
      if (workspace.applyRefusal === null) for (const point of ['apply:intent-written', 'apply:staged-one'] as const) life.pass(point)
      const applied = await workspace.apply(taskId, expected)
      if (applied.ok) for (const point of ['apply:before-step', 'apply:step-done', 'apply:steps-done', 'apply:settled-one'] as const) life.pass(point)
      return applied
    },
    dispose: async (taskId) => {
      for (const point of ['dispose:before', 'dispose:snapshot-kept'] as const) life.pass(point)
      const disposed = await workspace.dispose(taskId)
      for (const point of ['dispose:recorded', 'dispose:after'] as const) life.pass(point)
      return disposed
    },
  }
}

/** Timers of one life: what was armed is forgotten with it. */
export function mortalTimers(timers: Timers, life: Life): Timers {
  return { after: (ms, signal, run) => { timers.after(ms, signal, () => { if (life.alive) run() }) } }
}

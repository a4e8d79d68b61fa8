import { failure } from '../../../src-preload/contract/failure.ts'
import type { Commit, Journal, JournalRefusal, Timers } from '../../engine/ports.ts'

/** Named places around every write where a test can end a life of the app. */
export type CrashPoint = 'commit:before' | 'commit:after' | 'effect:before' | 'effect:after'

/** What happens at a crash point: the life ends there, or the disk refuses this one write. */
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

/** A life that passes crash points. `pass` gives false where the disk refuses; after a write it cannot refuse any more. */
export interface MortalLife extends Life { pass(point: CrashPoint): boolean }

/** `at` is asked at every crash point, with how many were passed before. */
export function createLife(at: (point: CrashPoint, passed: number) => Blow = () => null): MortalLife {
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

class RefusedWrite extends Error implements JournalRefusal {
  readonly failure = diskFull
}
const diskFull = failure('disk-full', 'The disk that holds the journal is full.', 'Free some space on it and try again.')

/** The journal as one life sees it. Its crash points are those of the real journal. */
export function mortalJournal(journal: Journal, life: MortalLife): Journal {
  const living = <T>(read: () => T): T => { if (!life.alive) throw new DeadLife(); return read() }
  const written = <T>(kind: 'commit' | 'effect', write: () => T, refused: () => T): T => {
    if (!life.pass(`${kind}:before`)) return refused()
    const done = write()
    life.pass(`${kind}:after`)
    return done
  }
  const refuse = (): never => { throw new RefusedWrite(diskFull.message) }
  return {
    commit: (commit: Commit) => written('commit', () => journal.commit(commit), () => ({ is: 'failed', failure: diskFull })),
    startEffect: (id, at) => written('effect', () => journal.startEffect(id, at), refuse),
    endEffect: (id, state, at) => { written('effect', () => { journal.endEffect(id, state, at) }, refuse) },
    hasCommand: (commandId) => living(() => journal.hasCommand(commandId)),
    streams: () => living(() => journal.streams()),
    read: (stream, fromVersion) => living(() => journal.read(stream, fromVersion)),
    openEffects: () => living(() => journal.openEffects()),
  }
}

/** Timers of one life: what was armed is forgotten with it. */
export function mortalTimers(timers: Timers, life: Life): Timers {
  return { after: (ms, signal, run) => { timers.after(ms, signal, () => { if (life.alive) run() }) } }
}

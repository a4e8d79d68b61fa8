import type { Commit, Journal, Timers } from '../../engine/ports.ts'

/** Named places around every write where a test can end a life of the app. */
export type CrashPoint = 'commit:before' | 'commit:after' | 'effect:before' | 'effect:after'

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

/** `at` is asked at every crash point, with how many were passed before; true ends the life there. */
export function createLife(at: (point: CrashPoint, passed: number) => boolean = () => false): Life & { pass(point: CrashPoint): void } {
  let alive = true
  let passed = 0
  return {
    get alive() { return alive },
    end: () => { alive = false },
    pass: (point) => {
      if (alive && at(point, passed)) alive = false
      passed += 1
      if (!alive) throw new DeadLife()
    },
  }
}

/** The journal as one life sees it. Its crash points are those of the real journal. */
export function mortalJournal(journal: Journal, life: Life & { pass(point: CrashPoint): void }): Journal {
  const living = <T>(read: () => T): T => { if (!life.alive) throw new DeadLife(); return read() }
  const written = <T>(kind: 'commit' | 'effect', write: () => T): T => {
    life.pass(`${kind}:before`)
    const done = write()
    life.pass(`${kind}:after`)
    return done
  }
  return {
    commit: (commit: Commit) => written('commit', () => journal.commit(commit)),
    startEffect: (id, at) => written('effect', () => journal.startEffect(id, at)),
    endEffect: (id, state, at) => { written('effect', () => { journal.endEffect(id, state, at) }) },
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

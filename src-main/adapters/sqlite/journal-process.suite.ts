// A process of its own for tests that kill, starve or lock out a journal:  node journal-process.suite.ts MODE PATH [NAME]
import { writeSync } from 'node:fs'
import { aCommit } from '../memory/journal.suite.ts'
import { openJournal } from './open.ts'
import { migrations } from './schema.ts'
import type { FailpointHook } from '../../engine/failpoints.ts'
import type { SqliteJournal } from './journal.ts'

const [mode = '', path = '', name = ''] = process.argv.slice(2)
// Written at once: after a kill, what was said is what had happened.
const say = (fact: unknown): void => { writeSync(1, `${JSON.stringify(fact)}\n`) }

function opened(failpoint?: FailpointHook): SqliteJournal {
  const journal = openJournal({ path, clock: { now: () => Date.now() }, ...(failpoint === undefined ? {} : { failpoint }) })
  if (!journal.ok) {
    say({ refused: journal.error })
    process.exit(0)
  }
  return journal.value
}

/** Two events and one effect a command, so that a torn commit would show. */
export function pair(index: number, payload: unknown = index) {
  return aCommit({ commandId: `cmd_${index}`, expectedVersion: index * 2, events: [{ type: 'a', payload }, { type: 'b', payload }], effects: [{ id: `effect_${index}`, kind: 'k', payload: index }] })
}

const modes: Record<string, () => void> = {
  open: () => { say({ opened: opened().facts() }) },
  hold: () => {
    const journal = opened()
    say('holding')
    process.stdin.on('end', () => { journal.close() }).resume()
  },
  // The second commit (or the start of its effect) meets the failpoint.
  die: () => {
    let armed = false
    const journal = opened((at) => { if (armed && at === name) process.kill(process.pid, 'SIGKILL') })
    say(journal.commit(pair(0)).is)
    armed = true
    if (name.startsWith('start')) journal.startEffect('effect_0', 1)
    else if (name.startsWith('end')) journal.endEffect('effect_0', 'done', 1)
    else journal.commit(pair(1))
    say('not killed')
  },
  // Half of a step is done.
  'die-migrating': () => {
    openJournal({ path, clock: { now: () => 1 }, migrations: [...migrations, { version: migrations.length + 1, up: (db) => { db.exec("DROP TRIGGER eventsKeep; UPDATE events SET type = 'other'"); process.kill(process.pid, 'SIGKILL') } }] })
    say('not killed')
  },
  storm: () => {
    const journal = opened()
    const first = [...journal.read('task_1')].length / 2
    for (let index = first; ; index++) if (journal.commit(pair(index, 'x'.repeat((index * 997) % 9_000))).is === 'committed') say(index)
  },
  fill: () => {
    const journal = opened()
    for (let index = 0; ; index++) {
      const outcome = journal.commit(pair(index, 'x'.repeat(20_000)))
      if (outcome.is === 'committed') continue
      void journal.verifyChain().then((chain) => { say({ committed: index, outcome, chain, effects: journal.openEffects().length, head: journal.facts().events }) })
      return
    }
  },
}
if (import.meta.main || process.argv[1] === import.meta.filename) modes[mode]?.()

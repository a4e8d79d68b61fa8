import { chownSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TaskId } from '../../src-preload/contract/ids.ts'
import { openJournal } from '../../src-main/adapters/sqlite/open.ts'
import { digestOfText } from '../../src-main/core/digest.ts'
import { acceptedTask } from './support/history.ts'
import { drawnRoom, sampleButton, startUntilPainted } from './support/painted.ts'
import { median, type BenchRow } from './support/row.ts'
import { openStage, type Stage } from './support/stage.ts'

const eventsWanted = 100_000
const callsATask = 160
const rounds = 7
const limitMs = 1_500

/** Writes a journal of 100,000 events of accepted tasks into a new account's folder, by the app's own adapter. */
function fill(stage: Stage, home: string): number {
  const path = join(home, 'user-data/journal/journal.sqlite')
  mkdirSync(dirname(path), { recursive: true })
  const opened = openJournal({ path, clock: { now: () => Date.now() } })
  if (!opened.ok) throw new Error(opened.error.message)
  const journal = opened.value
  let written = 0
  for (let task = 0; written < eventsWanted; task++) {
    const taskId = `task_${String(task).padStart(24, '0')}` as TaskId
    const startedAt = Date.now() - 86_400_000 + task * 1_000
    const events = acceptedTask(taskId, callsATask, startedAt)
    const outcome = journal.commit({ stream: taskId, commandId: `fill_${task}`, contentDigest: digestOfText(taskId), actor: 'host', at: startedAt, expectedVersion: 0, events: events.map((event) => ({ type: event.type, payload: event })), effects: [], settles: [], retires: [] })
    if (outcome.is !== 'committed') throw new Error(`the journal answered ${outcome.is}`)
    written += events.length
  }
  journal.close()
  const { uid } = stage
  if (uid !== null) for (const each of ['user-data', ...readdirSync(join(home, 'user-data'), { recursive: true, encoding: 'utf8' }).map((name) => join('user-data', name))]) chownSync(join(home, each), uid, uid)
  return written
}

/** A start with 100,000 events in the journal until the newest task's room is drawn, against a start with an empty one; in turns, medians of 7. */
export async function bench(): Promise<BenchRow[]> {
  const stage = await openStage()
  try {
    const homes = { full: stage.folder('full'), empty: stage.folder('empty') }
    const written = fill(stage, homes.full)
    const full: number[] = []
    const empty: number[] = []
    const start = async (which: keyof typeof homes): Promise<number> => {
      const { app, afterMs } = await startUntilPainted(stage, which === 'full' ? drawnRoom : sampleButton, { executable: stage.app, home: homes[which] })
      await app.close()
      return afterMs
    }
    for (let round = -1; round < rounds; round++) {
      const [fullMs, emptyMs] = [await start('full'), await start('empty')]
      if (round < 0) continue
      full.push(fullMs)
      empty.push(emptyMs)
    }
    const more = median(full) - median(empty)
    return [
      { name: `restart with ${written.toLocaleString('en-US')} events to drawn room, more than an empty start`, value: more, unit: 'ms', reference: limitMs, ratio: more / limitMs, gate: `≤ ${limitMs} ms more`, pass: more <= limitMs },
      { name: 'restart with an empty journal', value: median(empty), unit: 'ms', reference: null, ratio: null, gate: 'shown only', pass: null },
    ]
  } finally {
    await stage.close()
  }
}

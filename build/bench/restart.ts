import type { TaskId } from '../../src-preload/contract/ids.ts'
import { fillJournal, type WrittenTask } from './support/filled-journal.ts'
import { acceptedTask } from './support/history.ts'
import { drawnRoom, sampleButton, startUntilPainted } from './support/painted.ts'
import { atMostMs, median, type BenchRow } from './support/row.ts'
import { openStage } from './support/stage.ts'

const eventsWanted = 100_000
const callsATask = 160
const rounds = 7
const limitMs = 1_500

/** Accepted tasks until there are 100,000 events. */
function* tasks(): Generator<WrittenTask> {
  for (let written = 0, task = 0; written < eventsWanted; task++) {
    const taskId = `task_${String(task).padStart(24, '0')}` as TaskId
    const startedAt = Date.now() - 86_400_000 + task * 1_000
    const events = acceptedTask(taskId, callsATask, startedAt)
    written += events.length
    yield { taskId, startedAt, events }
  }
}

/** A start with 100,000 events in the journal until the newest task's room is drawn, against a start with an empty one; in turns, medians of 7. */
export async function bench(): Promise<BenchRow[]> {
  const stage = await openStage()
  try {
    const homes = { full: stage.folder('full'), empty: stage.folder('empty') }
    const written = fillJournal(homes.full, stage.uid, tasks())
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
    return [
      atMostMs(`restart with ${written.toLocaleString('en-US')} events to drawn room, more than an empty start`, median(full) - median(empty), limitMs),
      { name: 'restart with an empty journal', value: median(empty), unit: 'ms', reference: null, ratio: null, gate: 'shown only', pass: null },
    ]
  } finally {
    await stage.close()
  }
}

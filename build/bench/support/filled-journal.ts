import { chownSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TaskId } from '../../../src-preload/contract/ids.ts'
import { openJournal } from '../../../src-main/adapters/sqlite/open.ts'
import { digestOfText } from '../../../src-main/core/digest.ts'
import type { TaskEvent } from '../../../src-main/core/task/events.ts'

export interface WrittenTask { readonly taskId: TaskId; readonly startedAt: number; readonly events: readonly TaskEvent[] }

/** Writes tasks into the journal of a new account's folder, by the app's own adapter, with the folder that each leaves (the app begins otherwise for somebody who has none), and gives it all to that account. Gives the number of events. */
export function fillJournal(home: string, uid: number | null, tasks: Iterable<WrittenTask>): number {
  const path = join(home, 'user-data/journal/journal.sqlite')
  mkdirSync(dirname(path), { recursive: true })
  const opened = openJournal({ path, clock: { now: () => Date.now() } })
  if (!opened.ok) throw new Error(opened.error.message)
  const journal = opened.value
  let written = 0
  for (const { taskId, startedAt, events } of tasks) {
    const outcome = journal.commit({ stream: taskId, commandId: `fill_${taskId}`, contentDigest: digestOfText(taskId), actor: 'host', at: startedAt, expectedVersion: 0, events: events.map((event) => ({ type: event.type, payload: event })), effects: [], settles: [], retires: [] })
    if (outcome.is !== 'committed') throw new Error(`the journal answered ${outcome.is}`)
    mkdirSync(join(home, 'user-data/tasks', taskId), { recursive: true })
    written += events.length
  }
  journal.close()
  if (uid !== null) for (const each of ['user-data', ...readdirSync(join(home, 'user-data'), { recursive: true, encoding: 'utf8' }).map((name) => join('user-data', name))]) chownSync(join(home, each), uid, uid)
  return written
}

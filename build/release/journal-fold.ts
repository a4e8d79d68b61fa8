import { createFakeTime } from '../../src-main/adapters/memory/fake-time.ts'
import type { SqliteJournal } from '../../src-main/adapters/sqlite/journal.ts'
import { SeenCalls } from '../../src-main/core/task/seen-calls.ts'
import { Dispatcher } from '../../src-main/engine/dispatch.ts'
import { Room } from '../../src-main/engine/room.ts'
import { createSteadyClock } from '../../src-main/engine/steady-clock.ts'
import type { TaskId } from '../../src-preload/contract/ids.ts'

/** What a journal folds to, as plain JSON: its head, and of each task the state and the rows that the window draws. */
export interface JournalFold { readonly events: number; readonly headHash: string; readonly tasks: Readonly<Record<string, { readonly state: unknown; readonly rows: unknown }>> }

/** Folds with today's code. Nothing is looked at but the journal. */
export function foldOf(journal: SqliteJournal): JournalFold {
  const time = createFakeTime()
  const room = new Room(time, time)
  const dispatcher = new Dispatcher({
    journal, clock: createSteadyClock(time, () => time.waitedMs()), room, live: () => ({ isolation: null, waiting: null }), committed: () => undefined,
    coder: { mintIds: () => { throw new Error('a fold decides nothing') } },
  })
  const tasks: Record<string, { state: unknown; rows: unknown }> = {}
  for (const stream of journal.streams()) {
    if (!dispatcher.load(stream)) throw new Error(`a stream that is no task: ${stream}`)
    const rows = [...room.rows(stream as TaskId)].sort((a, b) => (a.key < b.key ? -1 : 1))
    tasks[stream] = { state: plain(dispatcher.state(stream as TaskId)), rows: plain(rows) }
  }
  const { events, headHash } = journal.facts()
  return { events, headHash, tasks }
}

/** Maps and sets as lists, in their order; what is undefined is left out. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_name, item: unknown) => (item instanceof Map ? { entries: [...(item as Map<unknown, unknown>)] } : item instanceof Set || item instanceof SeenCalls ? { members: [...(item as Iterable<unknown>)] } : item))) as unknown
}

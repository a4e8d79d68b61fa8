import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFakeTime } from '../../src-main/adapters/memory/fake-time.ts'
import { openScriptedRoom, type ScriptedRoom } from '../../src-main/adapters/memory/scripted-room.ts'
import type { SqliteJournal } from '../../src-main/adapters/sqlite/journal.ts'
import { openJournal } from '../../src-main/adapters/sqlite/open.ts'
import type { TaskEvent } from '../../src-main/core/task/events.ts'
import { fold } from '../../src-main/core/task/evolve.ts'
import { brokenLaws } from '../../src-main/core/task/laws.ts'
import type { Journal } from '../../src-main/engine/ports.ts'
import { rowSchema } from '../../src-preload/contract/rows.ts'
import type { TaskId } from '../../src-preload/contract/ids.ts'
import type { Ground } from './matrix.ts'
import type { Random } from './random.ts'
import { readRoom } from './room-reading.ts'

/** A ground whose rooms are looked over and closed by `finish`. */
export interface HeldGround extends Ground { finish(expectErrors?: RegExp): Promise<void>; clear(): void }

/** Makes the ground of one check. Journals are temporary files, or live in memory. */
export function makeGround(journal: Ground['journal'], random: Random): HeldGround {
  const rooms: ScriptedRoom[] = []
  const folders: string[] = []
  const open: SqliteJournal[] = []
  const sqlite = (): (() => Journal) => {
    const folder = mkdtempSync(join(tmpdir(), 'harness-'))
    folders.push(folder)
    const time = createFakeTime()
    let current: SqliteJournal | null = null
    return () => {
      // Each life opens the file as the one before left it.
      current?.close()
      if (current !== null) open.splice(open.indexOf(current), 1)
      const opened = openJournal({ path: join(folder, 'journal.sqlite'), clock: time })
      if (!opened.ok) throw new Error(opened.error.message)
      current = opened.value
      open.push(current)
      return current
    }
  }
  return {
    journal, random,
    room: async (options = {}) => {
      const room = await openScriptedRoom({ ...options, ...(journal === 'sqlite' ? { journal: sqlite() } : {}) })
      rooms.push(room)
      return room
    },
    finish: async (expectErrors) => {
      for (const room of rooms) lookOver(room, expectErrors)
      for (const kept of open) assert.equal((await kept.verifyChain()).firstBadSeq, null, 'the hash chain is broken')
    },
    clear: () => {
      for (const room of rooms) room.life.end()
      for (const kept of open.splice(0)) kept.close()
      for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** What every room must keep, whatever happened in it. */
export function lookOver(room: ScriptedRoom, expectErrors?: RegExp): void {
  const { journal } = room
  for (const stream of journal.streams()) {
    if (room.engine.state(stream as TaskId) === undefined) continue // Not a task: what a home keeps of its mailbox.
    const history = [...journal.read(stream)].map((stored) => ({ payload: stored.payload as TaskEvent, at: stored.at, seq: stored.seq }))
    assert.deepEqual(brokenLaws(history), [], 'a law of a task\'s history is broken')
    readRoom(stream, history)
    assert.deepEqual(history.map((_, index) => index + 1), [...journal.read(stream)].map((stored) => stored.version), 'a gap in a stream')
    assert.deepEqual(fold(history), room.engine.state(stream as TaskId), 'the journal folds to another state than the one in use')
    for (const row of room.engine.room.snapshot(stream as TaskId).put) assert.ok(rowSchema.safeParse(row).success, `a row that the window refuses: ${JSON.stringify(row).slice(0, 300)}`)
  }
  assert.deepEqual(room.errors.filter((error) => expectErrors?.test(error) !== true), [], 'the engine logged errors')
}

import { closeSync, fstatSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { failureSchema } from '../../../src-preload/contract/failure.ts'
import { createFakeTime } from '../memory/fake-time.ts'
import { aCommit } from '../memory/journal.suite.ts'
import { openScriptedRoom, leadSays } from '../memory/scripted-room.ts'
import { refusalOf } from '../../engine/refusal.ts'
import type { SqliteJournal } from './journal.ts'
import { opened, scratchFolder } from './scratch.suite.ts'

/** Writes over every page behind the first while the journal is open and has none of them in memory: as a disk that rots under a running app. */
function rot(path: string): void {
  const file = openSync(path, 'r+')
  const pageBytes = 2_048
  const { size } = fstatSync(file)
  for (let at = pageBytes; at < size; at += pageBytes) writeSync(file, Buffer.alloc(pageBytes, 0xa5), 0, pageBytes, at)
  closeSync(file)
}

function filled(path: string): void {
  const journal = opened(path)
  for (let n = 0; n < 40; n++) journal.commit(aCommit({ stream: `task_${n % 2}`, commandId: `cmd_${n}`, expectedVersion: Math.floor(n / 2), events: [{ type: 'said', payload: { text: 'x'.repeat(4_000) } }], effects: [{ id: `effect_${n}`, kind: 'k', payload: n }] }))
  journal.close()
}

const reads: Readonly<Record<string, (journal: SqliteJournal) => unknown>> = {
  receiptOf: (journal) => journal.receiptOf('cmd_1'), streams: (journal) => journal.streams(), read: (journal) => [...journal.read('task_1')], openEffects: (journal) => journal.openEffects(),
  audit: (journal) => journal.audit({ taskId: null, text: '', beforeSeq: null, limit: 50 }), facts: (journal) => journal.facts(), verifyChain: (journal) => journal.verifyChain(),
}

describe('a journal whose pages rot under a running app', () => {
  it.each(Object.keys(reads))('tells the owner so, with what to do, from %s', async (name) => {
    const path = join(scratchFolder(), 'journal.sqlite')
    filled(path)
    const journal = opened(path)
    rot(path)
    const read = reads[name]!
    const thrown: unknown = await (async () => { try { await read(journal); return null } catch (error) { return error } })()
    const refused = refusalOf(thrown)
    expect(refused).toMatchObject({ code: 'journal-corrupt' })
    expect(failureSchema.safeParse(refused).success).toBe(true)
    expect(refused!.message).toContain(path)
  })

  it('refuses a commit, and an export, as values', async () => {
    const path = join(scratchFolder(), 'journal.sqlite')
    filled(path)
    const journal = opened(path)
    rot(path)
    expect(journal.commit(aCommit({ stream: 'task_9', commandId: 'cmd_99' }))).toMatchObject({ is: 'failed', failure: { code: 'journal-corrupt' } })
    expect(await journal.exportJsonl({ toPath: join(path, '../out.jsonl'), taskId: null, at: 1, versions: {} })).toMatchObject({ ok: false, error: { code: 'journal-corrupt' } })
  })

  it('refuses what the owner does as a value, and the room stays as it was', async () => {
    const path = join(scratchFolder(), 'journal.sqlite')
    const time = createFakeTime()
    const room = await openScriptedRoom({ time, leadAnswers: [leadSays.brief], journal: () => opened(path, { clock: time }) })
    const taskId = await room.create()
    const before = room.state(taskId)
    const failing = room.journal.receiptOf
    room.journal.receiptOf = () => { throw Object.assign(new Error('damaged'), { failure: { code: 'journal-corrupt', message: 'The journal is damaged.', todo: 'Copy it.' } }) }
    expect(await room.give(taskId, { is: 'stop-task' })).toMatchObject({ ok: false, error: { code: 'journal-corrupt' } })
    room.journal.receiptOf = failing
    expect(room.state(taskId)).toBe(before)
  })
})

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { aCommit } from '../memory/journal.suite.ts'
import { openJournal } from './open.ts'
import { migrations, type Migration } from './schema.ts'
import { factsOf, journalProcess, opened, scratchFolder } from './scratch.suite.ts'

const clock = { now: () => 1_800_000_000_000 }
const here = migrations.length

/** Steps of a later release: one that fills a new column of each event, and one that needs the first. */
const filled: Migration = { version: here + 1, up: (db) => { db.exec("DROP TRIGGER eventsKeep; ALTER TABLE events ADD COLUMN chars INTEGER; UPDATE events SET chars = length(payload); CREATE TRIGGER eventsKeep BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END") } }
const indexed: Migration = { version: here + 2, up: (db) => { db.exec('CREATE INDEX eventsByChars ON events (chars)') } }
const broken: Migration = { version: here + 2, up: (db: Database.Database) => { db.exec('DELETE FROM effects WHERE 0; CREATE TABLE half (x TEXT) STRICT'); throw new Error('the step has a bug') } }

/** A journal of today's format with forty events, closed. */
function written(): string {
  const path = join(scratchFolder(), 'journal/journal.sqlite')
  const journal = opened(path)
  for (let n = 0; n < 40; n++) journal.commit(aCommit({ commandId: `cmd_${n}`, expectedVersion: n, events: [{ type: 'text', payload: { text: `line ${n}` } }] }))
  journal.close()
  return path
}

const backups = (path: string): readonly string[] => readdirSync(dirname(path)).filter((name) => name.includes('.backup-'))

describe('a journal of an earlier release', () => {
  it('is backed up, then walks through every step; its chain holds and it takes commits', async () => {
    const path = written()
    const journal = opened(path, { migrations: [...migrations, filled, indexed] })
    expect(journal.facts()).toMatchObject({ schemaVersion: here + 2, events: 40 })
    expect(await journal.verifyChain()).toMatchObject({ events: 40, firstBadSeq: null })
    expect(journal.commit(aCommit({ commandId: 'cmd_40', expectedVersion: 40 })).is).toBe('committed')
    journal.close()
    expect(readFileSync(path).readUInt32BE(60)).toBe(here + 2)
    expect(backups(path)).toEqual([`journal.sqlite.backup-v${here}-1800000000000`])
    expect(opened(join(dirname(path), backups(path)[0] ?? '')).facts()).toMatchObject({ schemaVersion: here, events: 40 })
  })

  it('is left to that release when the second of two steps fails, without a copy for each try, and the owner is told what to do', async () => {
    const path = written()
    for (let tries = 0; tries < 2; tries++) {
      const failed = openJournal({ path, clock, migrations: [...migrations, filled, broken] })
      expect(failed).toMatchObject({ ok: false, error: { code: 'internal' } })
      if (failed.ok) throw new Error('it opened')
      expect(failed.error.message).toMatch(new RegExp(`format ${here} to format ${here + 2} .*the step has a bug.*left exactly as it was: ${path}`))
      expect(failed.error.todo).toContain('Install the version that you used before')
    }
    expect(backups(path)).toEqual([])
    const before = opened(path)
    expect(before.facts()).toMatchObject({ schemaVersion: here, events: 40 })
    expect(await before.verifyChain()).toMatchObject({ firstBadSeq: null })
  })

  it('is left to that release when the app is killed half-way through a step', async () => {
    const path = written()
    expect(await factsOf(journalProcess(['die-migrating', path]))).toEqual([])
    const journal = opened(path)
    expect(journal.facts()).toMatchObject({ schemaVersion: here, events: 40 })
    expect(new Set([...journal.read('task_1')].map(({ type }) => type))).toEqual(new Set(['text']))
  })

  it('is refused untouched once a later release has it, and the refusal says both ways out', () => {
    const path = written()
    opened(path, { migrations: [...migrations, filled] }).close()
    const before = readFileSync(path)
    const refused = openJournal({ path, clock })
    if (refused.ok) throw new Error('it opened')
    expect(refused.error).toMatchObject({ code: 'journal-newer' })
    expect(refused.error.todo).toMatch(/newer version again.*backups/)
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(existsSync(`${path}-wal`)).toBe(false)
  })
})

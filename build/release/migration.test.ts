import { cpSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSettings, type SettingsStep } from '../../src-main/adapters/settings/settings-store.ts'
import { openJournal } from '../../src-main/adapters/sqlite/open.ts'
import type { SqliteJournal } from '../../src-main/adapters/sqlite/journal.ts'
import { applicationId, migrations, type Migration } from '../../src-main/adapters/sqlite/schema.ts'
import { textFiles } from '../../src-main/adapters/system/text-files.ts'
import { markVersion } from '../../src-main/adapters/system/version-mark.ts'
import { digestOfText } from '../../src-main/core/digest.ts'
import { foldOf, type JournalFold } from './journal-fold.ts'

const fixture = join(import.meta.dirname, 'journals/0.1.0')
const settingsFixture = join(import.meta.dirname, 'settings/0.1.0-full.json')
const expected = JSON.parse(readFileSync(`${fixture}.json`, 'utf8')) as JournalFold
const later: Migration = { version: migrations.length + 1, up: (db) => { db.exec('ALTER TABLE effects ADD COLUMN note TEXT') } }

let data: string
const journals: SqliteJournal[] = []
beforeEach(() => { data = mkdtempSync(join(tmpdir(), 'migration-')); mkdirSync(join(data, 'journal')) })
afterEach(() => {
  for (const journal of journals.splice(0)) journal.close()
  rmSync(data, { recursive: true, force: true })
})

const journalIn = (folder: string): string => join(folder, 'journal.sqlite')

function opened(path: string, steps: readonly Migration[] = migrations): SqliteJournal {
  const journal = openJournal({ path, clock: { now: () => 1_900_000_000_000 }, migrations: steps })
  if (!journal.ok) throw new Error(`${journal.error.code}: ${journal.error.message}`)
  journals.push(journal.value)
  return journal.value
}

/** The fixture's whole history in the first format, as an app before receipts had digests left it. */
function inFirstFormat(path: string): void {
  const db = new Database(path)
  db.pragma(`application_id = ${applicationId}`)
  migrations[0]?.up(db)
  db.pragma('user_version = 1')
  db.prepare('ATTACH ? AS later').run(`${fixture}.sqlite`)
  const columns = { events: 'seq, stream, version, at, commandId, actor, type, payload, prev, hash, closes', effects: 'id, ord, stream, kind, payload, state, attempts, commandId, startedAt, endedAt', commands: 'id, stream, actor, at, lastSeq' }
  for (const [table, names] of Object.entries(columns)) db.exec(`INSERT OR IGNORE INTO main.${table} (${names}) SELECT ${names} FROM later.${table}`)
  db.close()
}

describe('the whole data of an earlier version', () => {
  it('walks from the first format of the journal through every later one, and folds to what it folded to', async () => {
    inFirstFormat(journalIn(data))
    for (const steps of [migrations, [...migrations, later]]) {
      const journal = opened(journalIn(data), steps)
      expect(journal.facts().schemaVersion).toBe(steps.length)
      expect(await journal.verifyChain()).toEqual({ events: expected.events, headHash: expected.headHash, firstBadSeq: null })
      expect(foldOf(journal)).toMatchObject(expected)
      journal.close()
    }
  })

  it('is there again for the old version with the copy of before, as docs/packages.md tells, whatever the new one left', async () => {
    copyFileSync(`${fixture}.sqlite`, journalIn(join(data, 'journal')))
    copyFileSync(settingsFixture, join(data, 'settings.json'))
    await markVersion(data, '0.1.0', 1)
    const { backup } = await markVersion(data, '0.2.0', 2)
    const newer = opened(journalIn(join(data, 'journal')), [...migrations, later])
    expect(newer.commit({ stream: 'task_new', expectedVersion: 0, commandId: 'cmd_new', contentDigest: digestOfText('new'), actor: 'owner', at: 3, events: [{ type: 'enrolled', payload: {} }], effects: [], settles: [], retires: [] }).is).toBe('committed')
    writeFileSync(join(data, 'settings.json'), JSON.stringify({ ...JSON.parse(readFileSync(settingsFixture, 'utf8')) as object, version: 2 }))
    // The new version is still up, or was killed: its log lies beside its journal.
    expect(readdirSync(join(data, 'journal'))).toContain('journal.sqlite-wal')
    expect(openJournal({ path: journalIn(join(data, 'journal')), clock: { now: () => 4 } })).toMatchObject({ ok: false, error: { code: 'journal-newer' } })

    renameSync(join(data, 'journal'), join(data, 'journal-of-0.2.0'))
    mkdirSync(join(data, 'journal'))
    for (const name of readdirSync(backup ?? '')) cpSync(join(backup ?? '', name), name === 'settings.json' ? join(data, name) : join(data, 'journal', name))
    await markVersion(data, '0.1.0', 5)

    const old = opened(journalIn(join(data, 'journal')))
    expect(await old.verifyChain()).toEqual({ events: expected.events, headHash: expected.headHash, firstBadSeq: null })
    expect(foldOf(old)).toMatchObject(expected)
    const settings = await openSettings(join(data, 'settings.json'), textFiles, 2 ** 40)
    expect([settings.problem(), settings.get()]).toEqual([null, JSON.parse(readFileSync(settingsFixture, 'utf8'))])
  })
})

describe('settings of an earlier format', () => {
  const path = '/settings.json'
  // Two formats before today's, as they might have been: one had the theme at its top, the other a quota in gigabytes.
  const steps: readonly SettingsStep[] = [
    { from: -1, up: ({ theme, ...rest }) => ({ ...rest, appearance: { theme, density: 'comfortable' } }) },
    { from: 0, up: ({ gigabytes, ...rest }) => { if (typeof gigabytes !== 'number') throw new Error('no quota'); return { ...rest, workspaceQuotaBytes: gigabytes * 1_000_000_000 } } },
  ]
  const { appearance: _set, workspaceQuotaBytes: _also, version: _now, ...kept } = JSON.parse(readFileSync(settingsFixture, 'utf8')) as Record<string, unknown>

  /** Opens `file` with those steps; says what was written and moved. */
  async function openedFrom(file: unknown) {
    const touched: string[] = []
    const store = await openSettings(path, { read: () => Promise.resolve(JSON.stringify(file)), write: (_path, text) => { touched.push(text); return Promise.resolve() }, setAside: (from) => { touched.push(from); return Promise.resolve(from) } }, 2 ** 40, steps)
    return { store, touched }
  }

  it('walk through every step, and are written in the new one with the first save only', async () => {
    const { store, touched } = await openedFrom({ ...kept, version: -1, theme: 'dark', gigabytes: 5 })
    expect(store.problem()).toBeNull()
    expect(store.get()).toMatchObject({ ...kept, version: 1, appearance: { theme: 'dark', density: 'comfortable' }, workspaceQuotaBytes: 5_000_000_000 })
    expect(touched).toEqual([])
    expect(await store.put(store.get())).toEqual({ ok: true, value: null })
    expect(JSON.parse(touched[0] ?? '')).toEqual(store.get())
  })

  it('that a step fails on are not touched and not saved over, and the owner is told what to do', async () => {
    const { store, touched } = await openedFrom({ ...kept, version: -1, theme: 'dark' })
    expect(store.problem()).toMatchObject({ code: 'settings-broken' })
    expect(store.problem()?.message).toContain('could not be brought to this one (no quota) and were not touched')
    expect(store.problem()?.todo).toContain('Install the earlier version again')
    expect(await store.put(store.get())).toMatchObject({ ok: false, error: { code: 'settings-broken' } })
    expect(touched).toEqual([])
  })
})

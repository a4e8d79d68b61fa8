import { execFile } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { verifyExport } from '../../../build/verify-export.mjs'
import { aCommit } from '../memory/journal.suite.ts'
import type { SqliteJournal } from './journal.ts'
import { opened, scratchFolder } from './scratch.suite.ts'

/** Events 1 to 6, of two tasks that take turns. */
function written(path: string): SqliteJournal {
  const journal = opened(path)
  for (let n = 0; n < 6; n++) {
    journal.commit(aCommit({ stream: `task_${n % 2}`, commandId: `cmd_${n}`, expectedVersion: Math.floor(n / 2), at: 1_000 + n, events: [{ type: 'said', payload: { text: `Grüße, ${n}` } }], effects: [{ id: `effect_${n}`, kind: 'k', payload: n }] }))
  }
  return journal
}

function tamper(path: string, sql: string): void {
  const db = new Database(path)
  try {
    db.pragma('recursive_triggers = ON') // As the app opens it.
    db.exec(sql)
  } finally {
    db.close()
  }
}

describe('journal integrity', () => {
  const forbidden = [
    "UPDATE events SET payload = '{}' WHERE seq = 3", 'DELETE FROM events WHERE seq = 6', 'DELETE FROM events', "UPDATE commands SET actor = 'x'", 'DELETE FROM commands', 'DELETE FROM effects',
    "UPDATE effects SET payload = '1'", "UPDATE effects SET state = 'started', kind = 'other' WHERE ord = 1", "UPDATE effects SET state = 'pending'",
    "INSERT OR REPLACE INTO events SELECT seq, stream, version, at, commandId, actor, type, '{}', prev, hash, closes FROM events WHERE seq = 6",
    "INSERT INTO events SELECT seq + 1, stream, version, at, commandId, actor, type, payload, hash, hash, 0 FROM events WHERE seq = 6",
    "INSERT OR REPLACE INTO commands SELECT id, stream, 'x', at, lastSeq FROM commands", "INSERT OR REPLACE INTO effects SELECT * FROM effects",
    "INSERT INTO events SELECT 7, stream, 4, 'soon', commandId, actor, type, payload, hash, hash, 0 FROM events WHERE seq = 6",
  ]
  it.each(forbidden)('the file itself refuses: %s', (sql) => {
    const path = join(scratchFolder(), 'journal.sqlite')
    written(path).close()
    const before = readFileSync(path)
    expect(() => { tamper(path, sql) }).toThrow()
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it('an ended effect never runs again', () => {
    const path = join(scratchFolder(), 'journal.sqlite')
    const journal = written(path)
    journal.endEffect('effect_0', 'retired', 1)
    journal.close()
    expect(() => { tamper(path, "UPDATE effects SET state = 'started' WHERE id = 'effect_0'") }).toThrow('only forward')
  })

  const unguard = 'DROP TRIGGER eventsKeep; DROP TRIGGER eventsStay; PRAGMA foreign_keys = OFF; '
  const tampered = [
    { sql: `UPDATE events SET payload = '{"text":"Grüße, 9"}' WHERE seq = 3`, bad: 3 },
    { sql: 'UPDATE events SET at = at + 1 WHERE seq = 1', bad: 1 },
    { sql: "UPDATE events SET actor = 'owner ' WHERE seq = 2", bad: 2 },
    { sql: 'DELETE FROM events WHERE seq = 4', bad: 4 },
    { sql: 'UPDATE events SET seq = 99 WHERE seq = 2; UPDATE events SET seq = 2 WHERE seq = 3; UPDATE events SET seq = 3 WHERE seq = 99', bad: 2 },
    { sql: 'UPDATE events SET version = 9 WHERE seq = 5', bad: 5 },
    { sql: 'DELETE FROM events WHERE seq = 5; INSERT INTO events SELECT 5, stream, 3, at, commandId, actor, type, payload, prev, hash, 0, NULL FROM events WHERE seq = 3', bad: 5 },
    { sql: `UPDATE events SET hash = 'sha256:${'1'.repeat(64)}' WHERE seq = 2`, bad: 2 },
  ]
  it.each(tampered)('the chain names event $bad after: $sql', async ({ sql, bad }) => {
    const path = join(scratchFolder(), 'journal.sqlite')
    written(path).close()
    tamper(path, unguard + sql)
    const journal = opened(path)
    expect((await journal.verifyChain()).firstBadSeq).toBe(bad)
    const toPath = join(path, '../export.jsonl')
    expect((await journal.exportJsonl({ toPath, taskId: null, at: 1, versions: {} })).ok).toBe(true)
    expect((await verifyExport([readFileSync(toPath)])).ok).toBe(false)
  })

  it('verifies while commits go on', async () => {
    const journal = written(join(scratchFolder(), 'journal.sqlite'))
    const report = journal.verifyChain()
    journal.commit(aCommit({ stream: 'task_2', commandId: 'cmd_9' }))
    expect(await report).toMatchObject({ events: 6, firstBadSeq: null })
    expect(await journal.verifyChain()).toMatchObject({ events: 7, headHash: journal.facts().headHash, firstBadSeq: null })
  })
})

describe('journal export', () => {
  async function exported(taskId: string | null): Promise<Buffer> {
    const path = join(scratchFolder(), 'journal.sqlite')
    const toPath = join(path, '../export.jsonl')
    const receipt = await written(path).exportJsonl({ toPath, taskId, at: 5_000, versions: { app: '0.1.0', sqlite: '3' } })
    expect(receipt).toMatchObject({ ok: true, value: { events: taskId === null ? 6 : 3 } })
    return readFileSync(toPath)
  }

  it.each([{ of: 'the whole journal', taskId: null, lines: 7 }, { of: 'one task', taskId: 'task_1', lines: 7 }])('of $of is good, and no flipped bit of it goes unseen', async ({ taskId, lines }) => {
    const bytes = await exported(taskId)
    expect(bytes.toString().trimEnd().split('\n')).toHaveLength(lines)
    expect(await verifyExport([bytes])).toMatchObject({ ok: true, events: taskId === null ? 6 : 3 })
    for (let at = 0; at < bytes.length; at++) {
      const flipped = Buffer.from(bytes)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8))
      if ((await verifyExport([flipped])).ok) throw new Error(`byte ${at} can be flipped unseen`)
    }
  })

  it.each([{ taskId: null }, { taskId: 'task_1' }])('shows a removed, doubled, added or swapped line (task: $taskId)', async ({ taskId }) => {
    const lines = (await exported(taskId)).toString().trimEnd().split('\n')
    const verdict = async (changed: readonly string[]): Promise<boolean> => (await verifyExport([Buffer.from(`${changed.join('\n')}\n`)])).ok
    expect(await verdict(lines)).toBe(true)
    for (let a = 0; a < lines.length; a++) {
      expect(await verdict(lines.toSpliced(a, 1))).toBe(false)
      expect(await verdict(lines.toSpliced(a, 0, lines[a] ?? ''))).toBe(false)
      expect(await verdict(lines.toSpliced(a, 0, ''))).toBe(false)
      for (let b = a + 1; b < lines.length; b++) expect(await verdict(lines.with(a, lines[b] ?? '').with(b, lines[a] ?? ''))).toBe(false)
    }
  })

  it('of one task tells nothing of the others', async () => {
    const text = (await exported('task_1')).toString()
    expect(text).not.toContain('task_0')
    expect(text).not.toContain('Grüße, 2')
    expect(text).toContain('Grüße, 3')
  })

  it('is checked by the verifier as a program, wherever the chunks are cut', async () => {
    const bytes = await exported(null)
    const whole = await verifyExport([bytes])
    for (const size of [1, 7, 64, 1_000]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size))
      expect(await verifyExport(chunks)).toEqual(whole)
    }
    const folder = scratchFolder()
    writeFileSync(join(folder, 'good.jsonl'), bytes)
    writeFileSync(join(folder, 'bad.jsonl'), bytes.toString().replace('Grüße, 4', 'Grüße, 5'))
    const run = promisify(execFile)
    // Alone in its folder, as whoever got only it and the file.
    const program = join(folder, 'verify-export.mjs')
    copyFileSync(join(import.meta.dirname, '../../../build/verify-export.mjs'), program)
    const head = whole.ok ? whole.headHash : ''
    expect((await run(process.execPath, [program, join(folder, 'good.jsonl'), '--head', head], { cwd: folder })).stdout).toBe(`good: 6 events, head ${head}\n`)
    await expect(run(process.execPath, [program, join(folder, 'bad.jsonl')])).rejects.toMatchObject({ code: 1, stdout: 'bad: line 6: the row does not match its hash\n' })
    await expect(run(process.execPath, [program, join(folder, 'good.jsonl'), '--head', `sha256:${'0'.repeat(64)}`])).rejects.toMatchObject({ code: 1 })
  })

  it('that cannot be written leaves nothing behind', async () => {
    const journal = written(join(scratchFolder(), 'journal.sqlite'))
    expect(await journal.exportJsonl({ toPath: '/nowhere/at/all.jsonl', taskId: null, at: 1, versions: {} })).toMatchObject({ ok: false, error: { code: 'unavailable' } })
  })
})

describe('audit', () => {
  it('shows the newest first, by task, text and page', () => {
    const journal = written(join(scratchFolder(), 'journal.sqlite'))
    const query = { taskId: null, text: '', beforeSeq: null, limit: 4 }
    expect(journal.audit(query).map((row) => row.seq)).toEqual([6, 5, 4, 3])
    expect(journal.audit({ ...query, beforeSeq: 3 }).map((row) => row.seq)).toEqual([2, 1])
    expect(journal.audit({ ...query, taskId: 'task_1' }).map((row) => row.seq)).toEqual([6, 4, 2])
    expect(journal.audit({ ...query, text: 'GRüßE, 2' })).toMatchObject([{ seq: 3, taskId: 'task_0', type: 'said', actor: 'owner', summary: '{"text":"Grüße, 2"}', payload: '{"text":"Grüße, 2"}', at: 1_002 }])
    expect(journal.audit({ ...query, text: '%' })).toEqual([])
    expect(journal.audit({ ...query, text: 'cmd_4' }).map((row) => row.seq)).toEqual([5])
  })
})

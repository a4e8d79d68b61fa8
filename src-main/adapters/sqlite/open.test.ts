import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync, unlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import type { Failure } from '../../../src-preload/contract/failure.ts'
import { digestOfText } from '../../core/digest.ts'
import { genesisHash } from '../../core/journal/chain.ts'
import { aCommit } from '../memory/journal.suite.ts'
import { mountTypeOf, networkDriveOf, networkKind } from './drive.ts'
import { openJournal } from './open.ts'
import { rowHash } from './records.ts'
import { applicationId, migrations } from './schema.ts'
import { factsOf, journalProcess, opened, scratchFolder } from './scratch.suite.ts'

const clock = { now: () => 1_800_000_000_000 }

function refused(path: string): Failure {
  const result = openJournal({ path, clock })
  if (result.ok) throw new Error('it opened')
  return result.error
}

/** A journal with some events in it, closed. */
function written(): string {
  const path = join(scratchFolder(), 'journal/journal.sqlite')
  const journal = opened(path)
  for (let n = 0; n < 40; n++) journal.commit(aCommit({ commandId: `cmd_${n}`, expectedVersion: n, events: [{ type: 'text', payload: { text: `line ${n} `.repeat(40) } }] }))
  journal.close()
  return path
}

function flip(path: string, offset: number): void {
  const bytes = readFileSync(path)
  bytes[offset] = (bytes[offset] ?? 0) ^ 0xff
  writeFileSync(path, bytes)
}

describe('opening the journal', () => {
  it('makes a new one that only the owner can read', () => {
    const path = join(scratchFolder(), 'a/b/journal.sqlite')
    const facts = opened(path).facts()
    expect(facts).toMatchObject({ path, schemaVersion: migrations.length, events: 0 })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700)
    expect(readdirSync(join(path, '..')).filter((name) => name.includes('.new-'))).toEqual([])
  })

  const damages: { name: string; damage: (path: string) => void }[] = [
    { name: 'no SQLite file', damage: (path) => { writeFileSync(path, 'not a database, but long enough to be one. '.repeat(40)) } },
    { name: 'an empty file', damage: (path) => { truncateSync(path, 0) } },
    { name: 'half a file', damage: (path) => { truncateSync(path, 4096 * 3 + 17) } },
    { name: 'a flipped byte in a page\'s structure', damage: (path) => { flip(path, 4096 * 3) } },
    { name: 'a flipped byte in the last event', damage: (path) => { flip(path, readFileSync(path).lastIndexOf('line 39')) } },
    { name: 'a database of another program', damage: (path) => {
      unlinkSync(path)
      const db = new Database(path)
      db.exec('CREATE TABLE t (x)')
      db.close()
    } },
    { name: 'a last event that is gone', damage: (path) => {
      const db = new Database(path)
      db.exec('DROP TRIGGER eventsStay; DELETE FROM events WHERE seq = 40')
      db.close()
    } },
  ]
  it.each(damages)('refuses $name, says where it is and leaves it as it is', ({ damage }) => {
    const path = written()
    damage(path)
    const before = readFileSync(path)
    const failure = refused(path)
    expect(failure.code).toBe('journal-corrupt')
    expect(failure.message).toContain(path)
    expect(failure.todo).not.toBe('')
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it('leaves a damaged journal and the log of its crash both as they are', async () => {
    const path = join(scratchFolder(), 'journal.sqlite')
    await factsOf(journalProcess(['die', path, 'commit:after']))
    flip(path, 100) // The first page is not in the log, so its damage counts.
    const before = [readFileSync(path), readFileSync(`${path}-wal`)]
    expect(before[1]?.length).toBeGreaterThan(0)
    expect(refused(path).code).toBe('journal-corrupt')
    expect([readFileSync(path), readFileSync(`${path}-wal`)]).toEqual(before)
  })

  it('refuses a log whose journal is gone, instead of beginning anew over it', async () => {
    const path = join(scratchFolder(), 'journal.sqlite')
    await factsOf(journalProcess(['die', path, 'commit:after']))
    unlinkSync(path)
    expect(refused(path).code).toBe('journal-corrupt')
    expect(existsSync(path)).toBe(false)
  })

  it('refuses a newer journal untouched', () => {
    const path = written()
    const db = new Database(path)
    db.pragma(`user_version = ${migrations.length + 1}`)
    db.close()
    const before = readFileSync(path)
    expect(refused(path)).toMatchObject({ code: 'journal-newer' })
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it('refuses a second opening in the same process', () => {
    const path = join(scratchFolder(), 'journal.sqlite')
    opened(path)
    expect(refused(path).code).toBe('journal-busy')
  })

  it('takes a command of the first schema as known, whatever it said: its receipt has no digest', () => {
    const path = join(scratchFolder(), 'journal.sqlite')
    const old = new Database(path)
    migrations[0]!.up(old)
    old.pragma(`application_id = ${applicationId}`)
    old.pragma('user_version = 1')
    old.exec(`INSERT INTO events (seq, stream, version, at, commandId, actor, type, payload, prev, hash, closes) SELECT 1, 'task_1', 1, 1000, 'cmd_1', 'owner', 'a', '1', '${genesisHash}', '${rowHash({ seq: 1, stream: 'task_1', version: 1, at: 1_000, commandId: 'cmd_1', actor: 'owner', type: 'a', payload: '1' }, genesisHash)}', 1`)
    old.close()
    const journal = opened(path)
    expect(journal.receiptOf('cmd_1')).toEqual({ contentDigest: null })
    expect(journal.commit(aCommit({ expectedVersion: 1 }))).toEqual({ is: 'duplicate' })
    expect(journal.commit(aCommit({ commandId: 'cmd_2', expectedVersion: 1 })).is).toBe('committed')
    expect(journal.commit(aCommit({ commandId: 'cmd_2', expectedVersion: 2, contentDigest: digestOfText('other') }))).toEqual({ is: 'other-content' })
  })
})

describe('network drives', () => {
  it('are refused by name, for a new journal and for one that is there, before anything is made or touched', () => {
    const old = written()
    const [before, beside] = [readFileSync(old), readdirSync(dirname(old))]
    const fresh = join(scratchFolder(), 'share/journal.sqlite')
    const asked: string[] = []
    for (const path of [old, fresh]) {
      const result = openJournal({ path, clock, driveOf: (folder) => { asked.push(folder); return 'nfs' } })
      expect(result).toMatchObject({ ok: false, error: { code: 'network-drive', message: expect.stringContaining(`(nfs), where SQLite can lose data: ${path}`) as string, todo: expect.stringContaining('--user-data-dir') as string } })
    }
    expect(asked).toEqual([dirname(old), dirname(fresh)])
    expect(readFileSync(old)).toEqual(before)
    expect([readdirSync(dirname(old)), existsSync(dirname(fresh))]).toEqual([beside, false])
  })

  it('are told by the file system\'s magic number, signed or not', () => {
    expect([0x6969, 0xff534d42, 0xff534d42 | 0, 0xfe534d42, 0x517b].map((magic) => networkKind(magic, null))).toEqual(['nfs', 'cifs', 'cifs', 'smb2', 'smb'])
    expect([0xef53, 0x01021994, 0x9123683e, 0x58465342].map((magic) => networkKind(magic, null))).toEqual([null, null, null, null])
  })

  it('are told from local FUSE drives by the mount\'s type', () => {
    const fuse = 0x65735546
    expect(['fuse.sshfs', 'fuse.rclone', 'fuseblk', 'fuse.gocryptfs', null].map((type) => networkKind(fuse, type))).toEqual(['fuse.sshfs', 'fuse.rclone', null, null, null])
  })

  it('are found at the innermost mount', () => {
    const mountinfo = ['24 1 8:1 / / rw - ext4 /dev/sda rw', '31 24 0:40 / /home/o/my\\040share rw,nosuid shared:1 - fuse.sshfs host:/ rw', '32 31 0:41 / /home/o/my\\040share/local rw - tmpfs tmpfs rw'].join('\n')
    expect(['/home/o/my share/data', '/home/o/my shared', '/home/o/my share/local/x', '/'].map((path) => mountTypeOf(path, mountinfo))).toEqual(['fuse.sshfs', 'ext4', 'tmpfs', 'ext4'])
  })

  it('are not seen where there is none', () => {
    expect(networkDriveOf(join(scratchFolder(), 'not/yet/there'))).toBe(null)
  })
})

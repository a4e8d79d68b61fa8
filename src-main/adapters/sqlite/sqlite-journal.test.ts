import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect } from 'vitest'
import type { Journal } from '../../engine/ports.ts'
import { journalSuite } from '../memory/journal.suite.ts'
import { openJournal } from './open.ts'
import type { SqliteJournal } from './journal.ts'

const clock = { now: () => 1_800_000_000_000 }
const folders: string[] = []
const open = new Map<Journal, { readonly path: string; readonly redact: (text: string) => string }>()

afterEach(() => {
  for (const journal of open.keys()) (journal as SqliteJournal).close()
  open.clear()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function at(path: string, redact: (text: string) => string): Journal {
  const opened = openJournal({ path, clock, redact })
  if (!opened.ok) throw new Error(opened.error.message)
  open.set(opened.value, { path, redact })
  return opened.value
}

function make(redact: (text: string) => string): Journal {
  const folder = mkdtempSync(join(tmpdir(), 'journal-'))
  folders.push(folder)
  return at(join(folder, 'journal/journal.sqlite'), redact)
}

/** A second look through the file: the first journal is closed and, so that the test can go on with it, forwards to the new one. */
function reopen(journal: Journal): Journal {
  const held = open.get(journal)
  expect(held).toBeDefined()
  if (held === undefined) throw new Error('not opened here')
  ;(journal as SqliteJournal).close()
  const again = at(held.path, held.redact)
  open.delete(again)
  return Object.assign(journal, again)
}

describe('SQLite journal', () => {
  journalSuite(make, reopen)
})

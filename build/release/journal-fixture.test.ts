import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openJournal } from '../../src-main/adapters/sqlite/open.ts'
import type { TaskEvent } from '../../src-main/core/task/events.ts'
import { brokenLaws } from '../../src-main/core/task/laws.ts'
import { foldOf, type JournalFold } from './journal-fold.ts'
import { appVersion } from './version.ts'

const folder = join(import.meta.dirname, 'journals')
const versions = readdirSync(folder).filter((name) => name.endsWith('.sqlite')).map((name) => name.slice(0, -'.sqlite'.length))

let scratch: string
beforeEach(() => { scratch = mkdtempSync(join(tmpdir(), 'fixture-')) })
afterEach(() => { rmSync(scratch, { recursive: true, force: true }) })

describe('a journal of an earlier release', () => {
  it('is kept of this version', () => {
    expect(versions).toContain(appVersion())
  })

  it.each(versions)('of %s opens, holds its chain and laws, and folds to what it folded to then', async (version) => {
    const path = join(scratch, 'journal.sqlite')
    copyFileSync(join(folder, `${version}.sqlite`), path)
    const expected = JSON.parse(readFileSync(join(folder, `${version}.json`), 'utf8')) as JournalFold
    const opened = openJournal({ path, clock: { now: () => 1_900_000_000_000 } })
    if (!opened.ok) throw new Error(opened.error.message)
    const journal = opened.value
    try {
      expect(await journal.verifyChain()).toEqual({ events: expected.events, headHash: expected.headHash, firstBadSeq: null })
      // What a later release adds to states and rows may be there; what was there then is as it was.
      expect(foldOf(journal)).toMatchObject(expected)
      for (const stream of journal.streams()) expect(brokenLaws([...journal.read(stream)].map((stored) => ({ payload: stored.payload as TaskEvent, at: stored.at, seq: stored.seq })))).toEqual([])
      const types = new Set(journal.streams().flatMap((stream) => [...journal.read(stream)].map((stored) => stored.type)))
      for (const type of ['accepted', 'rejected', 'task-cancelled', 'task-failed', 'budget-raised', 'recovery-needed', 'recovery-resolved', 'question-answered', 'hold-settled', 'command-ran', 'tool-ended', 'workspace-disposed']) expect(types, version).toContain(type)
    } finally {
      journal.close()
    }
  })
})

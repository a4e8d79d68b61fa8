import { describe, expect, it } from 'vitest'
import { failure } from '../../../src-preload/contract/failure.ts'
import { aCommit, journalSuite } from './journal.suite.ts'
import { createMemoryJournal } from './memory-journal.ts'

describe('memory journal', () => {
  journalSuite(createMemoryJournal, (journal) => journal)

  it('fails a commit on demand and writes nothing of it', () => {
    const journal = createMemoryJournal()
    const full = failure('disk-full', 'full', 'free some space')
    journal.failNext(full)
    expect(journal.commit(aCommit())).toEqual({ is: 'failed', failure: full })
    expect(journal.all()).toEqual([])
    expect(journal.commit(aCommit()).is).toBe('committed')
  })
})

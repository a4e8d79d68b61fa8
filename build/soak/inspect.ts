import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Asked } from '../../e2e/stubs/asked.ts'
import { openJournal } from '../../src-main/adapters/sqlite/open.ts'
import type { StoredEvent } from '../../src-main/engine/ports.ts'
import type { Account } from '../simulator/account.ts'

/**
 * Looks into the journal as the killed app left it, in a copy: it opens, its chain holds, all that was there before is there still, and what is
 * new breaks no law. Null where the app died before it had a journal.
 */
export async function inspectJournal(userData: string, scratch: string, account: Account): Promise<StoredEvent[] | null> {
  const path = join(userData, 'journal', 'journal.sqlite')
  if (!existsSync(path)) {
    assert.equal(account.events, 0, 'the journal is gone')
    return null
  }
  rmSync(scratch, { recursive: true, force: true })
  mkdirSync(scratch, { recursive: true })
  const copy = join(scratch, 'journal.sqlite')
  for (const suffix of ['', '-wal']) if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix)
  const opened = openJournal({ path: copy, clock: { now: () => Date.now() } })
  assert.ok(opened.ok, `the journal cannot be opened: ${opened.ok ? '' : opened.error.message}`)
  const journal = opened.value
  try {
    assert.equal((await journal.verifyChain()).firstBadSeq, null, 'the chain is broken')
    return account.reopened(journal)
  } finally {
    journal.close()
  }
}

/**
 * What the provider saw of Bot B: no two requests with the same words before them. A turn that is sent twice, or a loop that is begun again, would
 * ask the same thing twice; what the owner has resent says that the last turn was interrupted.
 */
export function nothingAskedTwice(asked: readonly Asked[]): void {
  const seen = new Map<string, number>()
  for (const one of asked) {
    const body = JSON.parse(one.body) as { readonly messages?: unknown; readonly input?: unknown }
    const key = createHash('sha256').update(JSON.stringify(body.messages ?? body.input)).digest('hex')
    assert.equal(seen.get(key), undefined, `requests ${String(seen.get(key))} and ${String(one.number)} of Bot B are the same: a turn was dispatched twice`)
    seen.set(key, one.number)
  }
}

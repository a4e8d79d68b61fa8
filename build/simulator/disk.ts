import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryJournal } from '../../src-main/adapters/memory/memory-journal.ts'
import type { SqliteJournal } from '../../src-main/adapters/sqlite/journal.ts'
import { openJournal } from '../../src-main/adapters/sqlite/open.ts'
import type { Clock, Journal } from '../../src-main/engine/ports.ts'
import type { Random } from '../harness/random.ts'

/** What the journal lies on. It outlives every life of the app. */
export interface Disk {
  /** What a start finds. */
  open(): Journal
  /** Called before each commit. */
  begin(): void
  /** The app died while the last commit was on its way: of its bytes only some arrived. False where this disk cannot tear. */
  tear(): boolean
  /** Throws when the hash chain does not hold. */
  verify(): Promise<void>
  remove(): void
}

/** A journal in memory: quick, and a commit is there or not. */
export function memoryDisk(): Disk {
  const journal = createMemoryJournal()
  return { open: () => journal, begin: () => undefined, tear: () => false, verify: () => Promise.resolve(), remove: () => undefined }
}

/** A real SQLite file. Each start opens a copy of what the life before had written by then, as the next process finds it after a SIGKILL. */
export function fileDisk(random: Random, clock: Clock): Disk {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'simulator-'))
  let lives = 0
  let current: { readonly journal: SqliteJournal; readonly path: string } | null = null
  let before = 0
  let cut: number | null = null
  const logOf = (path: string): string => `${path}-wal`
  const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0)
  const next = (): string => {
    lives += 1
    const path = join(folder, `life-${String(lives)}.sqlite`)
    if (current !== null) {
      copyFileSync(current.path, path)
      copyFileSync(logOf(current.path), logOf(path))
      if (cut !== null) truncateSync(logOf(path), cut)
      current.journal.close()
      rmSync(current.path)
    }
    cut = null
    return path
  }
  return {
    open: () => {
      const path = next()
      const opened = openJournal({ path, clock })
      if (!opened.ok) throw new Error(`the journal cannot be opened: ${opened.error.message}`)
      current = { journal: opened.value, path }
      return opened.value
    },
    begin: () => { before = current === null ? 0 : sizeOf(logOf(current.path)) },
    tear: () => {
      const after = current === null ? 0 : sizeOf(logOf(current.path))
      // A log that was begun anew meanwhile is left whole: what lies before the commit is not known then.
      if (after <= before) return false
      cut = before + random.below(after - before)
      return true
    },
    verify: async () => {
      const chain = await current?.journal.verifyChain()
      if (chain?.firstBadSeq !== null) throw new Error(`the chain is broken at ${String(chain?.firstBadSeq)}`)
    },
    remove: () => {
      current?.journal.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

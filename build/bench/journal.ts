import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { openJournal } from '../../src-main/adapters/sqlite/open.ts'
import { digestOfText } from '../../src-main/core/digest.ts'
import type { SqliteJournal } from '../../src-main/adapters/sqlite/journal.ts'
import type { Commit } from '../../src-main/engine/ports.ts'
import { median, quantile, type BenchRow } from './support/row.ts'

// Short rounds in turns, since the disk is shared: a pause of the machine hits one pair, not the result.
const rounds = 80
const commitsARound = 40
/** Until both logs have grown to their size and are written over: growing a file costs more than writing it. */
const warmingRounds = 30

/** A commit as the engine makes most of them: an event of some hundred bytes, an effect with every fourth. */
function commitOf(index: number, version: number): Commit {
  const at = 1_800_000_000_000 + index
  const event = { type: 'tool-ended', payload: { callId: `call_${index}`, tool: 'write', outcome: 'done', title: 'src/shipping.ts', output: 'The file was written. '.repeat(10), endedAt: at } }
  return {
    stream: 'task_01', commandId: `cmd_${String(index).padStart(26, '0')}`, contentDigest: digestOfText(String(index)), actor: 'host', at, expectedVersion: version, events: [event],
    effects: index % 4 === 0 ? [{ id: `effect_${index}`, kind: 'coder.answerPermission', payload: { permissionId: `per_${index}`, allow: true } }] : [], settles: [], retires: [],
  }
}

/** What a commit stores, as one text of the same size: all columns of its events, effects and receipt. */
function bytesOf(commit: Commit): string {
  const hashes = 2 * 71
  const events = commit.events.map((event) => JSON.stringify(event.payload) + event.type + commit.stream + commit.commandId + commit.actor + 'h'.repeat(hashes))
  const effects = commit.effects.map((effect) => JSON.stringify(effect.payload) + effect.id + effect.kind + commit.stream + commit.commandId + 'pending')
  return [...events, ...effects, commit.commandId + commit.stream + commit.actor + commit.contentDigest].join('')
}

/** Milliseconds that each step took. */
function timed(steps: readonly (() => void)[]): number[] {
  return steps.map((step) => {
    const begun = performance.now()
    step()
    return performance.now() - begun
  })
}

/** Steps a second, without the slowest twentieth: on a shared machine those are other people's. Their share is the same for both sides. */
function rate(stepsMs: readonly number[]): number {
  const kept = [...stepsMs].sort((a, b) => a - b).slice(0, Math.ceil(stepsMs.length * 0.95))
  return (kept.length * 1_000) / kept.reduce((sum, ms) => sum + ms, 0)
}

function ourRound(journal: SqliteJournal, first: number, version: number): { readonly steps: (() => void)[]; readonly version: number; readonly texts: string[] } {
  let next = version
  const commits = Array.from({ length: commitsARound }, (_, offset) => {
    const commit = commitOf(first + offset, next)
    next += commit.events.length
    return commit
  })
  const steps = commits.map((commit) => () => {
    const outcome = journal.commit(commit)
    if (outcome.is !== 'committed') throw new Error(`the journal answered ${outcome.is}`)
  })
  return { steps, version: next, texts: commits.map(bytesOf) }
}

/**
 * Durable commits a second (WAL, FULL) against raw better-sqlite3 that inserts the same bytes, one row a transaction, in the same file
 * system. And the cold read of 100,000 events.
 */
export async function bench(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(process.env['COUNTERSIGN_BENCH_DIR'] ?? tmpdir(), 'journal-bench-'))
  try {
    return [...commitRows(folder), ...await readRows(folder)]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function commitRows(folder: string): BenchRow[] {
  const journal = opened(join(folder, 'ours.sqlite'))
  const raw = new Database(join(folder, 'raw.sqlite'))
  raw.pragma('journal_mode = WAL')
  raw.pragma('synchronous = FULL')
  raw.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT')
  const insert = raw.prepare('INSERT INTO rows (body) VALUES (?)')
  const ours: number[][] = []
  const theirs: number[][] = []
  try {
    let version = 0
    for (let round = 0; round < warmingRounds + rounds; round++) {
      const { steps, texts, version: next } = ourRound(journal, round * commitsARound, version)
      version = next
      const rawSteps = texts.map((text) => () => { insert.run(text) })
      const first = round % 2 === 0 ? null : timed(rawSteps)
      const mine = timed(steps)
      const reference = first ?? timed(rawSteps)
      if (round < warmingRounds) continue
      ours.push(mine)
      theirs.push(reference)
    }
  } finally {
    journal.close()
    raw.close()
  }
  // Of each pair of rounds, which had the same minute; then the middle one.
  const ratio = median(ours.map((mine, round) => rate(mine) / rate(theirs[round] ?? [])))
  const p99 = quantile(ours.flat(), 0.99)
  return [
    { name: 'journal: durable commits a second (FULL)', value: median(ours.map(rate)), unit: '1/s', reference: median(theirs.map(rate)), ratio, gate: '≥ 0.8 × raw insert', pass: ratio >= 0.8 },
    { name: 'journal: p99 of a durable commit', value: p99, unit: 'ms', reference: null, ratio: null, gate: '≤ 15 ms', pass: p99 <= 15 },
  ]
}

const eventsToRead = 100_000

async function readRows(folder: string): Promise<BenchRow[]> {
  const path = join(folder, 'read.sqlite')
  const filling = opened(path)
  for (let version = 0, index = 0; version < eventsToRead; version += 100, index++) {
    const [event] = commitOf(index, 0).events
    filling.commit({ ...commitOf(index, version), events: Array.from({ length: 100 }, () => event ?? { type: 'none', payload: null }), effects: [] })
  }
  filling.close()
  const openedAt = performance.now()
  const journal = opened(path)
  const openMs = performance.now() - openedAt
  const readAt = performance.now()
  let read = 0
  for (const stream of journal.streams()) for (const _event of journal.read(stream)) read += 1
  const readMs = performance.now() - readAt
  const verifiedAt = performance.now()
  const chain = await journal.verifyChain()
  const verifyMs = performance.now() - verifiedAt
  journal.close()
  if (read !== eventsToRead || chain.firstBadSeq !== null) throw new Error(`read ${read} events, first bad ${String(chain.firstBadSeq)}`)
  const shown = (name: string, value: number): BenchRow => ({ name: `journal of 100,000 events: ${name}`, value, unit: 'ms', reference: null, ratio: null, gate: 'shown only', pass: null })
  return [shown('open with check', openMs), shown('read all', readMs), shown('verify the chain', verifyMs)]
}

function opened(path: string): SqliteJournal {
  const result = openJournal({ path, clock: { now: () => Date.now() } })
  if (!result.ok) throw new Error(result.error.message)
  return result.value
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openJournal } from '../../src-main/adapters/sqlite/open.ts'
import { digestOfText } from '../../src-main/core/digest.ts'
import type { SqliteJournal } from '../../src-main/adapters/sqlite/journal.ts'
import type { Commit } from '../../src-main/engine/ports.ts'
import { insertsOfOneText, insertsOfRows } from './support/raw-inserts.ts'
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

interface Side { readonly name: string; readonly step: (commit: Commit) => () => void; readonly close: () => void; readonly rounds: number[][] }

function ourSide(path: string): Side {
  const journal = opened(path)
  const step = (commit: Commit) => (): void => {
    const outcome = journal.commit(commit)
    if (outcome.is !== 'committed') throw new Error(`the journal answered ${outcome.is}`)
  }
  return { name: 'ours', step, close: () => { journal.close() }, rounds: [] }
}

/**
 * Durable commits a second (WAL, FULL). What counts is beside what SQLite itself takes for the same bytes in the same places: plain better-sqlite3 that inserts
 * the very rows, bound as they are stored, into tables and indexes of a journal's own file. Ours does on top all that a journal is for: canonical text,
 * redaction, hash chain, versions, repetitions told apart, what was stored read back. Shown beside it is the floor of any commit on this disk: the same bytes
 * as one text, one row a transaction, in a table without an index, which could neither find a command again nor read one task. And the cold read of 100,000 events.
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
  opened(join(folder, 'rows.sqlite')).close()
  const ours = ourSide(join(folder, 'ours.sqlite'))
  const sameRows: Side = { name: 'same rows', ...insertsOfRows(join(folder, 'rows.sqlite')), rounds: [] }
  const oneText: Side = { name: 'one text', ...insertsOfOneText(join(folder, 'text.sqlite')), rounds: [] }
  const sides = [ours, sameRows, oneText]
  try {
    for (let round = 0; round < warmingRounds + rounds; round++) {
      const commits = Array.from({ length: commitsARound }, (_, offset) => commitOf(round * commitsARound + offset, round * commitsARound + offset))
      for (const at of sides.keys()) {
        const side = sides[(round + at) % sides.length] ?? ours
        const stepsMs = timed(commits.map(side.step))
        if (round >= warmingRounds) side.rounds.push(stepsMs)
      }
    }
  } finally {
    for (const side of sides) side.close()
  }
  // Of the rounds that had the same minute; then the middle one.
  const beside = (other: Side): number => median(ours.rounds.map((mine, round) => rate(mine) / rate(other.rounds[round] ?? [])))
  const row = (name: string, other: Side, gate: string, pass: ((ratio: number) => boolean) | null): BenchRow => ({ name, value: median(ours.rounds.map(rate)), unit: '1/s', reference: median(other.rounds.map(rate)), ratio: beside(other), gate, pass: pass?.(beside(other)) ?? null })
  const p99 = quantile(ours.rounds.flat(), 0.99)
  return [
    row('journal: durable commits a second (FULL)', sameRows, '≥ 0.8 × raw inserts of the same rows', (ratio) => ratio >= 0.8),
    row('journal: the same beside one text without an index', oneText, 'shown only', null),
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

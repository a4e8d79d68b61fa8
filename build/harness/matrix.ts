import type { RoomOptions, ScriptedRoom } from '../../src-main/adapters/memory/scripted-room.ts'
import type { Random } from './random.ts'

/** Where a check runs: which journal keeps its facts, and which transport carries its envelopes. */
export interface Ground {
  readonly journal: 'memory' | 'sqlite'
  readonly random: Random
  /** Opens an app on a journal of its own, which outlives its restarts. After the check its whole history is held against the laws of a task. */
  room(options?: Omit<RoomOptions, 'journal'>): Promise<ScriptedRoom>
}

/** One promise with the code that would show it broken. */
export interface Check {
  readonly promise: string
  /** Errors that the engine is expected to log on the way; any other fails the check. */
  readonly expectErrors?: RegExp
  /** Checks that sweep many histories keep to the journal in memory, or thin out on SQLite by themselves. */
  readonly only?: Ground['journal']
  readonly run: (ground: Ground) => Promise<void>
}

/** One case of the collaboration matrix. */
export interface Row { readonly name: string; readonly mustHold: string; readonly transport: 'room' | 'direct'; readonly checks: readonly Check[] }

export interface Outcome { readonly row: Row; readonly check: Check; readonly journal: Ground['journal']; readonly failure: string | null; readonly ms: number }

/** The matrix as a table: a line for each case and transport, with how many checks held. */
export function printMatrix(rows: readonly Row[], outcomes: readonly Outcome[]): string {
  const lines = rows.map((row) => {
    const of = outcomes.filter((outcome) => outcome.row === row)
    const failed = of.filter((outcome) => outcome.failure !== null).length
    return [row.name, row.transport, row.mustHold, failed === 0 ? `held (${String(of.length)} checks)` : `BROKEN (${String(failed)} of ${String(of.length)} checks)`]
  })
  const all = [['case', 'transport', 'must hold', 'result'], ...lines]
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((line) => line[column]?.length ?? 0)))
  return all.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ').trimEnd()).join('\n')
}

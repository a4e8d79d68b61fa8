import type { Tally } from '../../checks/tally.ts'

/**
 * One line of the performance table. `reference`: the peer or limit that was measured or set in the same run, null when there is none;
 * `ratio`: value by reference; `gate`: what must hold, in words; `pass` null: shown, not judged; `skipped`: its gate could not be judged here,
 * since the reference is missing.
 */
export interface BenchRow {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly reference: number | null
  readonly ratio: number | null
  readonly gate: string
  readonly pass: boolean | null | 'skipped'
}

/** A file `build/bench/NAME.ts` exports its measurement as `bench`. It cleans up after itself and throws when it could not measure. */
export type Bench = () => Promise<readonly BenchRow[]>

/** A row of milliseconds that must not be more than `limitMs`. */
export function atMostMs(name: string, value: number, limitMs: number): BenchRow {
  return { name, value, unit: 'ms', reference: limitMs, ratio: value / limitMs, gate: `≤ ${limitMs} ms`, pass: value <= limitMs }
}

/** What the table says of a row. */
export function verdictOf({ pass }: Pick<BenchRow, 'pass'>): '' | 'pass' | 'FAIL' | 'skipped' {
  return pass === null ? '' : pass === 'skipped' ? 'skipped' : pass ? 'pass' : 'FAIL'
}

/** The rows' gates, counted. One that could not be judged is skipped, and never a pass. */
export function tallyOf(rows: readonly Pick<BenchRow, 'pass'>[]): Tally {
  const count = (verdict: ReturnType<typeof verdictOf>): number => rows.filter((row) => verdictOf(row) === verdict).length
  return { passed: count('pass'), failed: count('FAIL'), skipped: count('skipped') }
}

/** The value at `share` (0 to 1) of the sorted values; NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

/** The middle value; NaN of none. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** Milliseconds since the epoch, finer than whole ones. All processes of a machine agree on it. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now()
}

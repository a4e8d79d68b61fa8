import { readFileSync } from 'node:fs'

/** How many checks of one runner ended how. */
export interface Tally {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** Sums tallies. */
export function total(tallies: readonly Tally[]): Tally {
  const sum = (field: keyof Tally) => tallies.reduce((before, tally) => before + tally[field], 0)
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') }
}

/** The closing line that every runner of this project prints. */
export function closingLine(tally: Tally): string {
  return `${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`
}

/** The last closing line in what a runner said; undefined where there is none. */
export function saidTally(output: string): Tally | undefined {
  const last = [...output.matchAll(/^(\d+) passed, (\d+) failed, (\d+) skipped$/gm)].at(-1)
  return last === undefined ? undefined : { passed: Number(last[1]), failed: Number(last[2]), skipped: Number(last[3]) }
}

/**
 * Reads vitest's JSON report. A file that could not even be collected counts as one failure.
 * @throws when the report is missing or of another shape
 */
export function vitestTally(reportPath: string): Tally {
  const report = readReport(reportPath)
  const suitesBroken = count(report, 'numFailedTestSuites') > 0 && count(report, 'numFailedTests') === 0 ? 1 : 0
  return {
    passed: count(report, 'numPassedTests'),
    failed: count(report, 'numFailedTests') + suitesBroken,
    skipped: count(report, 'numPendingTests') + count(report, 'numTodoTests'),
  }
}

/**
 * Reads Playwright's JSON report. A flaky test counts as failed: it failed once.
 * @throws when the report is missing or of another shape
 */
export function playwrightTally(reportPath: string): Tally {
  const { stats } = readReport(reportPath)
  if (!isRecord(stats)) throw new Error(`${reportPath} has no stats`)
  return { passed: count(stats, 'expected'), failed: count(stats, 'unexpected') + count(stats, 'flaky'), skipped: count(stats, 'skipped') }
}

function readReport(path: string): Record<string, unknown> {
  const parsed: unknown = JSON.parse(readFileSync(path, 'utf8'))
  if (!isRecord(parsed)) throw new Error(`${path} is no report`)
  return parsed
}

function count(record: Record<string, unknown>, field: string): number {
  const value = record[field]
  if (typeof value !== 'number') throw new Error(`the report has no number ${field}`)
  return value
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

import { readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

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

/** Lines of one failure's message that are told again. */
const messageLinesMax = 8

/** The failures of vitest's JSON report, each its file, its name and the start of its message. Of a file that could not be collected: the file and why. */
export function vitestFailures(reportPath: string): readonly string[] {
  return list(readReport(reportPath)['testResults']).flatMap((file) => {
    const tests = list(file['assertionResults']).filter(({ status }) => status === 'failed')
    if (tests.length === 0) return file['status'] === 'failed' ? [failure(file['name'], 'could not be run', file['message'])] : []
    return tests.map((test) => failure(file['name'], test['fullName'], (Array.isArray(test['failureMessages']) ? test['failureMessages'] : []).join('\n')))
  })
}

/** The failures of Playwright's JSON report, flaky ones too, each its file, its name and the start of its last message. */
export function playwrightFailures(reportPath: string): readonly string[] {
  const report = readReport(reportPath)
  const specs = (suite: Record<string, unknown>): Record<string, unknown>[] => [...list(suite['specs']), ...list(suite['suites']).flatMap(specs)]
  const failed = specs(report).flatMap((spec) =>
    list(spec['tests']).filter(({ status }) => status === 'unexpected' || status === 'flaky').map((test) => {
      const errors = list(test['results']).flatMap((result) => list(result['errors']))
      return failure(spec['file'], spec['title'], errors[0]?.['message'])
    }))
  return [...failed, ...list(report['errors']).map((error) => failure('playwright', 'could not run', error['message']))]
}

function failure(file: unknown, name: unknown, message: unknown): string {
  // eslint-disable-next-line no-control-regex -- what a terminal's colours are made of
  const plain = text(message).replaceAll(/\u001B\[[\d;]*m/g, '')
  const lines = plain.split('\n').filter((line) => line.trim() !== '').slice(0, messageLinesMax)
  return [`${relative(root, resolve(root, text(file)))} › ${text(name)}`, ...lines.map((line) => `    ${line}`)].join('\n')
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
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

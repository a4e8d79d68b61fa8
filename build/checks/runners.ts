import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { exitCodeOf } from '../runtime/run-command.ts'
import { closingLine, ownTally, playwrightTally, total, vitestTally, type Tally } from './tally.ts'

const root = resolve(import.meta.dirname, '../..')
const reports = join(root, 'dist/reports')

/** One check of `npm test`: an npm script, and how to count what it did. */
export interface Runner {
  readonly script: string
  readonly arguments?: readonly string[]
  /** Where the script leaves a JSON report; without one the script is a single check. */
  readonly report?: { readonly path: string; readonly read: (path: string) => Tally }
}

const vitestReport = join(reports, 'vitest.json')
const acceptanceReport = join(reports, 'acceptance.json')
const playwrightReport = join(reports, 'playwright.json')

/** The first half of CI: `npm run verify`. Cheapest first; set-up before all, since unit tests use the real sandbox. */
export const verifyRunners: readonly Runner[] = [
  { script: 'set-up' },
  { script: 'types' },
  { script: 'boundaries' },
  { script: 'knip' },
  { script: 'lint' },
  {
    script: 'unit',
    arguments: ['--reporter=default', '--reporter=json', `--outputFile.json=${vitestReport}`],
    report: { path: vitestReport, read: vitestTally },
  },
  { script: 'build' },
]

/** The second half, on the packaged app. Further runners are added here. */
export const packagedRunners: readonly Runner[] = [
  { script: 'isolation', arguments: ['--other-account'] },
  { script: 'harness' },
  { script: 'simulate' },
  { script: 'package', arguments: ['--inspectable'] },
  { script: 'e2e', report: { path: playwrightReport, read: playwrightTally } },
  { script: 'soak', arguments: ['--kills', '20'] },
  { script: 'acceptance', arguments: ['--share'], report: { path: acceptanceReport, read: ownTally } },
  { script: 'deb-check' },
]

/**
 * Runs all of `runners`, each to its end even after a failure, and prints a line for each and the sum as the last line.
 * Gives the exit code: 1 when anything failed or nothing ran.
 */
export async function runAll(runners: readonly Runner[]): Promise<number> {
  const results: { readonly script: string; readonly tally: Tally; readonly seconds: number }[] = []
  for (const runner of runners) {
    console.log(`\n── ${runner.script}`)
    const begun = performance.now()
    const tally = await runOne(runner)
    results.push({ script: runner.script, tally, seconds: (performance.now() - begun) / 1000 })
  }
  console.log('\n── summary')
  for (const { script, tally, seconds } of results) console.log(`${script.padEnd(12)} ${closingLine(tally)} (${seconds.toFixed(1)} s)`)
  const sum = total(results.map(({ tally }) => tally))
  console.log(`\n${closingLine(sum)}`)
  return sum.failed > 0 || sum.passed === 0 ? 1 : 0
}

async function runOne({ script, arguments: extra = [], report }: Runner): Promise<Tally> {
  if (report !== undefined) {
    await mkdir(dirname(report.path), { recursive: true })
    await rm(report.path, { force: true })
  }
  const code = await exitCodeOf('npm', ['run', '--silent', script, ...(extra.length > 0 ? ['--', ...extra] : [])], { cwd: root })
  const counted = report !== undefined && existsSync(report.path) ? report.read(report.path) : { passed: 0, failed: 0, skipped: 0 }
  if (code !== 0) return { ...counted, failed: Math.max(1, counted.failed) }
  // A runner that says yes without having run a test is a failure.
  if (report !== undefined && counted.passed === 0) return { ...counted, failed: Math.max(1, counted.failed) }
  return report === undefined ? { passed: 1, failed: 0, skipped: 0 } : counted
}

import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { constants } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { exitCodeOf } from '../runtime/run-command.ts'
import { whyNoDebian } from './debian-root.ts'
import { closingLine, playwrightFailures, playwrightTally, saidTally, total, vitestFailures, vitestTally, type Tally } from './tally.ts'
import { listenForEnd } from './told-to-end.ts'

const root = resolve(import.meta.dirname, '../..')
const reports = join(root, 'dist/reports')

/** Of what a runner says: enough for its closing line, and to show how it failed. */
const saidCharsMax = 4_096

/** Failures of one runner that are told again at the end. */
const failuresToldMax = 25

/** One check of `npm test`: an npm script, and how to count what it did. */
export interface Runner {
  readonly script: string
  readonly arguments?: readonly string[]
  /** Where the script leaves a JSON report; without one the script is a single check. */
  readonly report?: { readonly path: string; readonly read: (path: string) => Tally; readonly failures: (path: string) => readonly string[] }
  /** The script ends with a closing line of its own, whose numbers count. */
  readonly says?: boolean
  /** Why it cannot run here at all, in words; null where it can. It is counted as skipped then: run by itself it would fail. */
  readonly unfit?: () => string | null
}

const vitestReport = join(reports, 'vitest.json')
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
    report: { path: vitestReport, read: vitestTally, failures: vitestFailures },
  },
  { script: 'build' },
]

/** The second half: what runs long or needs a screen, most of it on the packaged app. Further runners are added here. */
export const packagedRunners: readonly Runner[] = [
  { script: 'isolation', arguments: ['--other-account'], says: true, unfit: () => (process.getuid?.() === 0 ? null : 'this is an ordinary account, and the unit tests were that half') },
  { script: 'harness', says: true },
  { script: 'simulate', says: true },
  { script: 'stories', says: true },
  { script: 'package', arguments: ['--inspectable'] },
  { script: 'e2e', report: { path: playwrightReport, read: playwrightTally, failures: playwrightFailures } },
  { script: 'soak', arguments: ['--kills', '20'], says: true },
  { script: 'acceptance', arguments: ['--share'], says: true },
  { script: 'deb-check', says: true, unfit: whyNoDebian },
]

/**
 * Runs all of `runners`, each to its end even after a failure, and prints again what failed, a line for each runner and the sum as the last line: who
 * keeps only the end of a long output has what is needed. Told to end by a signal, it hands that to the one that runs, starts none of the others and
 * names them.
 * Gives the exit code: 1 when anything failed or nothing ran, 128 + signal number when it was told to end.
 */
export async function runAll(runners: readonly Runner[]): Promise<number> {
  const results: { readonly script: string; readonly tally: Tally; readonly seconds: number; readonly failures: readonly string[] }[] = []
  const told = listenForEnd()
  try {
    for (const runner of runners) {
      console.log(`\n── ${runner.script}`)
      const begun = performance.now()
      const { tally, failures } = await runOne(runner)
      const seconds = (performance.now() - begun) / 1000
      results.push({ script: runner.script, tally, seconds, failures: told.signal === null ? failures : [] })
      if (told.signal !== null) break
    }
  } finally {
    told.stop()
  }
  for (const { script, failures } of results.filter((result) => result.failures.length > 0)) {
    console.log(`\n── failed in ${script}`)
    for (const failure of failures.slice(0, failuresToldMax)) console.log(failure)
    if (failures.length > failuresToldMax) console.log(`and ${String(failures.length - failuresToldMax)} more, above`)
  }
  console.log('\n── summary')
  for (const { script, tally, seconds } of results) console.log(`${script.padEnd(12)} ${closingLine(tally)} (${seconds.toFixed(1)} s)`)
  const { signal } = told
  if (signal !== null) console.log(`ended by ${signal}; not run: ${runners.slice(results.length).map(({ script }) => script).join(', ') || 'none'}`)
  const sum = total(results.map(({ tally }) => tally))
  console.log(`\n${closingLine(sum)}`)
  if (signal !== null) return 128 + constants.signals[signal]
  return sum.failed > 0 || sum.passed === 0 ? 1 : 0
}

interface Outcome {
  readonly tally: Tally
  /** What failed, each with its reason; the end of what the runner said where it leaves no report. */
  readonly failures: readonly string[]
}

async function runOne({ script, arguments: extra = [], report, says = false, unfit }: Runner): Promise<Outcome> {
  const why = unfit?.() ?? null
  if (why !== null) {
    console.log(`skipped: ${why}`)
    return { tally: { passed: 0, failed: 0, skipped: 1 }, failures: [] }
  }
  if (report !== undefined) {
    await mkdir(dirname(report.path), { recursive: true })
    await rm(report.path, { force: true })
  }
  let said = ''
  const code = await exitCodeOf('npm', ['run', '--silent', script, ...(extra.length > 0 ? ['--', ...extra] : [])], {
    cwd: root, seen: (chunk: Buffer) => { said = (said + chunk.toString()).slice(-saidCharsMax) },
  })
  const reported = report !== undefined && existsSync(report.path) ? report : null
  const tally = tallyOf(code, reported?.read(reported.path) ?? (says ? saidTally(said) : undefined), report === undefined && !says)
  const named = reported?.failures(reported.path) ?? []
  return { tally, failures: tally.failed === 0 || named.length > 0 ? named : [said.trim()] }
}

/** What a runner's exit code makes of what it counted. `single`: it counts nothing, since it is one check itself. */
function tallyOf(code: number, counted: Tally = { passed: 0, failed: 0, skipped: 0 }, single = false): Tally {
  if (code === 0 && single) return { passed: 1, failed: 0, skipped: 0 }
  // A runner that says yes without having run a test is a failure.
  return code !== 0 || counted.passed === 0 ? { ...counted, failed: Math.max(1, counted.failed) } : counted
}

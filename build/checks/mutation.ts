// `npm run mutation [-- area[/file.ts] …]`: changes the code of what decides over consent and isolation, one place at a time, and looks whether a test notices.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import { exitCodeOf } from '../runtime/run-command.ts'
import { closingLine } from './tally.ts'

const root = resolve(import.meta.dirname, '../..')
const reports = join(root, 'dist/reports')
/** Of the mutants that can be noticed, so many in a hundred must be. */
const killedPercentMin = 90
/** Each runs the tests in a process of its own; one core stays free. */
const concurrency = Math.max(1, availableParallelism() - 1)
/** Beyond what its tests took without a mutant. A mutant that loops for ever costs as much each time. */
const mutantMs = 5_000

/** One file and the tests that have to notice what is changed in it. */
interface Part { readonly file: string; readonly tests: readonly string[] }
interface Area { readonly name: string; readonly parts: readonly Part[] }

/** A folder of the core, file by file: each by the tests that bear its name (`budget-edges.test.ts` is of `budget.ts`), a file without one by all of the folder's. */
function core(folder: string): Area {
  const names = readdirSync(join(root, 'src-main/core', folder)).map((name) => `src-main/core/${folder}/${name}`)
  const tests = names.filter((name) => name.endsWith('.test.ts'))
  const files = names.filter((name) => /(?<!\.test|\.suite|\.d)\.ts$/.test(name))
  return { name: folder, parts: files.map((file) => {
    const own = tests.filter((test) => test.startsWith(file.replace(/\.ts$/, '')) && /^(-[a-z]+)?\.test\.ts$/.test(test.slice(file.length - 3)))
    return { file, tests: own.length === 0 ? tests : own }
  }) }
}

const areas: readonly Area[] = [
  { name: 'sandbox', parts: [{ file: 'src-main/adapters/sandbox/bubblewrap-arguments.ts', tests: ['src-main/adapters/sandbox/bubblewrap-arguments.test.ts'] }] },
  core('approval'), core('budget'), core('envelope'),
]

const reportSchema = z.object({ files: z.record(z.string(), z.object({ source: z.string(), mutants: z.array(z.object({ status: z.string(), mutatorName: z.string(), replacement: z.string().optional(), location: z.object({ start: z.object({ line: z.number() }) }) })) })) })

/** `endless`: those of the noticed that ran out of time. Each has to be a loop without an end; on a machine that is busy with other things it may be a test that was only slow. */
interface Outcome { readonly killed: number; readonly all: number; readonly left: readonly string[]; readonly endless: readonly string[] }

/** Mutants that did not compile or load say nothing and do not count. A timeout is noticed, too: the test would hang. */
function outcomeOf(reportPath: string): Outcome {
  const { files } = reportSchema.parse(JSON.parse(readFileSync(reportPath, 'utf8')))
  let [killed, all] = [0, 0]
  const [left, endless]: [string[], string[]] = [[], []]
  for (const [file, { source, mutants }] of Object.entries(files)) {
    const lines = source.split('\n')
    for (const { status, mutatorName, replacement, location: { start } } of mutants) {
      const named = `${file}:${String(start.line)} ${mutatorName} → ${(replacement ?? '').slice(0, 60)} | ${lines[start.line - 1]?.trim().slice(0, 100) ?? ''}`
      if (status === 'Killed' || status === 'Timeout') killed += 1
      else if (status === 'Survived' || status === 'NoCoverage') left.push(named)
      else continue
      if (status === 'Timeout') endless.push(named)
      all += 1
    }
  }
  return { killed, all, left: left.sort(), endless: endless.sort() }
}

const reportOf = (file: string): string => join(reports, `mutation-${basename(file)}.json`)

/** What the last run of a file found; null where there was none, or the file has changed since. */
function lastOutcome(file: string): Outcome | null {
  if (!existsSync(reportOf(file))) return null
  const { files } = reportSchema.parse(JSON.parse(readFileSync(reportOf(file), 'utf8')))
  return files[file]?.source === readFileSync(join(root, file), 'utf8') ? outcomeOf(reportOf(file)) : null
}

async function runPart({ file, tests }: Part): Promise<Outcome | null> {
  const report = reportOf(file)
  const configuration = join(root, 'node_modules/.cache', basename(report))
  await rm(report, { force: true })
  await mkdir(dirname(configuration), { recursive: true })
  await writeFile(configuration, JSON.stringify({
    testRunner: 'vitest', plugins: ['@stryker-mutator/vitest-runner'], vitest: { configFile: 'build/checks/mutation/vitest.config.ts', related: false }, mutate: [file], ignorePatterns: ['dist', 'out', 'docs'],
    coverageAnalysis: 'perTest', concurrency, timeoutMS: mutantMs, reporters: ['json', 'progress-append-only'], jsonReporter: { fileName: report }, tempDirName: 'node_modules/.cache/mutation', allowConsoleColors: false, logLevel: 'error',
  }))
  const code = await exitCodeOf(join(root, 'node_modules/.bin/stryker'), ['run', configuration], { cwd: root, env: { ...process.env, MUTATION_TESTS: tests.join(',') } })
  return code === 0 && existsSync(report) ? outcomeOf(report) : null
}

/** The area that is asked for, or one file of it. */
function named(wanted: string): Area {
  const [areaName = '', file] = wanted.split('/')
  const area = areas.find(({ name }) => name === areaName)
  const parts = area?.parts.filter((part) => file === undefined || basename(part.file) === file) ?? []
  if (area === undefined || parts.length === 0) throw new Error(`There is no ${wanted}: ${areas.map(({ name, parts: all }) => `${name} (${all.map((part) => basename(part.file)).join(', ')})`).join(', ')}.`)
  return { name: wanted, parts }
}

const percentOf = ({ killed, all }: Pick<Outcome, 'killed' | 'all'>): string => (all === 0 ? 'nothing to change' : `${((killed / all) * 100).toFixed(1)} %`)
const shareOf = (outcome: Pick<Outcome, 'killed' | 'all'>): string => `${String(outcome.killed)} of ${String(outcome.all)} noticed, ${percentOf(outcome)}`

/** Gives whether enough of the area's mutants were noticed. Of each file a line, and each mutant that was not noticed. */
async function runArea({ name, parts }: Area): Promise<boolean> {
  const [began, sum] = [performance.now(), { killed: 0, all: 0 }]
  let whole = true
  for (const part of parts) {
    const outcome = await runPart(part)
    for (const left of outcome?.left ?? []) console.log(`  not noticed: ${left}`)
    for (const endless of outcome?.endless ?? []) console.log(`  ran out of time: ${endless}`)
    console.log(`  ${basename(part.file)}: ${outcome === null ? 'did not run' : shareOf(outcome)}`)
    whole &&= outcome !== null
    sum.killed += outcome?.killed ?? 0
    sum.all += outcome?.all ?? 0
  }
  const good = whole && sum.all > 0 && (sum.killed / sum.all) * 100 >= killedPercentMin
  console.log(`${name}: ${shareOf(sum)}, in ${((performance.now() - began) / 60_000).toFixed(1)} min${good ? '' : `: less than ${String(killedPercentMin)} %, or not all of it`}`)
  return good
}

interface Figures { readonly killed: number; readonly all: number; readonly endless: number }
const sumOf = (all: readonly Figures[]): Figures => all.reduce((sum, each) => ({ killed: sum.killed + each.killed, all: sum.all + each.all, endless: sum.endless + each.endless }), { killed: 0, all: 0, endless: 0 })

/** What is known of every file by now, by this run or by one before it: as a table, and in `dist/reports/mutation.json`. */
async function tellFigures(): Promise<void> {
  const rows: { readonly name: string; readonly figures: Figures | null }[] = []
  for (const { name, parts } of areas) {
    const files = parts.map(({ file }) => { const last = lastOutcome(file); return { name: file, figures: last === null ? null : { killed: last.killed, all: last.all, endless: last.endless.length } } })
    const known = files.flatMap(({ figures }) => figures ?? [])
    rows.push(...files, { name: `${name}, ${known.length === files.length ? 'all of it' : 'as far as it was run'}`, figures: sumOf(known) })
  }
  const width = Math.max(...rows.map(({ name }) => name.length))
  for (const { name, figures } of rows) console.log(`${name.padEnd(width)}  ${figures === null ? 'not run since it changed' : `${String(figures.killed).padStart(4)} of ${String(figures.all).padStart(4)}  ${percentOf(figures).padStart(7)}  ${String(figures.endless)} by running out of time`}`)
  await writeFile(join(reports, 'mutation.json'), `${JSON.stringify(Object.fromEntries(rows.map(({ name, figures }) => [name, figures])), null, 2)}\n`)
}

async function mutation(wanted: readonly string[]): Promise<number> {
  await mkdir(reports, { recursive: true })
  const chosen = wanted.length === 0 ? areas : wanted.map(named)
  const tally = { passed: 0, failed: 0, skipped: areas.filter(({ name }) => !wanted.some((each) => each.split('/')[0] === name) && wanted.length > 0).length }
  for (const area of chosen) tally[await runArea(area) ? 'passed' : 'failed'] += 1
  await tellFigures()
  console.log(closingLine(tally))
  return tally.failed > 0 || tally.passed === 0 ? 1 : 0
}

process.exitCode = await mutation(process.argv.slice(2))

// `npm run mutation [-- area[/file.ts] …]`: changes the code of what decides over consent and isolation, one place at a time, and looks whether a test notices.
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { dirname, join, resolve } from 'node:path'
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

interface Area { readonly name: string; readonly mutate: readonly string[]; readonly tests: readonly string[] }

/** A folder of the core, by the tests beside it and, where a folder's rules are seen best through a task's decisions, by those. */
const core = (folder: string, throughTasks: readonly string[] = []): Area => ({
  name: folder, mutate: [`src-main/core/${folder}/*.ts`, `!src-main/core/${folder}/*.test.ts`, `!src-main/core/${folder}/*.d.ts`], tests: [`src-main/core/${folder}/*.test.ts`, ...throughTasks.map((name) => `src-main/core/task/${name}.test.ts`)],
})

const areas: readonly Area[] = [
  { name: 'sandbox', mutate: ['src-main/adapters/sandbox/bubblewrap-arguments.ts'], tests: ['src-main/adapters/sandbox/bubblewrap-arguments.test.ts'] },
  core('approval', ['decide-grant']), core('budget'), core('envelope'),
]

const reportSchema = z.object({ files: z.record(z.string(), z.object({ source: z.string(), mutants: z.array(z.object({ status: z.string(), mutatorName: z.string(), replacement: z.string().optional(), location: z.object({ start: z.object({ line: z.number() }) }) })) })) })

interface Outcome { readonly killed: number; readonly all: number; readonly left: readonly string[] }

/** Mutants that did not compile or load say nothing and do not count. A timeout is noticed, too: the test would hang. */
function outcomeOf(reportPath: string): Outcome {
  const { files } = reportSchema.parse(JSON.parse(readFileSync(reportPath, 'utf8')))
  let [killed, all] = [0, 0]
  const left: string[] = []
  for (const [file, { source, mutants }] of Object.entries(files)) {
    const lines = source.split('\n')
    for (const { status, mutatorName, replacement, location: { start } } of mutants) {
      if (status === 'Killed' || status === 'Timeout') killed += 1
      else if (status === 'Survived' || status === 'NoCoverage') left.push(`${file}:${String(start.line)} ${mutatorName} → ${(replacement ?? '').slice(0, 60)} | ${lines[start.line - 1]?.trim().slice(0, 100) ?? ''}`)
      else continue
      all += 1
    }
  }
  return { killed, all, left: left.sort() }
}

async function runArea(area: Area): Promise<Outcome | null> {
  const report = join(reports, `mutation-${area.name}.json`)
  const configuration = join(root, 'node_modules/.cache', `mutation-${area.name}.json`)
  await rm(report, { force: true })
  await mkdir(dirname(configuration), { recursive: true })
  await writeFile(configuration, JSON.stringify({
    testRunner: 'vitest', plugins: ['@stryker-mutator/vitest-runner'], vitest: { configFile: 'build/checks/mutation/vitest.config.ts', related: false }, mutate: area.mutate, ignorePatterns: ['dist', 'out', 'docs'],
    coverageAnalysis: 'perTest', concurrency, timeoutMS: mutantMs, reporters: ['json', 'progress-append-only'], jsonReporter: { fileName: report }, tempDirName: 'node_modules/.cache/mutation', allowConsoleColors: false, logLevel: 'error',
  }))
  const code = await exitCodeOf(join(root, 'node_modules/.bin/stryker'), ['run', configuration], { cwd: root, env: { ...process.env, MUTATION_TESTS: area.tests.join(',') } })
  return code === 0 && existsSync(report) ? outcomeOf(report) : null
}

/** The area that is asked for, or one file of it. */
function named(wanted: string): Area {
  const [areaName = '', file] = wanted.split('/')
  const area = areas.find(({ name }) => name === areaName)
  if (area === undefined) throw new Error(`There is no area ${areaName}: ${areas.map(({ name }) => name).join(', ')}.`)
  return file === undefined ? area : { ...area, name: `${areaName}-${file}`, mutate: [`src-main/core/${areaName}/${file}`] }
}

async function mutation(wanted: readonly string[]): Promise<number> {
  await mkdir(reports, { recursive: true })
  const chosen = wanted.length === 0 ? areas : wanted.map(named)
  const tally = { passed: 0, failed: 0, skipped: areas.filter(({ name }) => !wanted.some((each) => each.split('/')[0] === name) && wanted.length > 0).length }
  for (const area of chosen) {
    const began = performance.now()
    const outcome = await runArea(area)
    const percent = outcome === null || outcome.all === 0 ? 0 : (outcome.killed / outcome.all) * 100
    const good = percent >= killedPercentMin
    for (const left of outcome?.left ?? []) console.log(`  not noticed: ${left}`)
    console.log(`${area.name.padEnd(10)} ${outcome === null ? 'did not run' : `${String(outcome.killed)} of ${String(outcome.all)} noticed, ${percent.toFixed(1)} %, in ${((performance.now() - began) / 60_000).toFixed(1)} min`}${good ? '' : `, less than ${String(killedPercentMin)} %`}`)
    tally[good ? 'passed' : 'failed'] += 1
  }
  console.log(closingLine(tally))
  return tally.failed > 0 || tally.passed === 0 ? 1 : 0
}

process.exitCode = await mutation(process.argv.slice(2))

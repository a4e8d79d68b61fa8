// npm run bench [-- NAME …]: measures all of build/bench/*.ts, or the named ones; prints one table; writes dist/bench.json.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, release } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { closingLine } from '../checks/tally.ts'
import { tallyOf, verdictOf, type Bench, type BenchRow } from './support/row.ts'

const here = import.meta.dirname
const root = resolve(here, '../..')
const notBenches = new Set(['index.ts'])

function names(asked: readonly string[]): string[] {
  const all = readdirSync(here).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !notBenches.has(file)).map((file) => file.slice(0, -3)).sort()
  const unknown = asked.filter((name) => !all.includes(name))
  if (unknown.length > 0) throw new Error(`no such bench: ${unknown.join(', ')}. There are: ${all.join(', ')}`)
  return asked.length > 0 ? [...asked] : all
}

async function measured(name: string): Promise<readonly BenchRow[]> {
  console.error(`bench: ${name} …`)
  const module = (await import(pathToFileURL(join(here, `${name}.ts`)).href)) as { readonly bench?: Bench }
  if (module.bench === undefined) throw new Error(`build/bench/${name}.ts exports no bench`)
  try {
    return await module.bench()
  } catch (error) {
    // A measurement that breaks fails the run, and the others are still made.
    console.error(error)
    return [{ name: `${name}: could not be measured`, value: 0, unit: '', reference: null, ratio: null, gate: error instanceof Error ? error.message : String(error), pass: false }]
  }
}

function versions(): Record<string, string | number> {
  const pkg = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string; readonly dependencies: Record<string, string> }
  const commit = (): string => {
    try {
      return execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim()
    } catch {
      return 'unknown' // Not a checkout.
    }
  }
  return { app: pkg.version, commit: commit(), node: process.versions.node, betterSqlite3: pkg.dependencies['better-sqlite3'] ?? 'unknown', platform: `${process.platform} ${release()}`, cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length }
}

function table(rows: readonly BenchRow[]): string {
  const number = (value: number | null): string => (value === null ? '' : value >= 100 ? value.toFixed(0) : value.toPrecision(3))
  const cells = rows.map((row) => [row.name, number(row.value), row.unit, number(row.reference), number(row.ratio), row.gate, verdictOf(row)])
  const all = [['what', 'value', 'unit', 'reference', 'ratio', 'gate', ''], ...cells]
  const widths = all[0]?.map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0))) ?? []
  return all.map((line) => line.map((cell, column) => (column >= 1 && column !== 2 && column < 5 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0))).join('  ').trimEnd()).join('\n')
}

const rows: BenchRow[] = []
for (const name of names(process.argv.slice(2))) rows.push(...await measured(name))
mkdirSync(join(root, 'dist'), { recursive: true })
writeFileSync(join(root, 'dist/bench.json'), `${JSON.stringify({ versions: versions(), rows }, null, 2)}\n`)
const tally = tallyOf(rows)
console.log(table(rows))
console.log(`\n${closingLine(tally)}`)
process.exitCode = tally.failed > 0 || tally.passed === 0 ? 1 : 0

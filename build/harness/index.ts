// npm run harness [-- --seed N] [-- --only TEXT]: the offline collaboration matrix. Prints each case with what must hold and whether it held.
import { inspect, parseArgs } from 'node:util'
import { closingLine } from '../checks/tally.ts'
import { rows } from './cases/rows.ts'
import { makeGround } from './ground.ts'
import { printMatrix, type Check, type Ground, type Outcome, type Row } from './matrix.ts'
import { guardNetwork } from './network-guard.ts'
import { seeded } from './random.ts'

const { values } = parseArgs({ options: { seed: { type: 'string', default: '20261130' }, only: { type: 'string' } } })
const seed = Number.parseInt(values.seed, 10)
if (!Number.isSafeInteger(seed)) throw new Error(`no seed: ${values.seed}`)

const checkWithinMs = 60_000

async function runCheck(row: Row, check: Check, journal: Ground['journal']): Promise<Outcome> {
  const begun = performance.now()
  // Each check has numbers of its own, so that one of them can be run alone.
  const ground = makeGround(journal, seeded(seed ^ row.checks.indexOf(check) ^ (rows.indexOf(row) << 8)))
  let failure: string | null = null
  try {
    await withinTime(check.run(ground))
    await ground.finish(check.expectErrors)
  } catch (error) {
    failure = inspect(error)
  } finally {
    ground.clear()
  }
  return { row, check, journal, failure, ms: performance.now() - begun }
}

/** Real time, not the room's: a check that waits for what never comes is broken. */
async function withinTime(running: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, fail) => { timer = setTimeout(() => { fail(new Error('the check did not come to an end')) }, checkWithinMs) })
  try {
    await Promise.race([running, late])
  } finally {
    clearTimeout(timer)
  }
}

const guard = guardNetwork()
const outcomes: Outcome[] = []
const asked = rows.filter((row) => values.only === undefined || row.name.includes(values.only))
for (const row of asked) {
  for (const check of row.checks) {
    for (const journal of ['memory', 'sqlite'] as const) {
      if (check.only !== undefined && check.only !== journal) continue
      const before = guard.attempts.length
      const outcome = await runCheck(row, check, journal)
      const network = guard.attempts.slice(before)
      outcomes.push(network.length === 0 ? outcome : { ...outcome, failure: `unexpected network calls: ${network.join(', ')}\n${outcome.failure ?? ''}` })
    }
  }
}
guard.release()

for (const { row, check, journal, failure, ms } of outcomes) {
  if (failure !== null) console.error(`\nBROKEN: ${row.name} (${row.transport}): ${check.promise} [${journal}]\n${failure}`)
  else if (values.only !== undefined) console.log(`held: ${row.name}: ${check.promise} [${journal}, ${ms.toFixed(0)} ms]`)
}
const failed = outcomes.filter((outcome) => outcome.failure !== null).length
console.log(`\n${printMatrix(asked, outcomes)}\n`)
console.log(`seed ${String(seed)}; journals: memory, sqlite; network calls: ${String(guard.attempts.length)}`)
console.log(closingLine({ passed: outcomes.length - failed, failed, skipped: 0 }))
process.exitCode = failed > 0 || outcomes.length === 0 ? 1 : 0

// npm run simulate -- [--seeds N] [--from SEED]: owner, bots, disk and clock in one thread, by seed. Prints the seeds that break a law.
import { inspect, parseArgs } from 'node:util'
import { closingLine } from '../checks/tally.ts'
import { guardNetwork } from '../harness/network-guard.ts'
import { keptSeeds } from './kept-seeds.ts'
import { walk, type Walked } from './walk.ts'

const { values } = parseArgs({ options: { seeds: { type: 'string', default: '2000' }, from: { type: 'string', default: '1' } } })
const count = Number.parseInt(values.seeds, 10)
const from = Number.parseInt(values.from, 10)
const guard = guardNetwork()
const walked: Walked[] = []
const broken: number[] = []
const shownMax = 3

const seeds = [...keptSeeds, ...Array.from({ length: count }, (_, index) => from + index)]
const begun = performance.now()
for (const seed of seeds) {
  try {
    walked.push(await walk(seed))
  } catch (error) {
    broken.push(seed)
    if (broken.length <= shownMax) console.error(inspect(error))
  }
}
guard.release()

const ends = new Map<string, number>()
for (const status of walked.flatMap((one) => one.ends)) ends.set(status, (ends.get(status) ?? 0) + 1)
const sum = (of: (one: Walked) => number): number => walked.reduce((total, one) => total + of(one), 0)
console.log(`seeds ${String(from)} to ${String(from + count - 1)} and ${String(keptSeeds.length)} kept ones in ${((performance.now() - begun) / 1_000).toFixed(1)} s: ${String(sum((one) => one.events))} events, ${String(sum((one) => one.lives))} lives, ${String(sum((one) => one.uncertain))} times uncertain; tasks ended: ${[...ends].sort().map(([status, times]) => `${status} ${String(times)}`).join(', ')}`)
if (broken.length > 0) console.log(`broken seeds: ${broken.slice(0, 50).join(', ')}`)
if (guard.attempts.length > 0) console.log(`unexpected network calls: ${guard.attempts.join(', ')}`)
console.log(closingLine({ passed: walked.length, failed: broken.length + guard.attempts.length, skipped: 0 }))
process.exitCode = broken.length > 0 || guard.attempts.length > 0 || walked.length === 0 ? 1 : 0

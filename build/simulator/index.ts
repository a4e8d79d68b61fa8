// npm run simulate -- [--seeds N] [--from SEED]: owner, bots, proxy, disk and clock in one thread, by seed. Prints the seeds that break a law.
import { inspect, parseArgs } from 'node:util'
import { failpointNames, type Failpoint } from '../../src-main/engine/failpoints.ts'
import { closingLine } from '../checks/tally.ts'
import { guardNetwork } from '../harness/network-guard.ts'
import { keptSeeds } from './kept-seeds.ts'
import { addTroubles, missingTroubles, noTroubles, troublesInWords } from './tally.ts'
import { walk, type WalkOptions, type Walked } from './walk.ts'

const { values } = parseArgs({ options: { seeds: { type: 'string', default: '2000' }, from: { type: 'string', default: '1' } } })
const count = Number.parseInt(values.seeds, 10)
const from = Number.parseInt(values.from, 10)
const guard = guardNetwork()
const broken: string[] = []
const shownMax = 3
const sum = { walks: 0, events: 0, lives: 0, ends: new Map<string, number>() }
const troubles = noTroubles()

/** One seed in so many is walked on a real file. */
const filesEvery = 50
/** Every failpoint ends the app in at least so many walks of a run, within so many tries. */
const deathsWanted = 3
const triesMax = 200

async function tryWalk(seed: number, options: WalkOptions = {}): Promise<Walked | null> {
  try {
    const walked = await walk(seed, options)
    sum.walks += 1
    sum.events += walked.events
    sum.lives += walked.lives
    for (const status of walked.ends) sum.ends.set(status, (sum.ends.get(status) ?? 0) + 1)
    addTroubles(troubles, walked.troubles)
    if (options.files === true) troubles.restartsOnDisk += walked.lives - 1
    return walked
  } catch (error) {
    broken.push(`${String(seed)}${options.files === true ? ' on files' : ''}${options.dieAt === undefined ? '' : ` dying at ${options.dieAt.name}@${String(options.dieAt.nth)}`}`)
    if (broken.length <= shownMax) console.error(inspect(error))
    return null
  }
}

/** Dies at this failpoint in walk after walk. Gives how often it did. */
async function dieAt(name: Failpoint): Promise<number> {
  let deaths = 0
  for (let tried = 0; deaths < deathsWanted && tried < triesMax; tried += 1) {
    const walked = await tryWalk(from + tried, { dieAt: { name, nth: tried % 4 === 3 ? 2 : 1 } })
    if (walked === null || (walked.troubles.crashes.get(name) ?? 0) > 0) deaths += 1
  }
  return deaths
}

// Each abort makes an error with its stack: most of a walk's time. A single seed keeps them.
if (count > 1) Error.stackTraceLimit = 0
const begun = performance.now()
for (const seed of keptSeeds) await tryWalk(seed)
for (let seed = from; seed < from + count; seed += 1) {
  await tryWalk(seed)
  if (seed % filesEvery === 0) await tryWalk(seed, { files: true })
}
const unmet: Failpoint[] = []
for (const name of failpointNames) if (await dieAt(name) < deathsWanted) unmet.push(name)
guard.release()

// A run of some size in which a kind of trouble never came is no proof.
const missing = count >= 1_000 ? missingTroubles(troubles) : []
console.log(`seeds ${String(from)} to ${String(from + count - 1)}, ${String(keptSeeds.length)} kept ones, and deaths at each of ${String(failpointNames.length)} failpoints, in ${((performance.now() - begun) / 1_000).toFixed(1)} s: ${String(sum.walks)} walks, ${String(sum.events)} events, ${String(sum.lives)} lives; tasks ended: ${[...sum.ends].sort().map(([status, times]) => `${status} ${String(times)}`).join(', ')}`)
console.log(troublesInWords(troubles))
if (broken.length > 0) console.log(`broken seeds: ${broken.slice(0, 50).join(', ')}`)
if (unmet.length > 0) console.log(`failpoints at which nothing died: ${unmet.join(', ')}`)
if (missing.length > 0) console.log(`troubles that never came: ${missing.join(', ')}`)
if (guard.attempts.length > 0) console.log(`unexpected network calls: ${guard.attempts.join(', ')}`)
const failed = broken.length + unmet.length + missing.length + guard.attempts.length
console.log(closingLine({ passed: sum.walks, failed, skipped: 0 }))
process.exitCode = failed > 0 || sum.walks === 0 ? 1 : 0

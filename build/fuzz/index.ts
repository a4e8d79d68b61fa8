// npm run fuzz-envelopes -- [--minutes N] [--seed N]: whatever may arrive as an envelope, for as long as is wanted. Prints the seed that breaks a promise.
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { closingLine } from '../checks/tally.ts'
import { fuzzedPromises } from './properties.ts'

const runsABatch = 200
/** Without a word for this long, the input that is being tried hangs. */
const silenceMs = 120_000

interface Order { readonly minutes: number; readonly seed: number }
type Said = { readonly is: 'trying'; readonly promise: string; readonly seed: number } | { readonly is: 'broken'; readonly promise: string; readonly seed: number; readonly report: string } | { readonly is: 'done'; readonly runs: readonly (readonly [promise: string, runs: number])[] }

/** Takes the promises in turns, a batch of seeded inputs each, until the time is over. */
function fuzz({ minutes, seed }: Order, say: (said: Said) => void): void {
  const until = performance.now() + minutes * 60_000
  const runs = new Map<string, number>(fuzzedPromises.map(({ promise }) => [promise, 0]))
  const broken = new Set<string>()
  for (let batch = seed; performance.now() < until && broken.size < fuzzedPromises.length; batch += 1) {
    for (const { promise, check } of fuzzedPromises) {
      if (broken.has(promise)) continue
      say({ is: 'trying', promise, seed: batch })
      const { failed, numRuns, report } = check({ seed: batch, numRuns: runsABatch })
      runs.set(promise, (runs.get(promise) ?? 0) + numRuns)
      if (failed) { broken.add(promise); say({ is: 'broken', promise, seed: batch, report }) }
    }
  }
  say({ is: 'done', runs: [...runs] })
}

/** Runs it in a thread of its own, so that an input which hangs is seen and named. */
async function watched(order: Order): Promise<number> {
  const worker = new Worker(new URL(import.meta.url), { workerData: order })
  let last = ''
  let failed = 0
  return await new Promise((over) => {
    const end = (code: number): void => { clearTimeout(silence); void worker.terminate().then(() => { over(code) }) }
    const hangs = (): void => { console.log(`HANGS: ${last}`); console.log(closingLine({ passed: 0, failed: 1, skipped: 0 })); end(1) }
    let silence = setTimeout(hangs, silenceMs)
    worker.on('error', (error) => { console.log(`CRASHED: ${last}\n${String(error)}`); console.log(closingLine({ passed: 0, failed: 1, skipped: 0 })); end(1) })
    worker.on('message', (said: Said) => {
      clearTimeout(silence)
      silence = setTimeout(hangs, silenceMs)
      if (said.is === 'trying') last = `${said.promise}, seed ${String(said.seed)}`
      else if (said.is === 'broken') { failed += 1; console.log(`BROKEN: ${said.promise}\nagain: npm run fuzz-envelopes -- --minutes 0.01 --seed ${String(said.seed)}\n${said.report}`) }
      else {
        for (const [promise, runs] of said.runs) console.log(`${String(runs).padStart(9)} inputs: ${promise}`)
        console.log(`seeds from ${String(order.seed)}, ${String(order.minutes)} minutes`)
        console.log(closingLine({ passed: fuzzedPromises.length - failed, failed, skipped: 0 }))
        end(failed === 0 ? 0 : 1)
      }
    })
  })
}

if (isMainThread) {
  const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string', default: String(Date.now() % 1_000_000_000) } } })
  const order: Order = { minutes: Number(values.minutes), seed: Number.parseInt(values.seed, 10) }
  if (!(order.minutes > 0) || !Number.isInteger(order.seed)) throw new Error('--minutes wants a number above 0, --seed a whole number')
  process.exitCode = await watched(order)
} else fuzz(workerData as Order, (said) => parentPort?.postMessage(said))

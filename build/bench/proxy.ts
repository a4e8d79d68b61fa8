import { setTimeout as pause } from 'node:timers/promises'
import { onOneCore } from './support/one-core.ts'
import { proportionalMib } from './support/process-tree.ts'
import { startPeers, type Peer, type Peers } from './support/proxy-peers.ts'
import { RawClient } from './support/raw-client.ts'
import { median, quantile, type BenchRow } from './support/row.ts'

// The three ways in turns, block by block, each in another order and after a breath: what one leaves to be done must not be paid by the next.
// Node compiles what it has run often, and is done with that after some 15,000 requests: a proxy that has run for a while is what is measured, of each
// peer alike.
const warmUpRequests = 20_000
const blocks = 64
const blockRequests = 200
const breathMs = 25
// A multiple of what the upstream writes at a time.
const eventsAStream = 80_000
const streamRounds = 11
const openStreams = 1_000

const body = (more: object, words = 2_000): string => JSON.stringify({ model: 'bench', stream: true, messages: [{ role: 'user', content: 'x'.repeat(words) }], ...more })
// No request is as long as the one before it, as nobody asks a model the same twice: nobody may know a head that he has read before.
const smallBodies = Array.from({ length: 97 }, (_, at) => body({ stream: false }, 1_900 + (at * 37) % 200))
let asked = 0
const smallBody = (): string => smallBodies[asked++ % smallBodies.length] ?? ''

/** What a share of the small requests takes at most by each way, in the middle block: one that the machine disturbed does not count. Milliseconds. */
type Latencies = (name: string, share: number) => number

async function latencies(all: readonly Peer[], clients: Clients): Promise<Latencies> {
  const times = new Map(all.map((peer) => [peer.name, [] as number[][]]))
  for (const peer of all) for (let count = 0; count < warmUpRequests; count += 1) await clientOf(clients, peer).ask(smallBody())
  for (let block = 0; block < blocks + 2; block += 1) {
    for (const peer of block % 2 === 0 ? all : [...all].reverse()) {
      await pause(breathMs)
      const taken: number[] = []
      for (let count = 0; count < blockRequests; count += 1) taken.push((await clientOf(clients, peer).ask(smallBody())).wholeMs)
      if (block >= 2) times.get(peer.name)?.push(taken)
    }
  }
  return (name, share) => median((times.get(name) ?? []).map((taken) => quantile(taken, share)))
}

async function latencyRows(peers: Peers, clients: Clients): Promise<BenchRow[]> {
  const of = await latencies(everyWay(peers), clients)
  const [straight, ours] = [of('straight', 0.5), of('ours', 0.5)]
  const nginx = peers.nginx === null ? null : of('nginx', 0.5) - straight
  const added = ours - straight
  const tail = of('ours', 0.99) - of('straight', 0.99)
  return [
    { name: 'proxy: small request, straight to the upstream (median)', value: straight, unit: 'ms', reference: null, ratio: null, gate: '', pass: null },
    { name: 'proxy: latency added to a small request (median; reference: by nginx)', value: added, unit: 'ms', reference: nginx, ratio: nginx === null ? null : added / nginx, gate: '≤ 1.5 × nginx', pass: nginx === null ? 'skipped' : added <= 1.5 * nginx },
    { name: 'proxy: latency added to a small request (p99; reference: by nginx)', value: tail, unit: 'ms', reference: peers.nginx === null ? null : of('nginx', 0.99) - of('straight', 0.99), ratio: null, gate: '≤ 10 ms', pass: tail <= 10 },
    { name: 'proxy: latency that Node’s bare HTTP adds, handing on and nothing else (median)', value: of('bare', 0.5) - straight, unit: 'ms', reference: nginx, ratio: nginx === null ? null : (of('bare', 0.5) - straight) / nginx, gate: '', pass: null },
    { name: 'proxy: latency added with the word of a process beside on each call (median)', value: of('in the app', 0.5) - straight, unit: 'ms', reference: nginx, ratio: nginx === null ? null : (of('in the app', 0.5) - straight) / nginx, gate: '', pass: null },
  ]
}

/** The same with everybody on one core: what the ways cost themselves, whatever the scheduler does. */
async function oneCoreRows(peers: Peers, clients: Clients): Promise<BenchRow[]> {
  const { straight, nginx, ours } = peers
  if (nginx === null) return []
  const of = await onOneCore([straight, nginx, ours].flatMap(({ pids }) => pids()), () => latencies([straight, nginx, ours], clients))
  if (of === null) return []
  const [added, byNginx] = [of('ours', 0.5) - of('straight', 0.5), of('nginx', 0.5) - of('straight', 0.5)]
  return [{ name: 'proxy: latency added where client, vendor and proxy share a core (median; reference: by nginx)', value: added, unit: 'ms', reference: byNginx, ratio: added / byNginx, gate: '', pass: null }]
}

async function streamRows(peers: Peers, clients: Clients): Promise<BenchRow[]> {
  const all = [peers.straight, ...(peers.nginx === null ? [] : [peers.nginx]), peers.ours]
  const rates = new Map(all.map((peer) => [peer.name, [] as number[]]))
  for (let round = 0; round < streamRounds + 1; round += 1) {
    for (const peer of round % 2 === 0 ? all : [...all].reverse()) {
      const { wholeMs, bytes } = await clientOf(clients, peer).ask(body({ events: eventsAStream }))
      if (bytes < eventsAStream * 100) throw new Error(`${peer.name} sent ${String(bytes)} bytes`)
      const rate = (eventsAStream * 1_000) / wholeMs
      if (round > 0) rates.get(peer.name)?.push(rate)
    }
  }
  const of = (name: string): number => median(rates.get(name) ?? [])
  const nginx = peers.nginx === null ? null : of('nginx')
  // Round by round: whatever else the machine did, it did to both.
  const ratio = nginx === null ? null : median((rates.get('ours') ?? []).map((rate, round) => rate / (rates.get('nginx')?.[round] ?? Number.NaN)))
  return [
    { name: 'proxy: streamed events a second, straight', value: of('straight'), unit: '1/s', reference: null, ratio: null, gate: '', pass: null },
    { name: 'proxy: streamed events a second (reference: through nginx)', value: of('ours'), unit: '1/s', reference: nginx, ratio, gate: '≥ 0.8 × nginx', pass: ratio === null ? 'skipped' : ratio >= 0.8 },
  ]
}

/** Memory that a thousand open streams take, and whether a new request is served beside them. */
async function memoryRows(peers: Peers): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  const grown = new Map<string, number>()
  for (const peer of [...(peers.nginx === null ? [] : [peers.nginx]), peers.ours]) {
    const open = await Promise.all(Array.from({ length: openStreams }, () => RawClient.open(peer)))
    const before = proportionalMib(peer.pids())
    await Promise.all(open.map((client) => client.begin(body({ hold: true }))))
    const beside = await RawClient.open(peer)
    const { firstMs, bytes } = await beside.ask(smallBody())
    grown.set(peer.name, proportionalMib(peer.pids()) - before)
    if (peer === peers.ours) rows.push({ name: `proxy: a new request beside ${String(openStreams)} open streams, first byte`, value: firstMs, unit: 'ms', reference: null, ratio: null, gate: 'served', pass: bytes > 0 })
    for (const client of [beside, ...open]) client.close()
  }
  const ours = grown.get('ours') ?? Number.NaN
  const nginx = grown.get('nginx') ?? null
  rows.push({ name: `proxy: memory that ${String(openStreams)} open streams take (reference: nginx)`, value: ours, unit: 'MiB', reference: nginx, ratio: nginx === null ? null : ours / nginx, gate: '', pass: null })
  return rows
}

/** Our proxy against nginx and against no proxy, all in one run. Without nginx, which is installed where that is possible, what needs it is skipped. */
export async function bench(): Promise<readonly BenchRow[]> {
  const peers = await startPeers()
  const clients = new Map(await Promise.all(everyWay(peers).map(async (peer) => [peer.name, await RawClient.open(peer)] as const)))
  try {
    return [...await latencyRows(peers, clients), ...await oneCoreRows(peers, clients), ...await streamRows(peers, clients), ...await memoryRows(peers)]
  } finally {
    for (const client of clients.values()) client.close()
    await peers.close()
  }
}

function everyWay({ straight, nginx, bare, ours, inApp }: Peers): readonly Peer[] {
  return [straight, ...(nginx === null ? [] : [nginx]), bare, ours, inApp]
}

type Clients = ReadonlyMap<string, RawClient>

function clientOf(clients: Clients, { name }: Peer): RawClient {
  const client = clients.get(name)
  if (client === undefined) throw new Error(`no client of ${name}`)
  return client
}

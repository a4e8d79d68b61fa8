import { Agent, request, type IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { proportionalMib } from './support/process-tree.ts'
import { startPeers, type Peer, type Peers } from './support/proxy-peers.ts'
import { median, quantile, type BenchRow } from './support/row.ts'

// The three ways in turns, block by block, each in another order and after a breath: what one leaves to be done must not be paid by the next.
const blocks = 16
const blockRequests = 120
const breathMs = 25
const eventsAStream = 60_000
const streamRounds = 11
const openStreams = 1_000

const body = (more: object): string => JSON.stringify({ model: 'bench', stream: true, messages: [{ role: 'user', content: 'x'.repeat(2_000) }], ...more })
const smallBody = body({ stream: false })

function send(peer: Peer, agent: Agent, text: string, onResponse: (response: IncomingMessage) => void, onError: (error: Error) => void): void {
  const sent = request({ host: '127.0.0.1', port: peer.port, agent, method: 'POST', path: '/v1/chat/completions', headers: { authorization: `Bearer ${peer.token}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) } }, onResponse)
  sent.on('error', onError)
  sent.end(text)
}

/** Milliseconds to the answer's first byte and to its last. */
function small(peer: Peer, agent: Agent): Promise<{ readonly firstMs: number; readonly wholeMs: number }> {
  return new Promise((done, failed) => {
    const begun = performance.now()
    send(peer, agent, smallBody, (response) => {
      const firstMs = performance.now() - begun
      if (response.statusCode !== 200) { failed(new Error(`${peer.name} answered ${String(response.statusCode)}`)); return }
      response.on('end', () => { done({ firstMs, wholeMs: performance.now() - begun }) })
      response.resume()
    }, failed)
  })
}

/** Events a second of one stream that comes as fast as it goes, counted in bytes of a known size. */
function streamed(peer: Peer, agent: Agent): Promise<number> {
  return new Promise((done, failed) => {
    const begun = performance.now()
    send(peer, agent, body({ events: eventsAStream }), (response) => {
      let bytes = 0
      response.on('data', (piece: Buffer) => { bytes += piece.length })
      response.on('end', () => { if (bytes < eventsAStream * 100) failed(new Error(`${peer.name} sent ${String(bytes)} bytes`)); else done((eventsAStream * 1_000) / (performance.now() - begun)) })
      response.on('error', failed)
    }, failed)
  })
}

async function latencyRows(peers: Peers, agent: Agent): Promise<BenchRow[]> {
  const all = [peers.straight, ...(peers.nginx === null ? [] : [peers.nginx]), peers.bare, peers.ours, peers.inApp]
  const times = new Map(all.map((peer) => [peer.name, [] as number[][]]))
  for (let block = 0; block < blocks + 2; block += 1) {
    for (const peer of block % 2 === 0 ? all : [...all].reverse()) {
      await pause(breathMs)
      const taken: number[] = []
      for (let count = 0; count < blockRequests; count += 1) taken.push((await small(peer, agent)).wholeMs)
      if (block >= 2) times.get(peer.name)?.push(taken)
    }
  }
  // The middle block's figure: a block that the machine disturbed does not count.
  const of = (name: string, share: number): number => median((times.get(name) ?? []).map((taken) => quantile(taken, share)))
  const [straight, ours] = [of('straight', 0.5), of('ours', 0.5)]
  const nginx = peers.nginx === null ? null : of('nginx', 0.5) - straight
  const added = ours - straight
  const tail = of('ours', 0.99) - of('straight', 0.99)
  return [
    { name: 'proxy: small request, straight to the upstream (median)', value: straight, unit: 'ms', reference: null, ratio: null, gate: '', pass: null },
    { name: 'proxy: latency added to a small request (median; reference: by nginx)', value: added, unit: 'ms', reference: nginx, ratio: nginx === null ? null : added / nginx, gate: '≤ 1.5 × nginx', pass: nginx === null ? null : added <= 1.5 * nginx },
    { name: 'proxy: latency added to a small request (p99; reference: by nginx)', value: tail, unit: 'ms', reference: peers.nginx === null ? null : of('nginx', 0.99) - of('straight', 0.99), ratio: null, gate: '≤ 10 ms', pass: tail <= 10 },
    { name: 'proxy: latency that Node’s bare HTTP adds, handing on and nothing else (median)', value: of('bare', 0.5) - straight, unit: 'ms', reference: nginx, ratio: nginx === null ? null : (of('bare', 0.5) - straight) / nginx, gate: '', pass: null },
    { name: 'proxy: the same, with the word of a process beside on each call (median)', value: of('in the app', 0.5) - straight, unit: 'ms', reference: nginx, ratio: nginx === null ? null : (of('in the app', 0.5) - straight) / nginx, gate: '', pass: null },
  ]
}

async function streamRows(peers: Peers, agent: Agent): Promise<BenchRow[]> {
  const all = [peers.straight, ...(peers.nginx === null ? [] : [peers.nginx]), peers.ours]
  const rates = new Map(all.map((peer) => [peer.name, [] as number[]]))
  for (let round = 0; round < streamRounds + 1; round += 1) {
    for (const peer of round % 2 === 0 ? all : [...all].reverse()) {
      const rate = await streamed(peer, agent)
      if (round > 0) rates.get(peer.name)?.push(rate)
    }
  }
  const of = (name: string): number => median(rates.get(name) ?? [])
  const nginx = peers.nginx === null ? null : of('nginx')
  // Round by round: whatever else the machine did, it did to both.
  const ratio = nginx === null ? null : median((rates.get('ours') ?? []).map((rate, round) => rate / (rates.get('nginx')?.[round] ?? Number.NaN)))
  return [
    { name: 'proxy: streamed events a second, straight', value: of('straight'), unit: '1/s', reference: null, ratio: null, gate: '', pass: null },
    { name: 'proxy: streamed events a second (reference: through nginx)', value: of('ours'), unit: '1/s', reference: nginx, ratio, gate: '≥ 0.8 × nginx', pass: ratio === null ? null : ratio >= 0.8 },
  ]
}

/** Memory that a thousand open streams take, and whether a new request is served beside them. */
async function memoryRows(peers: Peers): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  const grown = new Map<string, number>()
  for (const peer of [...(peers.nginx === null ? [] : [peers.nginx]), peers.ours]) {
    const agent = new Agent({ maxSockets: Infinity })
    const before = proportionalMib(peer.pids())
    await Promise.all(Array.from({ length: openStreams }, () => new Promise<void>((began, failed) => { send(peer, agent, body({ hold: true }), (response) => { response.once('data', () => { began() }); response.on('error', () => undefined) }, failed) })))
    const beside = new Agent()
    const { firstMs } = await small(peer, beside)
    grown.set(peer.name, proportionalMib(peer.pids()) - before)
    if (peer === peers.ours) rows.push({ name: `proxy: a new request beside ${String(openStreams)} open streams, first byte`, value: firstMs, unit: 'ms', reference: null, ratio: null, gate: 'served', pass: true })
    beside.destroy()
    agent.destroy()
  }
  const ours = grown.get('ours') ?? Number.NaN
  const nginx = grown.get('nginx') ?? null
  rows.push({ name: `proxy: memory that ${String(openStreams)} open streams take (reference: nginx)`, value: ours, unit: 'MiB', reference: nginx, ratio: nginx === null ? null : ours / nginx, gate: '', pass: null })
  return rows
}

/** Our proxy against nginx and against no proxy, all in one run. Without nginx (Debian: nginx-light) the figures are shown and not judged. */
export async function bench(): Promise<readonly BenchRow[]> {
  const peers = await startPeers()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    return [...await latencyRows(peers, agent), ...await streamRows(peers, agent), ...await memoryRows(peers)]
  } finally {
    agent.destroy()
    await peers.close()
  }
}

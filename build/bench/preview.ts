import { deserialize, serialize } from 'node:v8'
import type { TaskId } from '../../src-preload/contract/ids.ts'
import { ArgumentScanner } from '../../src-main/core/preview/argument-scanner.ts'
import { fromProxySchema } from '../../src-main/core/gateway/messages.ts'
import type { Dispatcher } from '../../src-main/engine/dispatch.ts'
import { Previews } from '../../src-main/engine/previews.ts'
import { Room } from '../../src-main/engine/room.ts'
import { Runs } from '../../src-main/engine/runs.ts'
import { Tap, type Preview } from '../../src-main/proxy/tap.ts'
import { median, type BenchRow } from './support/row.ts'

const deltas = 2_432
const argumentBytes = 146 * 1_024
/** 500 deltas a second, as the fastest models stream. */
const deltaEveryMs = 2
const rounds = 31
const taskId = 'task_bench' as TaskId

/** The arguments of one `write`: prose and code with line ends, quotes and a few characters of more than one byte, cut into equal deltas. */
function argumentPieces(): readonly string[] {
  const line = 'const total = items.reduce((sum, item) => sum + item.price, 0) // "naïve" – before the discount\n'
  const shell = JSON.stringify({ filePath: '/workspace/src/generated/table.ts', content: '' }).length
  let content = ''
  while (Buffer.byteLength(JSON.stringify(content)) + shell < argumentBytes) content += line
  const text = JSON.stringify({ filePath: '/workspace/src/generated/table.ts', content })
  return Array.from({ length: deltas }, (_, index) => text.slice(Math.floor((index * text.length) / deltas), Math.floor(((index + 1) * text.length) / deltas)))
}

/** What any incremental reader must do: look at each character for the ends of strings and escapes, count bytes and lines, decode, hold the end. */
function plainScan(pieces: readonly string[]): number {
  let inText = false
  let escaped = false
  let bytes = 0
  let lines = 0
  let tail = ''
  for (const piece of pieces) {
    let from = 0
    for (let at = 0; at < piece.length; at++) {
      const unit = piece.charCodeAt(at)
      bytes += unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3
      if (escaped) {
        escaped = false
        if (unit === 110) lines++
        tail += String.fromCharCode(unit === 110 ? 10 : unit)
        from = at + 1
      } else if (unit === 34 || unit === 92) {
        if (inText) tail += piece.slice(from, at)
        from = at + 1
        if (unit === 34) inText = !inText
        else escaped = true
      }
    }
    if (inText) tail += piece.slice(from)
    if (tail.length > 8_000) tail = tail.slice(-4_000)
  }
  return bytes + lines + tail.length
}

function scan(pieces: readonly string[]): number {
  const scanner = new ArgumentScanner()
  for (const piece of pieces) scanner.feed(piece)
  const { argumentBytes: bytes, tail, contentLines } = scanner.preview()
  return bytes + tail.length + (contentLines ?? 0)
}

function timedMs(run: () => void): number {
  const begun = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / 1_000
}

/** What the wire tap sends to main while the deltas come at their pace. */
function messagesOfTap(pieces: readonly string[]): readonly Preview[] {
  const sent: Preview[] = []
  let now = 1_000
  const due: { at: number; run: () => void }[] = []
  const tap = new Tap({
    api: 'chat', taskId, sessionId: null, emit: (preview) => { sent.push(preview) }, onBroken: (error) => { throw error },
    time: { now: () => now, steady: () => now, after: (ms, run) => { const timer = { at: now + ms, run }; due.push(timer); return () => { due.splice(due.indexOf(timer), 1) } } },
  })
  const event = (call: object): unknown => ({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] }, finish_reason: null }] })
  tap.read(event({ id: 'call_bench', type: 'function', function: { name: 'write', arguments: '' } }))
  for (const piece of pieces) {
    now += deltaEveryMs
    for (const timer of due.filter(({ at }) => at <= now)) { due.splice(due.indexOf(timer), 1); timer.run() }
    tap.read(event({ function: { arguments: piece } }))
  }
  tap.end()
  return sent
}

/** All that main does for these messages: takes them off the wire, parses, draws, and hands the patches to the window's wire. */
function mainTakes(messages: readonly Buffer[]): void {
  let now = 1_000
  const timers: (() => void)[] = []
  const room = new Room({ now: () => now }, { after: (_ms, _signal, run) => { timers.push(run) } })
  const runs = new Runs()
  runs.of(taskId)
  const dispatcher = { state: () => ({ coder: { is: 'running' }, status: 'working', openTools: new Set(), endedTools: new Set() }) } as unknown as Dispatcher
  const previews = new Previews({ room, runs, dispatcher, clock: { now: () => now }, idUsedTwice: () => undefined })
  room.follow((patch) => { serialize(patch) })
  for (const message of messages) {
    now += 8
    const parsed = fromProxySchema.parse(deserialize(message))
    if (parsed.is === 'preview') previews.seen(parsed.preview)
    // Every second one falls into a frame of its own.
    if (now % 16 === 0) for (const run of timers.splice(0)) run()
  }
  room.flush()
}

/** CPU for the preview of one `write` of 146 KB in 2,432 deltas: the scanner, against a plain incremental scan, and main's part. */
export function bench(): Promise<BenchRow[]> {
  const pieces = argumentPieces()
  const messages = messagesOfTap(pieces).map((preview) => serialize({ is: 'preview', preview }))
  // All three get warm first, then go in turns.
  for (let round = 0; round < 300; round++) { plainScan(pieces); scan(pieces); if (round < rounds) mainTakes(messages) }
  const plain: number[] = []
  const scanned: number[] = []
  const main: number[] = []
  // Several a measurement: CPU time is counted in coarse steps.
  const times = (run: () => unknown): number => timedMs(() => { for (let time = 0; time < 10; time++) run() }) / 10
  for (let round = 0; round < rounds; round++) {
    plain.push(times(() => plainScan(pieces)))
    scanned.push(times(() => scan(pieces)))
    main.push(times(() => { mainTakes(messages) }))
  }
  const ratio = median(scanned.map((ms, round) => ms / (plain[round] ?? Number.NaN)))
  const all = median(scanned) + median(main)
  return Promise.resolve([
    { name: 'preview of 146 KB in 2,432 deltas: CPU of the scanner', value: median(scanned), unit: 'ms', reference: median(plain), ratio, gate: '≤ 1.2 × plain scan', pass: ratio <= 1.2 },
    { name: 'preview of 146 KB in 2,432 deltas: CPU of scanner and main', value: all, unit: 'ms', reference: 50, ratio: all / 50, gate: '≤ 50 ms', pass: all <= 50 },
  ])
}

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { stubEntry, stubModels } from '../../e2e/models.ts'
import { StubProvider } from '../../e2e/stubs/provider.ts'
import { does } from '../../e2e/stubs/step.ts'
import type { CommandId } from '../../src-preload/contract/ids.ts'
import { limits } from '../../src-preload/contract/limits.ts'
import { AppRun } from './support/app-run.ts'
import { atMostMs, quantile, type BenchRow } from './support/row.ts'
import { openStage, type Stage } from './support/stage.ts'

const callsAnApi = 24
/** No model answers at once. By then the window has drawn that it was asked, and what comes first is not held up by that. */
const thinksMs = 200
/** As fast as a quick model sends small pieces. */
const paceMs = 8
/** How long a call stands still half-way: whatever is painted until then is a preview. */
const heldMs = 250
const everythingWithinMs = 180_000
/** Longer than a piece, so that the file's name is not complete in the first one. */
const fileOf = (index: number): string => `a-folder-with-quite-a-long-name/for-the-second-piece/file-${String(index).padStart(2, '0')}.txt`
const content = 'A line of the file that is being written here.\n'.repeat(40)

/**
 * Reports, for each tool row, when its frame has been painted (the first task after the animation frame that follows the commit): as a
 * row, and as a row that shows its file.
 */
const watchRows = `(() => {
  if (globalThis.benchWatches) return
  globalThis.benchWatches = true
  const now = () => performance.timeOrigin + performance.now()
  const told = new Set()
  // For the hops only: when main drew the row first, and when it came to the page.
  const arrived = new Map()
  addEventListener('DOMContentLoaded', () => {
    countersign.onPatch((patch) => {
      for (const { body, at } of patch.put) if (body?.is === 'tool' && !arrived.has(body.callId)) arrived.set(body.callId, { tappedAt: body.startedAt, drawnAt: at, arrivedAt: now() })
    })
  })
  const tell = (callId, what) => {
    const key = callId + ' ' + what
    if (told.has(key)) return
    told.add(key)
    const committedAt = now()
    requestAnimationFrame(() => {
      const frameAt = now()
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => { report(JSON.stringify({ callId, what, ...arrived.get(callId), committedAt, frameAt, paintedAt: now() })) }
      port2.postMessage(null)
    })
  }
  const look = () => {
    for (const row of document.querySelectorAll('[data-call-id][data-state="preview"]')) {
      tell(row.dataset.callId, 'row')
      if (/file-[0-9]{2}\\.txt/.test(row.textContent)) tell(row.dataset.callId, 'file')
    }
  }
  new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true })
})()`

interface Painted { readonly callId: string; readonly what: 'row' | 'file'; readonly tappedAt: number; readonly drawnAt: number; readonly arrivedAt: number; readonly committedAt: number; readonly frameAt: number; readonly paintedAt: number }
interface Delays { readonly row: readonly number[]; readonly file: readonly number[]; readonly hops: readonly Hops[] }
/** Of one row, in milliseconds, each from the one before: the proxy's tap saw it and main drew it (both whole milliseconds), it came to the page, it was in the page, its frame began, that was painted. */
interface Hops { readonly tapped: number; readonly drawn: number; readonly arrived: number; readonly committed: number; readonly frame: number; readonly painted: number }

const hopNames: readonly (readonly [keyof Hops, string])[] = [
  ['tapped', 'provider → proxy\'s tap'], ['drawn', 'tap → row drawn by main'], ['arrived', 'main → patch in the page'], ['committed', 'patch → committed by React'], ['frame', 'commit → its frame begins'], ['painted', 'frame → painted'],
]

/** One turn of many writes, from the provider to the window. */
async function measure(stage: Stage, api: 'chat' | 'responses'): Promise<Delays> {
  const provider = await StubProvider.start()
  const home = stage.folder(`calls-${api}`)
  const providers = join(home, 'providers.json')
  writeFileSync(providers, JSON.stringify([stubEntry(provider, api)]), { mode: 0o644 })
  provider.coder(...Array.from({ length: callsAnApi }, (_, index) => does.write(`/workspace/${fileOf(index)}`, content, { half: { forMs: heldMs }, paceMs, thinksMs })))
  const painted: Painted[] = []
  const app = AppRun.start(stage, { executable: stage.app, home, env: { COUNTERSIGN_PROVIDERS: providers }, script: watchRows, onReport: (text) => { painted.push(JSON.parse(text) as Painted) } })
  try {
    await begin(app)
    const until = performance.now() + everythingWithinMs
    // The last request comes after the last call has ended.
    while (provider.of('coder').length <= callsAnApi) {
      if (performance.now() > until) throw new Error(`only ${provider.of('coder').length} of ${callsAnApi} calls were asked for`)
      await pause(100)
    }
    return delays(provider, painted)
  } finally {
    await app.close()
    await provider.close()
  }
}

async function begin(app: AppRun): Promise<void> {
  await app.bridged()
  const { defaults } = await app.call('settings.get', {})
  const { taskId } = await app.call('task.create', { commandId: 'bench-create' as CommandId, title: 'Calls of the bench', requirement: 'Write the files.', criteria: [], testCommand: 'true', source: { kind: 'sample' }, models: stubModels, budget: defaults.budget, grant: defaults.grant, revisionOf: null })
  for (;;) {
    // Of the very task that the window shows: a snapshot says what the page is sent from then on.
    const hold = (await app.call('room.snapshot', { taskId })).put.find((row) => row.kind === 'hold' && row.outcome === 'waiting')
    if (hold?.kind === 'hold') {
      await app.call('approval.shown', { approvalId: hold.approvalId, digest: hold.digest })
      await pause(limits.humanDecisionMs)
      await app.call('approval.decide', { commandId: `bench-${hold.approvalId}` as CommandId, approvalId: hold.approvalId, digest: hold.digest, verdict: 'approved', reason: null })
      return
    }
    await pause(50)
  }
}

function delays(provider: StubProvider, painted: readonly Painted[]): Delays {
  const of = (what: Painted['what'], sentAt: (stamp: StubProvider['stamps'][number]) => number | null): number[] => provider.stamps.map((stamp) => {
    const shown = painted.find((each) => each.callId === stamp.callId && each.what === what)
    const sent = sentAt(stamp)
    if (shown === undefined || sent === null) throw new Error(`${stamp.callId} was never painted as a preview (${what})`)
    return shown.paintedAt - sent
  })
  const hops = painted.filter(({ what }) => what === 'row').flatMap(({ callId, tappedAt, drawnAt, arrivedAt, committedAt, frameAt, paintedAt }) => {
    const sentAt = provider.stamps.find((stamp) => stamp.callId === callId)?.firstArgumentAt ?? null
    return sentAt === null ? [] : [{ tapped: tappedAt - sentAt, drawn: drawnAt - tappedAt, arrived: arrivedAt - drawnAt, committed: committedAt - arrivedAt, frame: frameAt - committedAt, painted: paintedAt - frameAt }]
  })
  return { hops, row: of('row', (stamp) => stamp.firstArgumentAt), file: of('file', (stamp) => stamp.targetAt) }
}

/**
 * From the provider's first argument byte to the painted row, and from the byte that completes the file's name to the painted name: what
 * ships, the real OpenCode in its sandbox, one turn of 24 writes over each wire API, by a model that thinks for 200 ms before each. All processes share one clock.
 */
export async function bench(): Promise<BenchRow[]> {
  const stage = await openStage()
  try {
    const chat = await measure(stage, 'chat')
    const responses = await measure(stage, 'responses')
    const row = [...chat.row, ...responses.row]
    const file = [...chat.file, ...responses.file]
    const hops = [...chat.hops, ...responses.hops]
    const whole = hops.reduce((sum, each) => sum + hopNames.reduce((one, [name]) => one + each[name], 0), 0)
    for (const [name, words] of hopNames) {
      const all = hops.map((each) => each[name])
      console.error(`  ${words.padEnd(34)} p50 ${quantile(all, 0.5).toFixed(1).padStart(5)} ms, p95 ${quantile(all, 0.95).toFixed(1).padStart(5)} ms, ${((100 * all.reduce((sum, ms) => sum + ms, 0)) / whole).toFixed(0).padStart(3)} % of the way`)
    }
    return [
      atMostMs(`first argument byte → painted row, p50 of ${row.length}`, quantile(row, 0.5), 30),
      atMostMs(`first argument byte → painted row, p95 of ${row.length}`, quantile(row, 0.95), 80),
      atMostMs(`file's bytes sent → painted file name, p95 of ${file.length}`, quantile(file, 0.95), 80),
      { name: 'file\'s bytes sent → painted file name, p50', value: quantile(file, 0.5), unit: 'ms', reference: null, ratio: null, gate: 'shown only', pass: null },
    ]
  } finally {
    await stage.close()
  }
}

import { setTimeout as pause } from 'node:timers/promises'
import { AppRun } from './support/app-run.ts'
import { proportionalMib, shareOf } from './support/process-tree.ts'
import { median, type BenchRow } from './support/row.ts'
import { openStage, type Stage } from './support/stage.ts'

/** Two more come before these and are not counted: they warm the page cache. */
const rounds = 7
/** After this long with its window open an app is at rest. */
const idleAfterMs = 6_000
const usableWithinMs = 60_000

/** Reports when the frame with the enabled button has been painted: the first task after its animation frame. */
const untilUsable = `(() => {
  if (globalThis.benchLooks) return
  globalThis.benchLooks = true
  const usable = () => [...document.querySelectorAll('button')].some((button) => button.textContent.includes('Run the sample task') && !button.disabled && button.getAttribute('aria-disabled') !== 'true')
  const painted = () => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => { report(String(performance.timeOrigin + performance.now())) }
    port2.postMessage(null)
  }
  const look = () => {
    if (!usable()) return
    observer.disconnect()
    requestAnimationFrame(painted)
  }
  const observer = new MutationObserver(look)
  observer.observe(document, { childList: true, subtree: true, attributes: true })
  look()
})()`

interface Start { readonly usableMs: number; readonly idleMib: number; readonly shares: string }

async function start(stage: Stage, executable: string, home: string, idle: boolean): Promise<Start> {
  let told: (atMs: number) => void = () => undefined
  const usable = new Promise<number>((resolve) => { told = resolve })
  const app = AppRun.start(stage, { executable, home, script: untilUsable, onReport: (text) => { told(Number(text)) } })
  try {
    const bound = new AbortController()
    const late = pause(usableWithinMs, undefined, { signal: bound.signal }).then(() => { throw new Error(`no usable window within ${usableWithinMs} ms:\n${app.output}`) })
    late.catch(() => undefined)
    const usableAt = await Promise.race([usable, late])
    bound.abort()
    if (!idle) return { usableMs: usableAt - app.startedAt, idleMib: Number.NaN, shares: '' }
    await pause(idleAfterMs)
    const members = app.members()
    return { usableMs: usableAt - app.startedAt, idleMib: proportionalMib(members), shares: members.map(shareOf).map(({ what, mib }) => `${what} ${mib.toFixed(0)}`).join(', ') }
  } finally {
    await app.close()
  }
}

/** Starts of both in turns: a busy minute of the machine meets both. */
async function inTurns(stage: Stage, of: (executable: string) => Promise<Start>): Promise<{ readonly app: readonly Start[]; readonly bare: readonly Start[] }> {
  const app: Start[] = []
  const bare: Start[] = []
  for (let round = -1; round < rounds; round++) {
    const first = round % 2 === 0
    const ours = first ? await of(stage.app) : null
    const theirs = await of(stage.bare)
    const mine = ours ?? await of(stage.app)
    if (round < 0) continue
    app.push(mine)
    bare.push(theirs)
  }
  return { app, bare }
}

function row(name: string, value: number, reference: number, unit: string, gateMax: number | null): BenchRow {
  const ratio = value / reference
  return { name, value, unit, reference, ratio, gate: gateMax === null ? 'shown only' : `≤ ${gateMax} × bare window`, pass: gateMax === null ? null : ratio <= gateMax }
}

/**
 * From asking for the process to the painted, enabled button "Run the sample task", and memory at rest (proportional set size of the whole
 * tree; no OpenCode runs then), against a bare window with one button on the same runtime. Medians of 7, in turns.
 */
export async function bench(): Promise<BenchRow[]> {
  const stage = await openStage()
  try {
    const first = await inTurns(stage, (executable) => start(stage, executable, stage.folder('first'), true))
    const homes = new Map([[stage.app, stage.folder('again-app')], [stage.bare, stage.folder('again-bare')]])
    const again = await inTurns(stage, (executable) => start(stage, executable, homes.get(executable) ?? '', false))
    console.error(`memory of the app: ${first.app.at(-1)?.shares ?? ''}\nmemory of the bare window: ${first.bare.at(-1)?.shares ?? ''}`)
    const usable = (starts: readonly Start[]): number => median(starts.map((each) => each.usableMs))
    const idle = (starts: readonly Start[]): number => median(starts.map((each) => each.idleMib))
    return [
      row('cold start to usable window, first start of an account', usable(first.app), usable(first.bare), 'ms', 1.3),
      row('cold start to usable window, later start', usable(again.app), usable(again.bare), 'ms', 1.3),
      row('memory at rest, whole tree (PSS)', idle(first.app), idle(first.bare), 'MiB', 1.25),
    ]
  } finally {
    await stage.close()
  }
}

import { rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { appUid, newOwnerFolder } from '../../e2e/owner-folder.ts'
import { patchChannel } from '../../src-preload/contract/channels.ts'
import type { TaskId } from '../../src-preload/contract/ids.ts'
import { rowKey, type EntryRow } from '../../src-preload/contract/rows.ts'
import { DrivenApp, withDrivenApps } from './support/driven-app.ts'
import { fillJournal } from './support/filled-journal.ts'
import { acceptedTask } from './support/history.ts'
import type { BenchRow } from './support/row.ts'

/** Each call makes two rows: words, and the tool's. */
const calls = 10_000
const taskId = `task_${'1'.repeat(24)}` as TaskId
const wheelTurns = 240
const wheelPx = 1_500
const frameMs = 16
const appendedRows = 600
/** One round of growing rows. The first is not counted: what the window loads and compiles when such a row is first drawn is no growth. */
const soakFrames = 1_000
const soakRounds = 3
const longTaskMs = 50
const heapGrowthMax = 1.05

/** Hands patches to the window as main does, one a frame, each with rows that `make` gives. The window cannot tell them from others. */
async function append({ app }: DrivenApp, frames: number, make: (frame: number) => EntryRow): Promise<void> {
  // The snapshot says with which number the next patch has to come; nothing else happens in this room.
  const { seq } = await app.call('room.snapshot', { taskId })
  await app.inMain(async ({ BrowserWindow }, [channel, from, every, rows]) => {
    const [shown] = BrowserWindow.getAllWindows()
    for (const [index, row] of rows.entries()) {
      shown?.webContents.send(channel, { seq: from + 1 + index, put: [row], drop: [] })
      await new Promise((resolve) => setTimeout(resolve, every))
    }
  }, [patchChannel, seq, frameMs, Array.from({ length: frames }, (_, frame) => make(frame))] as const)
}

/** Main goes on counting where it was, so the window has to begin anew after it was handed patches. */
async function beginAnew({ app }: DrivenApp): Promise<void> {
  await app.window.reload()
  await drawn(app)
}

async function drawn({ window }: DrivenApp['app']): Promise<void> {
  await window.locator('[role="log"] article.entry').first().waitFor({ timeout: 120_000 })
  await pause(2_000)
}

function row(name: string, order: number, body: EntryRow['body']): EntryRow {
  return { kind: 'entry', key: rowKey.entry(taskId, name), taskId, order: 2 ** 52 + order, at: Date.now(), author: 'coder', turnId: null, body }
}

function growing(frame: number): EntryRow {
  const call = Math.floor(frame / 60)
  const tail = `const value${frame} = compute(${frame}) // of frame ${frame}\n`.repeat(30)
  return row(`tool:call_${call}`, call, { is: 'tool', callId: `call_${call}` as never, tool: 'write', state: 'preview', target: `src/part-${call}.ts`, argumentBytes: frame * 1_000, contentLines: 30, tail, tailOf: 'content', input: null, output: null, outputTruncated: false, exitCode: null, title: null, startedAt: 1, endedAt: null, reason: null, parentCallId: null })
}

async function measure(driven: DrivenApp): Promise<BenchRow[]> {
  const { window } = driven.app
  await drawn(driven.app)
  await window.locator('[role="log"]').hover()
  const scrolled = await driven.longTasksOf(async () => {
    for (let turn = 0; turn < wheelTurns; turn += 1) {
      await window.mouse.wheel(0, turn < wheelTurns / 2 ? -wheelPx : wheelPx)
      await pause(frameMs)
    }
  })
  await window.keyboard.press('Control+End')
  const appended = await driven.longTasksOf(() => append(driven, appendedRows, (frame) => (frame % 2 === 0 ? row(`said:${frame}`, 100_000 + frame, { is: 'message', text: `Row ${frame} that has just been **said**.`, streaming: false, reasoning: false }) : growing(frame))))
  await beginAnew(driven)
  const soak = async (): Promise<number> => {
    await append(driven, soakFrames, (frame) => growing(frame % 120))
    return driven.heapBytes()
  }
  const before = await soak()
  let after = before
  for (let round = 1; round < soakRounds; round += 1) after = await soak()
  const growth = after / before
  const gated = (name: string, { longestMs, count }: { longestMs: number; count: number }): BenchRow => ({ name: `${name}: longest task (${count} over ${longTaskMs} ms)`, value: longestMs, unit: 'ms', reference: longTaskMs, ratio: longestMs / longTaskMs, gate: `none over ${longTaskMs} ms`, pass: count === 0 })
  return [
    gated('transcript of 20,000 rows, scrolling', scrolled), gated('transcript of 20,000 rows, a row a frame appended', appended),
    { name: 'heap of the window after a soak of growing rows', value: after / 1024 / 1024, unit: 'MiB', reference: before / 1024 / 1024, ratio: growth, gate: '≤ 1.05 × before', pass: growth <= heapGrowthMax },
  ]
}

/** A task of 20,000 rows in the packaged app: scrolled by wheel, appended to live, and its heap. */
export function bench(): Promise<BenchRow[]> {
  return withDrivenApps(async () => {
    const ownerFolder = newOwnerFolder()
    const startedAt = Date.now() - 3_600_000
    fillJournal(ownerFolder, appUid(), [{ taskId, startedAt, events: acceptedTask(taskId, calls, startedAt) }])
    const driven = await DrivenApp.launch({ ownerFolder })
    try {
      return await measure(driven)
    } finally {
      await driven.close()
      rmSync(ownerFolder, { recursive: true, force: true })
    }
  })
}

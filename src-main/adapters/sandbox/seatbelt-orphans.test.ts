import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir, uptime } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listedStart } from './listed-processes.ts'
import { endSeatbeltOrphans } from './seatbelt-orphans.ts'

let root: string
let child: ChildProcess | null = null
beforeEach(() => { root = mkdtempSync(join(tmpdir(), 'orphans-')) })
afterEach(() => {
  child?.kill('SIGKILL')
  child = null
  rmSync(root, { recursive: true, force: true })
})

/** A run folder that an earlier life of the app left, with what its keepers said. */
function left(name: string, ...words: readonly string[]): string {
  const folder = join(root, name)
  mkdirSync(folder)
  for (const [index, word] of words.entries()) writeFileSync(join(folder, `word-1-${String(index)}`), word)
  return folder
}
const sweep = (recorded: readonly { pid: number; startTime: string }[] = [], keep: readonly string[] = []) => endSeatbeltOrphans(recorded, root, new Set(keep), () => 7, 300)

test('what keepers said to be empty, and who never began, is proven and swept; what is in use stays', async () => {
  left('r-1', 'kept\nempty\n', '')
  const used = left('r-2', 'kept\n')
  left('other')
  expect(await sweep([], [used])).toMatchObject({ at: 7, method: 'orphans-ended', detail: '0 recorded, 0 still there and ended, 0 gone already.' })
  expect(readdirSync(root).sort()).toEqual(['other', 'r-2'])
})

test('a keeper without the last word is no proof, until the machine has started anew', async () => {
  const folder = left('r-1', 'kept\nempty\n', 'kept\n')
  await expect(sweep()).rejects.toThrow('not proven')
  expect(readdirSync(root)).toEqual(['r-1'])
  const before = Date.now() / 1_000 - uptime() - 60
  utimesSync(join(folder, 'word-1-1'), before, before)
  await sweep()
  expect(readdirSync(root)).toEqual([])
})

test('a recorded keeper that is stopped goes on, and is killed with its group when that does not end it; another with its number is left alone', async () => {
  child = spawn('sleep', ['987643'], { detached: true })
  await once(child, 'spawn')
  const pid = child.pid ?? 0
  const startTime = (await listedStart(pid)) ?? ''
  expect(await sweep([{ pid, startTime: 'Thu Jan 1 00:00:00 1970' }])).toMatchObject({ detail: '1 recorded, 0 still there and ended, 1 gone already.' })
  const gone = once(child, 'exit')
  expect(await sweep([{ pid, startTime }])).toMatchObject({ detail: '1 recorded, 1 still there and ended, 0 gone already.' })
  expect(await gone).toEqual([null, 'SIGKILL'])
})

import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { uptime } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Millis } from '../../../src-preload/contract/ids.ts'
import type { StopProof } from '../../../src-preload/contract/task.ts'
import { listedStart, listProcesses } from './listed-processes.ts'
import { signalIfThere } from './process-table.ts'
import { runFolderPrefix } from './run-folder.ts'
import { sandboxLimits } from './sandbox-limits.ts'
import { lastWord, wordFilePrefix } from './seatbelt-keeper.ts'

interface Recorded { readonly pid: number; readonly startTime: string }

const isThere = async ({ pid, startTime }: Recorded): Promise<boolean> => (await listedStart(pid)) === startTime

/** Waits until a fact holds, at most `ms`. */
async function within(ms: number, fact: () => Promise<boolean>): Promise<boolean> {
  const until = performance.now() + ms
  while (!(await fact())) {
    if (performance.now() > until) return false
    await pause(50)
  }
  return true
}

/** True when it was still there; it is gone then. Never touches a process that only has the number. */
async function endOne(recorded: Recorded, patienceMs: number): Promise<boolean> {
  if (!(await isThere(recorded))) return false
  // A keeper ends all by itself when its host is gone; one that was stopped goes on first.
  signalIfThere(-recorded.pid, 'SIGCONT')
  if (await within(patienceMs, async () => !(await isThere(recorded)))) return true
  signalIfThere(-recorded.pid, 'SIGKILL')
  if (await within(patienceMs, async () => !(await isThere(recorded)))) return true
  throw new Error('A process of an earlier run is still there after SIGKILL.')
}

/** What was written before the machine started tells of nobody who lives now. */
async function isOfThisBoot(path: string): Promise<boolean> {
  return (await stat(path)).mtimeMs >= Date.now() - uptime() * 1_000
}

/** Whether each keeper of a run folder had the last word, or said nothing because it never began. */
async function saidEmpty(folder: string): Promise<boolean> {
  const words = (await readdir(folder)).filter((name) => name.startsWith(wordFilePrefix)).map((name) => join(folder, name))
  const said = await Promise.all(words.map(async (path) => ['', lastWord].includes(await readFile(path, 'utf8')) || !(await isOfThisBoot(path))))
  return said.every(Boolean)
}

/**
 * Ends what an earlier run of the app left: keepers by pid and start time, and proves by the words that all keepers of its run folders left there that
 * nobody remains. `keep`: run folders of this run. Throws where somebody survives SIGKILL or a keeper did not have the last word: the machine's next
 * start is the proof then.
 */
export async function endSeatbeltOrphans(recorded: readonly Recorded[], runRoot: string, keep: ReadonlySet<string>, now: () => Millis, patienceMs: number = sandboxLimits.emptyWithinMs): Promise<StopProof> {
  const ended = (await Promise.all(recorded.map((one) => endOne(one, patienceMs)))).filter(Boolean).length
  for (const name of await readdir(runRoot)) {
    const path = join(runRoot, name)
    if (!name.startsWith(runFolderPrefix) || keep.has(path)) continue
    if (!(await within(patienceMs, () => saidEmpty(path)))) throw new Error('Of an earlier run of the app it is not proven that nobody is left: its keeper under seatbelt did not have the last word. Restart this machine.')
    await rm(path, { recursive: true, force: true })
  }
  return { at: now(), method: 'orphans-ended', checkedProcesses: (await listProcesses()).length, detail: `${String(recorded.length)} recorded, ${String(ended)} still there and ended, ${String(recorded.length - ended)} gone already.` }
}

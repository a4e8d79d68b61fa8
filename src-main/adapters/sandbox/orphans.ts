import { readFile, readdir, readlink, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Millis } from '../../../src-preload/contract/ids.ts'
import type { StopProof } from '../../../src-preload/contract/task.ts'
import { madeListName, readMade, removeMade } from './mount-points.ts'
import { holdNamespace, ownNamespace, untilEmpty } from './pid-namespace.ts'
import { hasEnded, readProcess, signalIfThere } from './process-table.ts'
import { runFolderPrefix } from './run-folder.ts'

interface Recorded { readonly pid: number; readonly startTime: string }

/** `NSpid` of `/proc/PID/status` lists the pid in each nested namespace: a sandbox's first process is number 1 in its own (proc(5)). */
async function isFirstOfNamespace(pid: number): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '')
  const numbers = /^NSpid:\s*(.*)$/m.exec(text)?.[1]?.trim().split(/\s+/) ?? []
  return numbers.length > 1 && numbers.at(-1) === '1'
}

/** Ends one recorded sandbox. Returns the number of processes looked at, or null when it is not there any more. Never touches a process that only has the number. */
async function endOne(recorded: Recorded): Promise<number | null> {
  const namespace = await holdNamespace(recorded.pid)
  if (namespace === null) return null
  try {
    // Looked at after the namespace is held, so that both belong to the same process.
    const found = await readProcess(recorded.pid)
    const same = found !== null && !hasEnded(found.state) && found.startTime === recorded.startTime
    if (!same || namespace.name === (await ownNamespace()) || !(await isFirstOfNamespace(recorded.pid))) return null
    signalIfThere(recorded.pid, 'SIGKILL')
    const seen = await untilEmpty(namespace)
    if (!seen.empty) throw new Error(`${seen.left.length} processes of an earlier run are still there after SIGKILL`)
    return seen.checked
  } finally {
    await namespace.release()
  }
}

/** Ends what earlier runs left, by pid and start time. Throws when something survives SIGKILL. */
export async function endRecorded(recorded: readonly Recorded[], now: () => Millis): Promise<StopProof> {
  const looked = await Promise.all(recorded.map(endOne))
  const ended = looked.filter((count) => count !== null)
  return { at: now(), method: 'orphans-ended', checkedProcesses: Math.max(0, ...ended), detail: `${recorded.length} recorded, ${ended.length} still there and ended, ${recorded.length - ended.length} gone already.` }
}

/**
 * Ends a bwrap that still waits for the one who set it up: when the app is killed in that moment, its child waits for ever, without
 * having run anything. It is found by the folder that it started in.
 */
async function endStuckIn(runFolder: string): Promise<void> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  for (const pid of pids) {
    const at = await readlink(`/proc/${pid}/cwd`).catch(() => null)
    if (at === runFolder) signalIfThere(pid, 'SIGKILL')
  }
}

/** Removes run folders that an earlier run of the app left, and the mount points that it made in workspaces. `keep`: run folders of this run. */
export async function removeLeftFolders(runRoot: string, keep: ReadonlySet<string>): Promise<void> {
  const names = await readdir(runRoot)
  for (const name of names) {
    const path = join(runRoot, name)
    if (!name.startsWith(runFolderPrefix) || keep.has(path)) continue
    await endStuckIn(path)
    await removeMade(await readMade(join(path, madeListName)))
    await rm(path, { recursive: true, force: true })
  }
}

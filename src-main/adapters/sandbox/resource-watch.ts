import { readFile, readdir, statfs } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { isolationLimits } from '../../../src-preload/contract/limits.ts'
import type { SandboxLimits } from '../../../src-preload/contract/task.ts'
import { bytesInWords, processorTimeInWords } from './limits-in-words.ts'
import { sandboxLimits } from './sandbox-limits.ts'

/** What a sandbox has in use, all its processes together. */
export interface Use { readonly memoryBytes: number; readonly tasks: number; readonly cpuMs: number }

/** Clock ticks of `/proc/PID/stat`: USER_HZ, 100 on every Linux that this app has a filter for. */
const msPerTick = 10
const kib = 1024

interface Seen { readonly pid: number; readonly tasks: number; readonly children: readonly number[]; readonly residentBytes: number; readonly cpuMs: number }

/** What could not be read of a process that has gone since it was listed: it uses nothing. Throws what is no sign of that. */
function gone<T>(nothing: T): (cause: unknown) => T {
  return (cause) => {
    if (cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ESRCH')) return nothing
    throw cause
  }
}

const text = (path: string): Promise<string> => readFile(path, 'latin1').catch(gone(''))

/** `children` lists are per thread (proc(5)). */
async function look(pid: number): Promise<Seen> {
  const [threads, status, stat] = await Promise.all([readdir(`/proc/${pid}/task`).catch(gone<string[]>([])), text(`/proc/${pid}/status`), text(`/proc/${pid}/stat`)])
  const lists = await Promise.all(threads.map((thread) => text(`/proc/${pid}/task/${thread}/children`)))
  const amount = (name: string): number => Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * kib
  // After the name, in brackets: field 14 to 17 are the times of the process and of the children that it has waited for.
  const times = stat.slice(stat.lastIndexOf(')') + 2).split(' ').slice(11, 15).map(Number)
  return { pid, tasks: threads.length, children: lists.flatMap((list) => list.split(' ').filter((word) => word !== '').map(Number)), residentBytes: amount('RssAnon') + amount('RssShmem'), cpuMs: times.reduce((sum, ticks) => sum + ticks, 0) * msPerTick }
}

/** What of a process's memory is its own, with its part of what it shares; `roll`: its `smaps_rollup`. One that does not let itself be looked at (null) counts in full. */
export function shareOf(roll: string | null, residentBytes: number): number {
  if (roll === null) return residentBytes
  return [...roll.matchAll(/^Pss_(?:Anon|Shmem):\s*(\d+) kB/gm)].reduce((part, match) => part + Number(match[1]) * kib, 0)
}

/** Memory that forked processes still share is counted once. */
async function sharedOnce(seen: readonly Seen[]): Promise<number> {
  const shares = await Promise.all(seen.map(async ({ pid, residentBytes }) => shareOf(await text(`/proc/${pid}/smaps_rollup`).catch(() => null), residentBytes)))
  return shares.reduce((sum, share) => sum + share, 0)
}

/**
 * What the processes below `firstPid`, the first of a process namespace, have in use now. Whoever loses its parent in there becomes a child of the first,
 * so that nobody can leave this tree.
 */
export async function useOf(firstPid: number, memoryBytesMax: number): Promise<Use> {
  const all: Seen[] = []
  let [resident, tasks, cpuMs] = [0, 0, 0]
  for (let wave: readonly number[] = [firstPid]; wave.length > 0;) {
    const seen = await Promise.all(wave.map(look))
    all.push(...seen)
    for (const one of seen) { resident += one.residentBytes; tasks += one.tasks; cpuMs += one.cpuMs }
    wave = seen.flatMap((one) => one.children).slice(0, sandboxLimits.processesLookedAtMax)
  }
  return { tasks, cpuMs, memoryBytes: resident > memoryBytesMax ? await sharedOnce(all) : resident }
}

/** Bounds of one sandbox; `cpuMsMax` null: its processor time is bounded by something else. */
export interface Bounds { readonly memoryBytesMax: number; readonly tasksMax: number; readonly cpuMsMax: number | null }

export const commandBounds = (limits: SandboxLimits): Bounds => ({ memoryBytesMax: limits.memoryBytesMax, tasksMax: limits.processesMax, cpuMsMax: limits.commandCpuMsMax })
/** The agent lives as long as its task, whose deadline bounds it. */
export const agentBounds = (limits: SandboxLimits): Bounds => ({ ...commandBounds(limits), cpuMsMax: null })

/** Which bound is passed, in words that continue “the command …”; null: none. */
export function boundPassed(use: Use, bounds: Bounds): string | null {
  if (use.memoryBytes > bounds.memoryBytesMax) return `used more than ${bytesInWords(bounds.memoryBytesMax)} of memory`
  if (use.tasks >= bounds.tasksMax) return `had ${String(bounds.tasksMax)} processes and threads at once`
  if (bounds.cpuMsMax !== null && use.cpuMs > bounds.cpuMsMax) return `used more than ${processorTimeInWords(bounds.cpuMsMax)} of processor time`
  return null
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** Whether the disk is nearly full and it was not when the sandbox began. */
export function diskPassed(free: number, freeAtStart: number): string | null {
  const floor = isolationLimits.diskFreeBytesMin
  return free < floor && freeAtStart - free > floor / 16 ? `left less than ${bytesInWords(floor)} free on the disk` : null
}

/**
 * Looks at a sandbox every `everyMs` until `end`, and tells once when a bound is passed. What happens between two looks is bounded by the limits that
 * the kernel keeps for each process (`bubblewrap-arguments.ts`).
 */
export function watchResources(sandbox: { readonly use: () => Promise<Use>; readonly workspaceDir: string; readonly bounds: Bounds; readonly everyMs: number }, onPassed: (why: string) => void): { end(): void } {
  const over = new AbortController()
  const isOver = (): boolean => over.signal.aborted
  const watch = async (): Promise<void> => {
    const freeAtStart = await freeBytes(sandbox.workspaceDir)
    for (;;) {
      await pause(sandbox.everyMs, undefined, { signal: over.signal })
      const why = boundPassed(await sandbox.use(), sandbox.bounds) ?? diskPassed(await freeBytes(sandbox.workspaceDir), freeAtStart)
      if (isOver()) return
      if (why !== null) { onPassed(why); return }
    }
  }
  // Not being able to look is a reason to end it: a bound that nobody watches is none.
  watch().catch((error: unknown) => { if (!isOver()) onPassed(`could not be watched any more (${error instanceof Error ? error.message : String(error)})`) })
  return { end: () => { over.abort() } }
}

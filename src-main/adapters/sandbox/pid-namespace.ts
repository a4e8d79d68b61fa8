import { open, readdir, readlink, type FileHandle } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { hasEnded, readProcess, signalIfThere } from './process-table.ts'
import { sandboxLimits } from './sandbox-limits.ts'

/**
 * A sandbox's process namespace, held open: its number cannot be given to another namespace before `release`,
 * so "no process has this number" proves that nobody of the sandbox is left.
 */
export interface HeldNamespace {
  readonly name: string
  /** Looks once at every process of the system. */
  members(): Promise<{ readonly pids: readonly number[]; readonly checked: number }>
  release(): Promise<void>
}

async function linkOf(pid: number | 'self'): Promise<string | null> {
  return readlink(`/proc/${pid}/ns/pid`).catch(() => null)
}

/** Name of the namespace that this program itself is in, as `pid:[number]`. */
export async function ownNamespace(): Promise<string> {
  return readlink('/proc/self/ns/pid')
}

/**
 * Holds the namespace that `pid` is in; null when the process is gone already. Processes whose namespace cannot be read
 * are other users': everybody of a sandbox has our uid, in a user namespace that we own.
 */
export async function holdNamespace(pid: number): Promise<HeldNamespace | null> {
  const handle: FileHandle | null = await open(`/proc/${pid}/ns/pid`, 'r').catch(() => null)
  if (handle === null) return null
  const name = `pid:[${(await handle.stat({ bigint: true })).ino}]`
  let released = false
  return {
    name,
    async members() {
      if (released) throw new Error(`namespace ${name} was released before it was looked at`)
      const all = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number)
      const links = await Promise.all(all.map(async (candidate) => ((await linkOf(candidate)) === name ? candidate : null)))
      const living = await Promise.all(links.filter((candidate) => candidate !== null).map(async (candidate) => {
        const found = await readProcess(candidate)
        return found === null || hasEnded(found.state) ? null : candidate
      }))
      return { pids: living.filter((candidate) => candidate !== null), checked: all.length }
    },
    async release() {
      if (released) return
      released = true
      await handle.close()
    },
  }
}

/**
 * Waits until nobody is left in `namespace` of a killed sandbox, at most `emptyWithinMs`; whoever does not go by itself is killed.
 * `checked`: processes looked at in the last look.
 */
export async function untilEmpty(namespace: HeldNamespace): Promise<{ readonly empty: boolean; readonly checked: number; readonly left: readonly number[] }> {
  const began = performance.now()
  for (;;) {
    const seen = await namespace.members()
    if (seen.pids.length === 0) return { empty: true, checked: seen.checked, left: [] }
    const elapsed = performance.now() - began
    if (elapsed >= sandboxLimits.emptyWithinMs) return { empty: false, checked: seen.checked, left: seen.pids }
    if (elapsed >= sandboxLimits.emptyByItselfMs) for (const pid of seen.pids) signalIfThere(pid, 'SIGKILL')
    await pause(15)
  }
}

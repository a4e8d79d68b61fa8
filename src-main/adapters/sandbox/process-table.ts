import { readFile } from 'node:fs/promises'

/** State letter and start time (clock ticks since boot, field 22 of `/proc/PID/stat`, proc(5)) of a process; null when there is none. */
export async function readProcess(pid: number): Promise<{ readonly state: string; readonly startTime: string } | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => null)
  if (text === null) return null
  // The name, in brackets, may hold spaces and brackets itself.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, startTime] = [fields[0], fields[19]]
  return state === undefined || startTime === undefined ? null : { state, startTime }
}

/** A process that has ended but was not collected yet, or is going. */
export const hasEnded = (state: string): boolean => state === 'Z' || state === 'X'

/** Sends a signal to a process, or to a whole group by its negative number; `0` only asks. False: nobody is there. */
export function signalIfThere(pid: number, signal: 'SIGKILL' | 'SIGCONT' | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
}

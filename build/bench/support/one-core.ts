import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const taskset = '/usr/bin/taskset'

/**
 * Runs with this process and these on one core, and lets them go anywhere afterwards. Which cores the scheduler gives to three processes moves the
 * latency between them by more than what a proxy does; on one core each pays for its own work and for nothing else, and runs agree within a few
 * percent. Null: this system has no `taskset`.
 */
export async function onOneCore<T>(pids: readonly number[], run: () => Promise<T>): Promise<T | null> {
  if (!existsSync(taskset)) return null
  const everybody = [process.pid, ...pids]
  const before = new Map(everybody.map((pid) => [pid, /: (\S+)$/m.exec(execFileSync(taskset, ['-cp', String(pid)], { encoding: 'utf8' }))?.[1] ?? '0']))
  const first = /^\d+/.exec(before.get(process.pid) ?? '')?.[0] ?? '0'
  const put = (pid: number, cores: string): void => { execFileSync(taskset, ['-cp', cores, String(pid)], { stdio: 'ignore' }) }
  try {
    for (const pid of everybody) put(pid, first)
    return await run()
  } finally {
    for (const [pid, cores] of before) put(pid, cores)
  }
}

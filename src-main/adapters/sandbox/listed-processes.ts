import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Use } from './resource-watch.ts'

const execute = promisify(execFile)
/** `ps` counts memory in these. */
const kib = 1024

/** Processes as `ps` lists them, on systems that show them nowhere else. */
export interface Listed { readonly pid: number; readonly parent: number; readonly group: number; readonly user: number; readonly residentBytes: number; readonly cpuMs: number }

async function ps(args: readonly string[]): Promise<string> {
  const { stdout } = await execute('ps', args, { env: { PATH: '/bin:/usr/bin', LC_ALL: 'C' }, maxBuffer: 16 * 1024 * 1024 })
  return stdout
}

/** Processor time as `ps` writes it, `[days-][hours:]minutes:seconds[.hundredths]`, in milliseconds. */
export function timeOf(text: string): number {
  const [rest = '', days = '0'] = text.split('-').reverse()
  return Math.round((rest.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) + Number(days) * 86_400) * 1_000)
}

/** Everybody of the system. Throws when `ps` cannot be run or says something else. */
export async function listProcesses(): Promise<readonly Listed[]> {
  return (await ps(['-axo', 'pid=,ppid=,pgid=,uid=,rss=,time='])).split('\n').filter((line) => line.trim() !== '').map((line) => {
    const [pid, parent, group, user, resident, time = ''] = line.trim().split(/\s+/)
    const listed = { pid: Number(pid), parent: Number(parent), group: Number(group), user: Number(user), residentBytes: Number(resident) * kib, cpuMs: timeOf(time) }
    if (!Object.values(listed).every(Number.isFinite)) throw new Error(`ps said “${line.slice(0, 100)}”`)
    return listed
  })
}

/** When a process began, as `ps` says it, to tell a pid from its successor; null when there is none. */
export async function listedStart(pid: number): Promise<string | null> {
  const text = await ps(['-o', 'lstart=', '-p', String(pid)]).catch((error: unknown) => {
    // It ends with 1 when it finds nobody.
    if (error instanceof Error && 'code' in error && error.code === 1) return ''
    throw error
  })
  return text.trim() === '' ? null : text.trim().replaceAll(/\s+/g, ' ')
}

/**
 * What a group and all that stem from its leader have in use. Memory is what is resident, so what processes share counts once for each; threads are not
 * counted; and whoever left the group and lost its parent is not found.
 */
export function useOfListed(all: readonly Listed[], leader: number): Use {
  const inside = new Set([leader])
  for (let before = 0; before < inside.size;) {
    before = inside.size
    for (const { pid, parent, group } of all) if (group === leader || inside.has(parent)) inside.add(pid)
  }
  const found = all.filter(({ pid }) => inside.has(pid))
  return { memoryBytes: found.reduce((sum, one) => sum + one.residentBytes, 0), tasks: found.length, cpuMs: found.reduce((sum, one) => sum + one.cpuMs, 0) }
}

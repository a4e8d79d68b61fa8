import { readdirSync, readFileSync } from 'node:fs'

interface Process { readonly pid: number; readonly parent: number; readonly command: string }

/**
 * Ids of the process `root`, of all that descend from it, and of those that name `folder` in their command line (Chromium's zygote and
 * crash handler may have another parent).
 */
export function membersOf(root: number, folder: string): readonly number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((name) => read(Number(name)))
  const members = new Set(all.filter(({ pid, command }) => pid === root || (pid !== process.pid && command.includes(folder))).map(({ pid }) => pid))
  for (let before = -1; before !== members.size;) {
    before = members.size
    for (const { pid, parent } of all) if (members.has(parent)) members.add(pid)
  }
  return [...members]
}

/** Proportional set size of these processes together, in MiB: pages that several share count once. */
export function proportionalMib(pids: readonly number[]): number {
  const kib = pids.map((pid) => Number(/^Pss:\s+(\d+) kB$/m.exec(text(pid, 'smaps_rollup'))?.[1] ?? 0))
  return kib.reduce((sum, each) => sum + each, 0) / 1_024
}

/** What a process is, in a few words, and its proportional set size in MiB. */
export function shareOf(pid: number): { readonly what: string; readonly mib: number } {
  const command = text(pid, 'cmdline').replaceAll('\0', ' ')
  const what = /--utility-sub-type=(\S+)/.exec(command)?.[1] ?? /--type=(\S+)/.exec(command)?.[1] ?? command.slice(0, 40)
  return { what, mib: proportionalMib([pid]) }
}

function read(pid: number): readonly Process[] {
  const parent = /^PPid:\s+(\d+)$/m.exec(text(pid, 'status'))?.[1]
  return parent === undefined ? [] : [{ pid, parent: Number(parent), command: text(pid, 'cmdline').replaceAll('\0', ' ') }]
}

/** Empty for a process that has ended meanwhile. */
function text(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return ''
    throw error
  }
}

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { expect } from '@playwright/test'
import { appUid } from './owner-folder.ts'

/** One process of this machine, as /proc tells. */
export interface Process {
  readonly pid: number
  readonly uid: number
  readonly command: string
  readonly environment: string
}

/**
 * Every process that belongs to an installation: by its account where the app has one of its own, and by its folder in the command line,
 * the environment or the mounts (a sandboxed process shows it nowhere else).
 */
export function processesOf(ownerFolder: string): readonly Process[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? read(Number(name)) : [])).filter((process) => process.pid !== globalThis.process.pid && belongs(process, ownerFolder))
}

/** Processes of an installation whose command line contains `words`. */
export function processesRunning(ownerFolder: string, words: string): readonly Process[] {
  return processesOf(ownerFolder).filter(({ command }) => command.includes(words))
}

/** Resolves when no process of the installation is left. */
export async function expectNobodyLeft(ownerFolder: string): Promise<void> {
  await expect.poll(() => processesOf(ownerFolder).map(({ pid, command }) => `${pid} ${command.slice(0, 200)}`), { message: 'processes that are left', timeout: 15_000 }).toEqual([])
}

function belongs({ pid, uid, command, environment }: Process, ownerFolder: string): boolean {
  if (uid === appUid()) return true
  if (appUid() !== null) return false
  return command.includes(ownerFolder) || environment.includes(ownerFolder) || text(pid, 'mountinfo').includes(ownerFolder)
}

function read(pid: number): readonly Process[] {
  try {
    const state = /^State:\s+(\S)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    // A zombie has ended; only its parent has not yet asked.
    if (state === 'Z' || state === 'X') return []
    return [{ pid, uid: statSync(`/proc/${pid}`).uid, command: text(pid, 'cmdline'), environment: text(pid, 'environ') }]
  } catch (gone) {
    if (isGone(gone)) return []
    throw gone
  }
}

function text(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').replaceAll('\0', ' ').trim()
  } catch (gone) {
    if (isGone(gone)) return ''
    throw gone
  }
}

/** Ended while it was looked at, or not ours to look at. */
function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'EINVAL'].includes(String(error.code))
}

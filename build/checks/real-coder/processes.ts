import { readdir, readFile } from 'node:fs/promises'

/** Processes of the whole machine whose command line holds `word`, by number. Words of a command line are parted by NUL. */
export async function processesWith(word: string): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  // Ended since it was listed: its line is nobody's.
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${String(pid)}/cmdline`, 'latin1').catch(() => '')))
  return pids.filter((_pid, at) => lines[at]?.includes(word) === true)
}

/** Whether a process with this word in its command line lives anywhere on the machine. */
export async function isAlive(word: string): Promise<boolean> {
  return (await processesWith(word)).length > 0
}

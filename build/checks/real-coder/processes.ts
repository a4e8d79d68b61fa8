import { readdir, readFile } from 'node:fs/promises'

/** Whether a process with this word in its command line lives anywhere on the machine. Words of a command line are parted by NUL. */
export async function isAlive(word: string): Promise<boolean> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (line.includes(word)) return true
  }
  return false
}

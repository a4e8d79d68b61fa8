import { readFile, readdir } from 'node:fs/promises'

/** `O_CLOEXEC` as `/proc/PID/fdinfo/N` shows it, in octal (proc(5)). */
const closeOnExec = 0o2000000

/**
 * Descriptors of this program, above `last`, that every child would get: left open by whoever started the app (Node and
 * Chromium open their own so that children do not get them). bwrap hands them on into the sandbox, where they would be a way out.
 */
export async function inheritedDescriptors(last: number): Promise<readonly number[]> {
  const names = await readdir('/proc/self/fd')
  const found = await Promise.all(names.map(Number).filter((number) => number > last).map(async (number) => {
    // Closed meanwhile: nothing to hand on.
    const info = await readFile(`/proc/self/fdinfo/${String(number)}`, 'latin1').catch(() => null)
    const flags = /^flags:\s*([0-7]+)/m.exec(info ?? '')?.[1]
    return flags === undefined || (Number.parseInt(flags, 8) & closeOnExec) !== 0 ? null : number
  }))
  return found.filter((number) => number !== null)
}

/**
 * Arguments for bash that close `inherited` and then become `program`, under the same process id (so that it still dies with us).
 * A plain shell cannot name descriptors above 9.
 */
export function closingDescriptors(inherited: readonly number[], program: string, args: readonly string[]): readonly string[] {
  return ['-c', `exec ${inherited.map((number) => `${String(number)}>&-`).join(' ')}; unset PWD OLDPWD SHLVL; exec -a bwrap "$0" "$@"`, program, ...args]
}

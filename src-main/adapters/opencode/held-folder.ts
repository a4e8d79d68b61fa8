import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs'

/** How a system names a folder that is held open, whatever its path leads to meanwhile. */
export type HeldName = (folder: { readonly descriptor: number; readonly dev: bigint; readonly ino: bigint }) => string

/** Linux shows what a process has open; macOS names whatever there is by its volume and its number there (volfs), which stay taken while it is open. The latter was never tried on a Mac. */
const heldNames: Partial<Record<NodeJS.Platform, HeldName>> = { linux: ({ descriptor }) => `/proc/self/fd/${String(descriptor)}`, darwin: ({ dev, ino }) => `/.vol/${String(dev)}/${String(ino)}` }

const fileFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

const codeOf = (cause: unknown): unknown => (cause instanceof Error && 'code' in cause ? cause.code : null)

/**
 * Opens a file below `top` name by name, each in the folder that is held open before it, so that nobody can put a link on the way meanwhile. The
 * descriptor is the caller's to close; null when there is no such file; `elsewhere` when a link, or something else than a folder, is on the way;
 * undefined when it cannot be told: no right to look, or a system on which what is held open has no name.
 */
export function openBelow(top: string, names: readonly string[], heldName: HeldName | undefined = heldNames[process.platform]): number | null | 'elsewhere' | undefined {
  if (heldName === undefined) return undefined
  let at: number | null = null
  try {
    at = openSync(top, constants.O_RDONLY | constants.O_DIRECTORY)
    for (const [index, name] of names.entries()) {
      const { dev, ino } = fstatSync(at, { bigint: true })
      const folder = heldName({ descriptor: at, dev, ino })
      const named = statSync(folder, { bigint: true, throwIfNoEntry: false })
      if (named?.dev !== dev || named.ino !== ino) return undefined
      const next: number = openSync(`${folder}/${name}`, index === names.length - 1 ? fileFlags : folderFlags)
      closeSync(at)
      at = next
    }
    const file = at
    at = null
    return file
  } catch (cause) {
    const code = codeOf(cause)
    if (code === 'ELOOP' || code === 'ENOTDIR') return 'elsewhere'
    return code === 'ENOENT' ? null : undefined
  } finally {
    if (at !== null) closeSync(at)
  }
}

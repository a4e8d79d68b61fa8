import { constants, type Stats } from 'node:fs'
import { lstat, open, opendir, realpath, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { unless } from './fault.ts'

/**
 * Linux resolves `/proc/self/fd/N/name` from the open folder itself, so that nobody can swap a parent for a link in between (what openat
 * does in C). Elsewhere paths are used and the real path is compared after opening.
 */
export const hasDescriptorPaths = process.platform === 'linux'

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
/** O_NONBLOCK: opening a FIFO that took a file's place must not wait for its writer. */
const fileFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A folder held open. Everything in it is reached through the open descriptor, never through a link. Whoever opens it closes it. */
export class PinnedFolder {
  /** For messages and, where descriptors have no paths, for access. */
  readonly path: string
  readonly #handle: FileHandle

  private constructor(path: string, handle: FileHandle) {
    this.path = path
    this.#handle = handle
  }

  /** Opens a root folder; its last component must not be a link. Throws the system's error (ENOENT, ENOTDIR, ELOOP, EACCES). */
  static async open(path: string): Promise<PinnedFolder> {
    return new PinnedFolder(path, await open(path, folderFlags))
  }

  /** Opens a subfolder. Throws ENOTDIR or ELOOP when a link or file has its name. */
  async child(name: string): Promise<PinnedFolder> {
    const path = join(this.path, name)
    const handle = await open(this.at(name), folderFlags)
    if (!hasDescriptorPaths && (await realpath(path)) !== join(await realpath(dirname(path)), name)) {
      await handle.close()
      throw Object.assign(new Error(`ELOOP: a link took the place of ${path}`), { code: 'ELOOP', syscall: 'open' })
    }
    return new PinnedFolder(path, handle)
  }

  /** A path to `name` in this folder, for one system call now. Calls that follow links must not be used on it. */
  at(name: string): string {
    return hasDescriptorPaths ? `/proc/self/fd/${this.#handle.fd}/${name}` : join(this.path, name)
  }

  /** The names in it, unordered; null stands for a name that is not UTF-8. */
  async *names(): AsyncGenerator<string | null> {
    const self = hasDescriptorPaths ? `/proc/self/fd/${this.#handle.fd}` : this.path
    // Node takes 'buffer' here and then gives Buffers; its types do not know.
    const entries = await opendir(self, { encoding: 'buffer' as BufferEncoding, bufferSize: 128 })
    for await (const entry of entries) yield decodeName(entry.name as unknown as Buffer)
  }

  /** What `name` is, without following it; null when there is nothing. */
  stat(name: string): Promise<Stats | null> {
    return unless(['ENOENT'], lstat(this.at(name)))
  }

  /** Opens a regular file for reading; null when `name` is a link, a FIFO, a folder, or gone. */
  async file(name: string): Promise<{ readonly handle: FileHandle; readonly stat: Stats } | null> {
    const handle = await unless(['ENOENT', 'ELOOP', 'ENXIO', 'ENODEV'], open(this.at(name), fileFlags))
    if (handle === null) return null
    const stat = await handle.stat()
    if (stat.isFile()) return { handle, stat }
    await handle.close()
    return null
  }

  /** Makes renames and new names in it durable. */
  sync(): Promise<void> {
    return this.#handle.sync()
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}

/** A file name as text, or null when its bytes are not UTF-8. */
export function decodeName(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

/** Opens the folder that holds `path` (relative, `/`-separated) below `root`, component by component, and hands it to `use` with the last name. */
export async function inFolderOf<T>(root: string, path: string, use: (folder: PinnedFolder, name: string) => Promise<T>): Promise<T> {
  const parts = path.split('/')
  const name = parts.pop() ?? ''
  if (path === '' || [...parts, name].some((part) => part === '' || part === '.' || part === '..')) throw new TypeError(`not a path inside a folder: ${path}`)
  let folder = await PinnedFolder.open(root)
  try {
    for (const part of parts) {
      const next = await folder.child(part)
      await folder.close()
      folder = next
    }
    return await use(folder, name)
  } finally {
    await folder.close()
  }
}

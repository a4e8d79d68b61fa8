import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isErrno } from './errno.ts'

/** Small files that must never be half there. Errors of the disk are thrown as Node throws them. */
export interface TextFiles {
  /** The whole text, or null when there is no such file. */
  read(path: string): Promise<string | null>
  /** Replaces the file at once, readable by the owner only: written beside it, synced, renamed, folder synced. */
  write(path: string, text: string): Promise<void>
  /** Renames `settings.json` to `settings.broken-1.json` (or the next free number) and returns the new path. Covers no other file. */
  setAside(path: string): Promise<string>
}

export const textFiles: TextFiles = {
  read: async (path) => {
    try {
      return await readFile(path, 'utf8')
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return null
      throw error
    }
  },
  write: async (path, text) => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`
    try {
      const file = await open(draft, 'wx', 0o600)
      try {
        await file.writeFile(text, 'utf8')
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(draft, path)
    } catch (error) {
      await rm(draft, { force: true })
      throw error
    }
    await syncFolder(dirname(path))
  },
  setAside: async (path) => {
    const stem = basename(path).replace(/\.json$/, '')
    for (let number = 1; ; number++) {
      const aside = join(dirname(path), `${stem}.broken-${number}.json`)
      try {
        // Claims the name, so that the rename covers an empty file of ours and nothing else.
        await (await open(aside, 'wx', 0o600)).close()
      } catch (error) {
        if (isErrno(error, 'EEXIST')) continue
        throw error
      }
      await rename(path, aside)
      return aside
    }
  },
}

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return // Windows has no handle of a folder to sync.
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

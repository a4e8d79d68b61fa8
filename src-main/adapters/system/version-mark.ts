import { constants } from 'node:fs'
import { copyFile, mkdir, readdir, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isErrno } from './errno.ts'
import { textFiles } from './text-files.ts'

export interface VersionMark { readonly before: string | null; readonly backup: string | null }

const backupsMax = 3
const journalFiles = ['journal.sqlite', 'journal.sqlite-wal', 'journal.sqlite-shm']

/**
 * Notes which version of the app starts on a data folder. When another one did last, the journal and the settings are copied to
 * `backups/VERSION-TIME` first, as that version left them: with the copy put back, that version can be, too. The three newest are kept. Must
 * run before the journal is opened, by the only instance. @throws when the disk refuses: then the new version must not go on
 */
export async function markVersion(dataDir: string, version: string, now: number): Promise<VersionMark> {
  const path = join(dataDir, 'version.txt')
  const before = (await textFiles.read(path))?.trim() ?? null
  if (before === version) return { before, backup: null }
  const journal = join(dataDir, 'journal')
  const backup = await exists(join(journal, 'journal.sqlite')) ? join(dataDir, 'backups', `${safe(before ?? 'unknown')}-${String(now)}`) : null
  if (backup !== null) {
    await mkdir(backup, { recursive: true, mode: 0o700 })
    for (const file of [...journalFiles.map((name) => join(journal, name)), join(dataDir, 'settings.json')]) await copyIfThere(file, backup)
    await prune(join(dataDir, 'backups'))
  }
  await textFiles.write(path, `${version}\n`)
  return { before, backup }
}

function safe(version: string): string {
  return version.replaceAll(/[^0-9A-Za-z.+-]/g, '_').slice(0, 60)
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(missing)) !== null
}

async function copyIfThere(file: string, folder: string): Promise<void> {
  await copyFile(file, join(folder, basename(file)), constants.COPYFILE_FICLONE).catch(missing)
}

/** The time ends each name, so that the newest are told without asking the disk. */
async function prune(folder: string): Promise<void> {
  const byTime = (await readdir(folder)).sort((a, b) => timeOf(b) - timeOf(a))
  for (const name of byTime.slice(backupsMax)) await rm(join(folder, name), { recursive: true, force: true })
}

function timeOf(name: string): number {
  return Number(/-(\d+)$/.exec(name)?.[1] ?? 0)
}

function missing(error: unknown): null {
  if (isErrno(error, 'ENOENT')) return null
  throw error
}

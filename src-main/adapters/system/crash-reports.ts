import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isErrno } from './errno.ts'

/** So many reports of crashes are kept, the newest, and none for longer. A report may hold pieces of the app's memory. */
export const crashReportLimits = { countMax: 10, ageMsMax: 30 * 24 * 60 * 60_000 } as const

/** Where Crashpad keeps a report in its stages: Linux and macOS, then Windows. Whatever else stands in the folder is not a report. */
const stages = ['new', 'pending', 'completed', 'reports', 'attachments'] as const
const nameOfReport = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=$|\.)/i

interface Report { readonly paths: string[]; newest: number }

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  })
}

/** When something was last written, in ms; null: it has gone since. */
async function writtenAt(path: string): Promise<number | null> {
  return lstat(path).then(({ mtimeMs }) => mtimeMs, (error: unknown) => {
    if (isErrno(error, 'ENOENT')) return null
    throw error
  })
}

async function reportsIn(dir: string): Promise<ReadonlyMap<string, Report>> {
  const reports = new Map<string, Report>()
  for (const stage of stages) {
    for (const name of await namesIn(join(dir, stage))) {
      const id = nameOfReport.exec(name)?.[0].toLowerCase()
      const path = join(dir, stage, name)
      const at = id === undefined ? null : await writtenAt(path)
      if (id === undefined || at === null) continue
      const report = reports.get(id) ?? { paths: [], newest: 0 }
      report.paths.push(path)
      report.newest = Math.max(report.newest, at)
      reports.set(id, report)
    }
  }
  return reports
}

/** Removes the reports of crashes that are too old or too many, each with all its files. `dir`: Crashpad's folder; it may not be there. Throws what the disk says. */
export async function removeOldCrashReports(dir: string, now: number): Promise<{ readonly kept: number; readonly removed: number }> {
  const newestFirst = [...(await reportsIn(dir)).values()].sort((one, other) => other.newest - one.newest)
  const spent = newestFirst.filter(({ newest }, rank) => rank >= crashReportLimits.countMax || now - newest > crashReportLimits.ageMsMax)
  for (const path of spent.flatMap(({ paths }) => paths)) await rm(path, { recursive: true, force: true })
  return { kept: newestFirst.length - spent.length, removed: spent.length }
}

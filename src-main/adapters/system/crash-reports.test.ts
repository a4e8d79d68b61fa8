import { existsSync, lutimesSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { crashReportLimits, removeOldCrashReports } from './crash-reports.ts'
import { scratchFolder } from './scratch.suite.ts'

const now = Date.UTC(2026, 10, 30)
const hour = 60 * 60_000
const idOf = (number: number): string => `0f6c1c52-77a1-4d0e-9b2c-${String(number).padStart(12, '0')}`

function put(path: string, ageMs: number): string {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, 'memory')
  const at = new Date(now - ageMs)
  utimesSync(path, at, at)
  return path
}

test.each(['pending', 'completed', 'new', 'reports'])('of the reports in %s the newest ten are kept', async (stage) => {
  const dir = scratchFolder()
  for (let number = 1; number <= 14; number += 1) put(join(dir, stage, `${idOf(number)}.dmp`), number * hour)
  expect(await removeOldCrashReports(dir, now)).toEqual({ kept: 10, removed: 4 })
  expect(readdirSync(join(dir, stage)).sort()).toEqual(Array.from({ length: 10 }, (_, at) => `${idOf(at + 1)}.dmp`).sort())
})

test('ten in all, whatever stage each has reached', async () => {
  const dir = scratchFolder()
  for (let number = 1; number <= 12; number += 1) put(join(dir, number % 2 === 0 ? 'pending' : 'completed', `${idOf(number)}.dmp`), number * hour)
  await removeOldCrashReports(dir, now)
  expect([existsSync(join(dir, 'pending', `${idOf(10)}.dmp`)), existsSync(join(dir, 'completed', `${idOf(11)}.dmp`)), existsSync(join(dir, 'pending', `${idOf(12)}.dmp`))]).toEqual([true, false, false])
})

test('none is kept for more than thirty days, however few there are', async () => {
  const dir = scratchFolder()
  const [old, young] = [put(join(dir, 'pending', `${idOf(1)}.dmp`), crashReportLimits.ageMsMax + hour), put(join(dir, 'pending', `${idOf(2)}.dmp`), crashReportLimits.ageMsMax - hour)]
  expect(await removeOldCrashReports(dir, now)).toEqual({ kept: 1, removed: 1 })
  expect([existsSync(old), existsSync(young)]).toEqual([false, true])
})

test('a report goes with all that belongs to it', async () => {
  const dir = scratchFolder()
  const age = crashReportLimits.ageMsMax + hour
  put(join(dir, 'pending', `${idOf(1)}.dmp`), age)
  put(join(dir, 'pending', `${idOf(1)}.meta`), age)
  put(join(dir, 'pending', `${idOf(1)}.lock`), age)
  put(join(dir, 'attachments', idOf(1), 'log.txt'), age)
  utimesSync(join(dir, 'attachments', idOf(1)), new Date(now - age), new Date(now - age))
  await removeOldCrashReports(dir, now)
  expect([readdirSync(join(dir, 'pending')), readdirSync(join(dir, 'attachments'))]).toEqual([[], []])
})

test('what is not a report stays, and nothing is followed out of the folder', async () => {
  const [dir, elsewhere] = [scratchFolder(), scratchFolder()]
  const age = crashReportLimits.ageMsMax + hour
  const kept = [put(join(dir, 'settings.dat'), age), put(join(dir, 'pending', 'notes.txt'), age), put(join(dir, 'client_id', `${idOf(1)}.dmp`), age), put(join(elsewhere, 'mine.txt'), age)]
  mkdirSync(join(dir, 'attachments'), { recursive: true })
  symlinkSync(elsewhere, join(dir, 'attachments', idOf(2)))
  lutimesSync(join(dir, 'attachments', idOf(2)), new Date(now - age), new Date(now - age))
  expect(await removeOldCrashReports(dir, now)).toEqual({ kept: 0, removed: 1 })
  expect(kept.filter((path) => !existsSync(path))).toEqual([])
})

test('a folder that is not there has no reports', async () => {
  expect(await removeOldCrashReports(join(scratchFolder(), 'Crashpad'), now)).toEqual({ kept: 0, removed: 0 })
})

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { makeProject } from '../owners-project.ts'
import { stubEntry, stubModels } from '../models.ts'
import { processesOf } from '../processes.ts'
import { StubProvider } from '../stubs/provider.ts'
import { does } from '../stubs/step.ts'
import { acceptanceFolder, leaveReport, runtimesOfOne, versionsOf } from './report.ts'
import { sightings, watchRows } from './row-witness.ts'

const tasks = 5
/** The first two fill caches that stay. */
const settledAfter = 2
/** Of what the app holds after two tasks; what a row costs is in it, a leak of a process's worth is not. */
const memoryGrowthMax = 1.15

interface Footprint { readonly task: number; readonly processes: number; readonly descriptors: number; readonly memoryMib: number; readonly temporary: readonly string[] }

for (const openCode of runtimesOfOne()) {
  test(`5: from a cold start straight into a task, and ${tasks} tasks one after another without growth, OpenCode ${openCode.version}`, async () => {
    const provider = await StubProvider.start()
    const name = `5-in-a-row-${openCode.version}`
    const launchedAt = Date.now()
    const app = await App.launch({ providers: [stubEntry(provider)], env: { COUNTERSIGN_OPENCODE_BIN: openCode.path } })
    const footprints: Footprint[] = []
    try {
      await watchRows(app)
      const folder = makeProject(app.ownerFolder, { 'README.md': '# Five tasks\n' })
      let firstRowAt = 0
      for (let task = 1; task <= tasks; task += 1) {
        const path = `task-${task}.txt`
        provider.coder(does.write(`/workspace/${path}`, `of task ${task}\n`.repeat(400), task === 1 ? { half: 'until-released' } : {}), does.bash('true', 'Run the tests'), does.say('Written.'))
        await app.begin({ models: stubModels, title: `Task ${task}`, source: { kind: 'folder', path: folder, mounts: [] } })
        await app.window.getByRole('option', { name: new RegExp(`Task ${task}`) }).click()
        await app.room.approve('brief')
        if (task === 1) {
          const row = app.room.tools({ tool: 'write' })
          await expect(row).toHaveAttribute('data-state', 'preview', { timeout: 90_000 })
          await expect(row).toContainText(path)
          firstRowAt = (await sightings(app, (await row.getAttribute('data-call-id'))!))[0]!.at
          await app.window.screenshot({ path: join(acceptanceFolder, `${name}.png`) })
          await provider.halfway()
          provider.release()
        }
        await app.room.hasStatus('result-ready', 120_000)
        await app.room.acceptResult()
        await app.room.hasStatus('accepted')
        footprints.push(await footprintAtRest(app, task))
      }
      leaveReport(name, { passed: true, openCode, versions: await versionsOf(app), launchedAt, firstRowAt, coldStartToFirstRowMs: firstRowAt - launchedAt, footprints, userAgents: [...new Set(provider.of('coder').map(({ headers }) => headers['user-agent']))] })
      // A helper that Chromium or a probe starts for a moment ends again; what leaked stays, however long it is looked at.
      const before = footprints[settledAfter - 1]!
      await expect.poll(() => growth(before, footprintOf(app, tasks)), { message: 'what grew', timeout: 60_000 }).toEqual([])
      expect(app.windowErrors).toEqual([])
    } finally {
      await app.close()
      await provider.close()
    }
  })
}

/** Taken once the coder and its sandbox have gone. */
async function footprintAtRest(app: App, task: number): Promise<Footprint> {
  await expect.poll(() => processesOf(app.ownerFolder).filter(({ command }) => /bwrap|opencode serve/.test(command)).length, { message: 'processes of the coder', timeout: 30_000 }).toBe(0)
  await app.inMain(({ session }) => session.defaultSession.clearCache())
  return footprintOf(app, task)
}

function footprintOf(app: App, task: number): Footprint {
  const mine = processesOf(app.ownerFolder)
  const temporary = readdirSync(join(app.ownerFolder, 'tmp'), { recursive: true, encoding: 'utf8' }).filter((path) => !/\.org\.chromium|scoped_dir|\.sock$/i.test(path)).toSorted()
  return { task, processes: mine.length, descriptors: mine.reduce((sum, { pid }) => sum + descriptors(pid), 0), memoryMib: mine.reduce((sum, { pid }) => sum + proportionalMib(pid), 0), temporary }
}

/** What is more than before, each with both figures. */
function growth(before: Footprint, after: Footprint): string[] {
  return [
    ...(after.processes > before.processes ? [`processes: ${before.processes} to ${after.processes}`] : []),
    ...(after.descriptors > before.descriptors + 4 ? [`open descriptors: ${before.descriptors} to ${after.descriptors}`] : []),
    ...(after.memoryMib >= before.memoryMib * memoryGrowthMax ? [`memory: ${before.memoryMib} to ${after.memoryMib} MiB`] : []),
    ...after.temporary.filter((path) => !before.temporary.includes(path)).map((path) => `temporary: ${path}`),
  ]
}

function descriptors(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0 // It ended while it was looked at.
  }
}

function proportionalMib(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0 // It ended while it was looked at.
  }
}

import { setTimeout as pause } from 'node:timers/promises'
import { join } from 'node:path'
import { App } from '../app.ts'
import { expect } from '../fixtures.ts'
import { patchingModels, stubEntry, stubModels } from '../models.ts'
import { makeProject } from '../owners-project.ts'
import { StubProvider } from '../stubs/provider.ts'
import { does, type CallStep } from '../stubs/step.ts'
import { inTurn } from './start-turn.ts'
import { acceptanceFolder, compareFile, leaveReport, versionsOf } from './report.ts'
import { sightings, watchRows } from './row-witness.ts'

/** A call that is held half-way for at least `holdMs`, or whose arguments take at least `trickleMs`. */
export interface HeldJob {
  readonly name: string
  readonly openCode: { readonly version: string; readonly path: string; readonly note: string | null }
  readonly api: 'chat' | 'responses'
  readonly tool: 'write' | 'apply_patch'
  readonly contentBytes: number
  readonly slow: { readonly holdMs: number } | { readonly trickleMs: number }
}

const file = 'big/ledger ü.txt'
const pieceChars = 48
/** The counter is looked at this often while arguments trickle. */
const lookEveryMs = 500

/** Runs one task around a slow call and leaves its report; every promise of the acceptance is checked on the way. Gives the report for more. */
export async function runHeldJob(job: HeldJob): Promise<Timings> {
  const provider = await StubProvider.start()
  const content = exactly(job.contentBytes)
  const testCommand = `echo '${compareFile('', file, content).expectedSha256}  ${file}' | sha256sum -c && test -f note.txt`
  const first = slowed(job, callOf(job.tool, file, content))
  provider.lead({ brief: JSON.stringify({ goal: 'Write the ledger.', scope: '', criteria: [], testCommand, excerptIds: [] }) })
  provider.coder(
    { ...first, text: 'I write the ledger.' }, does.bash(testCommand, 'Run the tests'), does.say('The ledger is written.'),
    callOf(job.tool, 'note.txt', 'noted\n'), does.bash(testCommand, 'Run the tests'), does.say('And the note.'),
  )
  let app: App | null = null
  try {
    const started = await inTurn(async () => {
      app = await App.launch({ providers: [stubEntry(provider, job.api)], env: { COUNTERSIGN_OPENCODE_BIN: job.openCode.path } })
      return { app, ...await start(app, provider, job, testCommand) }
    })
    return await follow(started, provider, job, { content, argumentBytes: Buffer.byteLength(JSON.stringify(first.input)) })
  } finally {
    await (app as App | null)?.close()
    await provider.close()
  }
}

interface Expected { readonly content: string; readonly argumentBytes: number }
interface Started { readonly app: App; readonly folder: string; readonly taskId: string; readonly taskBegunAt: number }
/** Milliseconds since the epoch. */
export interface Timings { readonly taskBegunAt: number; readonly firstModelRequestAt: number; readonly briefApprovedAt: number; readonly coderFirstRequestAt: number; readonly firstArgumentByteAt: number; readonly rowSeenAt: number; readonly fileNameSeenAt: number; readonly slowUntil: number; readonly endedAt: number }

/** From the window to the coder's first model request. */
async function start(app: App, provider: StubProvider, job: HeldJob, testCommand: string): Promise<Omit<Started, 'app'>> {
  const folder = makeProject(app.ownerFolder, { 'README.md': '# Ledgers\n' })
  await watchRows(app)
  const taskBegunAt = Date.now()
  const taskId = await app.begin({ models: job.tool === 'write' ? stubModels : patchingModels, testCommand, source: { kind: 'folder', path: folder, mounts: [] } })
  await app.room.approve('brief')
  await provider.request('coder')
  return { folder, taskId, taskBegunAt }
}

async function follow({ app, folder, taskId, taskBegunAt }: Started, provider: StubProvider, job: HeldJob, { content, argumentBytes }: Expected): Promise<Timings> {
  const { room } = app
  const row = room.tools({ tool: job.tool }).first()
  await expect(row).toHaveAttribute('data-state', 'preview', { timeout: 90_000 })
  const callId = (await row.getAttribute('data-call-id'))!
  const counters = 'holdMs' in job.slow ? await hold(app, provider, job, job.slow.holdMs) : await trickle(app, job, callId)
  const slowUntil = Date.now()
  await expect(room.tools({ callId })).toHaveAttribute('data-state', 'done', { timeout: 60_000 })
  await room.hasStatus('result-ready', 120_000)
  await expect(room.tools({ callId }), 'one row from the first byte to the last record').toHaveCount(1)
  await expect(room.spinning, 'nothing spins').toHaveCount(0)

  const events = await app.audit()
  const finals = events.filter((event) => event.type === 'tool-ended' && event.payload.includes(`"${callId}"`))
  expect(finals, 'final records of the call').toHaveLength(1)
  expect(JSON.parse(finals[0]!.payload)).toMatchObject({ callId, tool: job.tool, state: 'done' })
  expect(events.filter((event) => event.type === 'session-bound'), 'one session for both turns').toHaveLength(1)
  expect(events.filter((event) => event.type === 'turn-submitted'), 'turns').toHaveLength(2)
  const asked = provider.of('coder')
  expect(asked.at(-1)!.body, 'the second turn carries the first').toContain(callId)
  const userAgents = [...new Set(asked.map(({ headers }) => headers['user-agent'] ?? 'none'))]
  for (const agent of userAgents) expect(agent, 'OpenCode itself asked').toContain(`opencode/${job.openCode.version}`)

  await room.acceptResult()
  await room.hasStatus('accepted')
  const comparison = compareFile(join(folder, file), file, content)
  expect(comparison, 'the file in the owner\'s folder').toMatchObject({ same: true, actualBytes: job.contentBytes })

  const seen = await sightings(app, callId)
  const at = (type: string): number => events.find((event) => event.type === type)!.at
  const timings: Timings = {
    taskBegunAt, firstModelRequestAt: provider.asked[0]!.at, briefApprovedAt: at('brief-approved'), coderFirstRequestAt: asked[0]!.at,
    firstArgumentByteAt: provider.stamps.find((stamp) => stamp.callId === callId)!.firstArgumentAt!, rowSeenAt: seen[0]!.at, fileNameSeenAt: seen.find(({ target }) => target.includes('ledger'))!.at, slowUntil, endedAt: finals[0]!.at,
  }
  expect(seen.filter(({ state }) => state === 'preview').length, 'sightings as a preview').toBeGreaterThan(0)
  expect(timings.fileNameSeenAt, 'the file is named while the call is still being written').toBeLessThan(slowUntil)
  leaveReport(job.name, {
    passed: true, openCode: job.openCode, api: job.api, tool: job.tool, taskId, callId, slow: job.slow, argumentBytes, versions: await versionsOf(app), userAgents, timings: { ...timings, ...spans(timings) }, counters,
    states: [...new Set(seen.map(({ state }) => state))], files: [comparison], modelRequests: provider.asked.map(({ at: askedAt, number, asker, model }) => ({ at: askedAt, number, asker, model })),
    events: events.map(({ at: eventAt, type, summary }) => ({ at: eventAt, type, summary: summary.slice(0, 200) })), windowErrors: app.windowErrors,
  })
  expect(app.windowErrors).toEqual([])
  return timings
}

function spans(at: Timings): Record<string, number> {
  return { firstByteToRowMs: at.rowSeenAt - at.firstArgumentByteAt, firstByteToFileNameMs: at.fileNameSeenAt - at.firstArgumentByteAt, taskToFirstModelRequestMs: at.firstModelRequestAt - at.taskBegunAt, approvalToCoderRequestMs: at.coderFirstRequestAt - at.briefApprovedAt, slowForMs: at.slowUntil - at.firstArgumentByteAt }
}

/** Sees the row while nothing comes, waits until the hold has lasted as long as it must, sees it again, and lets it go on. */
async function hold(app: App, provider: StubProvider, { name, tool }: HeldJob, holdMs: number): Promise<readonly string[]> {
  await provider.halfway()
  const heldFrom = performance.now()
  const row = app.room.tools({ tool }).first()
  await expect(row).toContainText('ledger ü.txt')
  await expect(row, 'the counter says what has come').toContainText(/\d{2},\d{3} bytes/)
  await app.window.screenshot({ path: join(acceptanceFolder, `${name}.png`) })
  await pause(Math.max(0, holdMs - (performance.now() - heldFrom)))
  expect(await row.getAttribute('data-state'), 'after the whole hold').toBe('preview')
  expect(await row.locator('.path-name').evaluate((name) => name.scrollWidth <= name.clientWidth), 'the file\'s name is drawn whole').toBe(true)
  const counter = await row.locator('.tool-numbers').innerText()
  expect(counter, 'it says that nothing comes, beside what has come').toMatch(/\d{2},\d{3} bytes\s*nothing new for/)
  await app.window.screenshot({ path: join(acceptanceFolder, `${name}-end.png`) })
  provider.release()
  return [counter]
}

/** Looks at the counter until the arguments are complete: it moves all the time. */
async function trickle(app: App, { name }: HeldJob, callId: string): Promise<readonly string[]> {
  const row = app.room.tools({ callId })
  const counters: string[] = []
  for (let look = 0; await row.getAttribute('data-state') === 'preview'; look += 1) {
    counters.push(await row.locator('.tool-numbers').innerText({ timeout: 1_000 }).catch(() => 'no longer a preview'))
    if (look === 20) await app.window.screenshot({ path: join(acceptanceFolder, `${name}.png`) })
    await pause(lookEveryMs)
  }
  const distinct = [...new Set(counters)]
  expect(distinct.length, `a counter that moves: ${distinct.slice(0, 5).join(' → ')}`).toBeGreaterThan(30)
  return distinct
}

function slowed(job: HeldJob, call: CallStep): CallStep {
  if ('holdMs' in job.slow) return { ...call, half: 'until-released' }
  const pieces = Math.ceil([...JSON.stringify(call.input)].length / pieceChars)
  return { ...call, paceMs: Math.ceil(job.slow.trickleMs / pieces) }
}

function callOf(tool: HeldJob['tool'], path: string, content: string): CallStep {
  if (tool === 'write') return does.write(`/workspace/${path}`, content)
  const lines = content.replace(/\n$/, '').split('\n').map((line) => `+${line}`)
  return { is: 'call', tool, input: { patchText: ['*** Begin Patch', `*** Add File: ${path}`, ...lines, '*** End Patch'].join('\n') } }
}

/** Text of exactly so many bytes in UTF-8, with characters of one to four bytes and everything that JSON escapes. */
function exactly(bytes: number): string {
  const line = 'entry "7" \\ tab\t naïve – 試験 🧾 </script> ${x}\n'
  let text = ''
  while (Buffer.byteLength(text + line) <= bytes - 1) text += line
  return `${text}${'x'.repeat(bytes - Buffer.byteLength(text) - 1)}\n`
}

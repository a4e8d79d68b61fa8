// node build/release/journal-fixture.ts: writes the journal fixture of the version in package.json, as each release does once, before its tag:
// journals/VERSION.sqlite, written by this very code, and journals/VERSION.json, what it folds to. journal-fixture.test.ts folds every one of them
// for ever. A fixture of a version that was released is never written anew: a fold that differs is a broken promise, to be mended in the code.
import { existsSync, mkdirSync, mkdtempSync, copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createFakeTime } from '../../src-main/adapters/memory/fake-time.ts'
import { sayTurnEnded } from '../../src-main/adapters/memory/scripted-coder.ts'
import { openScriptedRoom, steadyLead, type ScriptedRoom } from '../../src-main/adapters/memory/scripted-room.ts'
import type { SqliteJournal } from '../../src-main/adapters/sqlite/journal.ts'
import { openJournal } from '../../src-main/adapters/sqlite/open.ts'
import { waitingHolds } from '../../src-main/core/task/model.ts'
import type { TaskId } from '../../src-preload/contract/ids.ts'
import { seeThrough, selfActingCoder } from '../harness/actors.ts'
import { foldOf } from './journal-fold.ts'
import { appVersion } from './version.ts'

const folder = join(import.meta.dirname, 'journals')
const version = appVersion()

async function toWork(room: ScriptedRoom, change: Parameters<ScriptedRoom['create']>[0] = {}): Promise<TaskId> {
  const taskId = await room.create(change)
  await room.decide(taskId, 'approved')
  return taskId
}

/** One of each kind of end, and of what may happen on the way. */
async function play(room: ScriptedRoom): Promise<void> {
  const act = selfActingCoder()
  act(room.coder)
  await seeThrough(room, await room.create({ title: 'Accepted, with a question, a held command and a test run' }))
  const rejected = await room.create({ title: 'Rejected' })
  for (let round = 0; round < 20 && room.state(rejected).status !== 'result-ready'; round += 1) { if (waitingHolds(room.state(rejected)).length > 0) await room.decide(rejected, 'approved'); await room.settle() }
  await room.decide(rejected, 'denied')
  room.coder.onTaken = null
  const stopped = await toWork(room, { title: 'Stopped by the owner' })
  await room.give(stopped, { is: 'stop-task' })
  const raised = await toWork(room, { title: 'Its budget was raised', budget: { profile: 'pilot', turnsMax: 4, messagesMax: 8, requestsMax: 1, tokensMax: 1_000_000, moneyMicroUsdMax: null, deadlineMs: 600_000 } })
  for (const callNumber of [1, 2]) {
    await room.gateway.admit({ callNumber, taskId: raised, bot: 'coder', model: 'demo', bodyBytes: 300, api: 'chat' })
    room.gateway.end({ callNumber, taskId: raised, bot: 'coder', path: 'direct', status: 200, modelAnswered: 'demo', inputTokens: 100, outputTokens: 20, latencyMs: 5, failure: null })
  }
  await room.settle()
  await room.decide(raised, 'approved')
  sayTurnEnded(room.coder.run(raised))
  await seeThrough(room, raised)
  const interrupted = await toWork(room, { title: 'Interrupted, and resent' })
  room.coder.run(interrupted).say({ is: 'tool-running', callId: 'call_open' as never, tool: 'bash', input: { command: 'sleep 1' }, output: null })
  await room.restart()
  await room.give(interrupted, { is: 'resolve-recovery', exit: 'resend' })
  sayTurnEnded(room.coder.run(interrupted))
  await seeThrough(room, interrupted)
  const late = await toWork(room, { title: 'Failed at its deadline' })
  await room.time.advance(700_000)
  await room.settle()
  if (room.state(late).status !== 'failed') throw new Error('the deadline did not pass')
  await room.create({ title: 'A brief that waits' })
  await toWork(room, { title: 'Uncertain at the end' })
  await room.restart()
}

/** Plays everything on a real file; gives its path. */
async function writeJournal(scratch: string): Promise<string> {
  const time = createFakeTime()
  const path = join(scratch, 'journal.sqlite')
  let current: SqliteJournal | null = null
  const room = await openScriptedRoom({
    time, leadAnswers: steadyLead, journal: () => {
      current?.close()
      const opened = openJournal({ path, clock: time })
      if (!opened.ok) throw new Error(opened.error.message)
      current = opened.value
      return current
    },
  })
  await play(room)
  room.life.end()
  ;(room.journal as SqliteJournal).close()
  return path
}

const { values } = parseArgs({ options: { again: { type: 'boolean', default: false } } })
const target = join(folder, `${version}.sqlite`)
if (existsSync(target) && !values.again) throw new Error(`${target} exists. --again is for a version that is not released.`)
mkdirSync(folder, { recursive: true })
const scratch = mkdtempSync(join(tmpdir(), 'fixture-'))
try {
  const path = await writeJournal(scratch)
  const opened = openJournal({ path, clock: { now: () => 0 } })
  if (!opened.ok) throw new Error(opened.error.message)
  const fold = foldOf(opened.value)
  opened.value.close()
  copyFileSync(path, target)
  writeFileSync(join(folder, `${version}.json`), `${JSON.stringify(fold, null, 1)}\n`)
  console.log(`${target}: ${String(fold.events)} events of ${String(Object.keys(fold.tasks).length)} tasks, head ${fold.headHash}`)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

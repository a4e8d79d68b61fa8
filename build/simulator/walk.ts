import assert from 'node:assert/strict'
import { hash as hashOf } from 'node:crypto'
import { DeadLife } from '../../src-main/adapters/memory/mortal.ts'
import { openScriptedRoom, type ScriptedRoom } from '../../src-main/adapters/memory/scripted-room.ts'
import { createFakeTime } from '../../src-main/adapters/memory/fake-time.ts'
import { digestOfText } from '../../src-main/core/digest.ts'
import { genesisHash, payloadText, rowText } from '../../src-main/core/journal/chain.ts'
import { isFinished, type TaskState } from '../../src-main/core/task/model.ts'
import type { Failpoint } from '../../src-main/engine/failpoints.ts'
import type { StoredEvent } from '../../src-main/engine/ports.ts'
import type { CallId, TaskId } from '../../src-preload/contract/ids.ts'
import { seeded, type Random } from '../harness/random.ts'
import { openAccount, restlessRows, type Account } from './account.ts'
import { fileDisk, memoryDisk, type Disk } from './disk.ts'
import { openLifetimes, type Lifetimes } from './lifetimes.ts'
import { endingCommand, ownerCommand } from './owner.ts'
import { noTroubles, type Troubles } from './tally.ts'
import { openWire, type Wire } from './wire.ts'
import { coderActs, fate, overWire, settleWorld, unsettle, unsteadyLead, type Ledger } from './world.ts'

/** How one seed ended, for the summary. */
export interface Walked { readonly lives: number; readonly events: number; readonly ends: readonly TaskState['status'][]; readonly troubles: Troubles }

/** `dieAt`: the app dies when it passes that failpoint for the n-th time. `files`: on a real SQLite file instead of memory. */
export interface WalkOptions { readonly dieAt?: { readonly name: Failpoint; readonly nth: number }; readonly files?: boolean }

/** One seed's app, with what is held against it. */
interface Walk { readonly room: ScriptedRoom; readonly random: Random; readonly disk: Disk; readonly wire: Wire; readonly tasks: TaskId[]; readonly account: Account; readonly lifetimes: Lifetimes; readonly ledger: Ledger; readonly troubles: Troubles; readonly trace: string[]; lives: number; names: number }

const stepsMax = 70
const traceLinesMax = 40
const calmRoundsMax = 120

/** Walks one seed: random moves of owner, bots, proxy, disk and clock, the laws checked after each; then calm, in which every task must come to its end. */
export async function walk(seed: number, { dieAt, files = false }: WalkOptions = {}): Promise<Walked> {
  const random = seeded(seed)
  const troubles = noTroubles()
  let calm = false
  const time = createFakeTime()
  const disk = files ? fileDisk(random, time) : memoryDisk()
  const wire = openWire(random, () => calm, troubles)
  const lifetimes = openLifetimes(time)
  const room = await openScriptedRoom({ time, journal: () => lifetimes.watch(disk.open()), leadAnswers: unsteadyLead(random, () => calm), blowAt: fate({ random, calm: () => calm, troubles, disk, dieAt: dieAt ?? null }), onCoder: (coder) => { overWire(coder, wire) } })
  const it: Walk = { room, random, disk, wire, tasks: [], account: openAccount(), lifetimes, ledger: new Map(), troubles, trace: [], lives: 1, names: 0 }
  try {
    for (let step = 0; step < stepsMax; step += 1) { await move(it); check(it) }
    calm = true
    wire.deliverLate()
    settleWorld(room)
    await comeToAnEnd(it)
    check(it)
    await atTheEnd(it)
  } catch (error) {
    throw new Error(`seed ${String(seed)}${files ? ' on files' : ''}${dieAt === undefined ? '' : ` dying at ${dieAt.name}@${String(dieAt.nth)}`} broke:\n${it.trace.slice(-traceLinesMax).join('\n')}`, { cause: error })
  } finally {
    disk.remove()
  }
  return { lives: it.lives, events: it.account.events, ends: it.tasks.map((taskId) => room.state(taskId).status), troubles }
}

async function revive(it: Walk): Promise<void> {
  while (!it.room.life.alive) await startAgain(it)
}

/** The next life finds what the disk has; all that was there before must be there still. */
async function startAgain(it: Walk): Promise<void> {
  it.trace.push('the app starts again')
  it.lives += 1
  it.lifetimes.restarts()
  await it.room.restart()
  // A life that ended again meanwhile knows of a commit that may be torn: only the next one can say.
  if (it.room.life.alive) read(it, it.account.reopened(it.room.journal))
}

/** One move of somebody. */
async function move(it: Walk): Promise<void> {
  const { room, random, troubles } = it
  if (random.chance(0.3)) unsettle(room, random)
  const who = random.below(22)
  if (who < 9) { it.trace.push('the coder acts'); await coderActs(room.coder, random, it.ledger, () => { it.names += 1; return String(it.names) }) }
  else if (who < 16) await ownerActs(it)
  else if (who === 16) { const ms = random.pick([0, 100, 1_000, 5_000, 30_000, 200_000]); it.trace.push(`${String(ms)} ms pass`); await room.time.advance(ms) }
  else if (who === 17 && random.chance(0.2)) { const ms = random.pick([-86_400_000, -700_000, -60_000, -1_000, 60_000, 700_000]); troubles.clockJumps += 1; it.trace.push(`the clock jumps ${String(ms)} ms`); room.time.jump(room.time.now() + ms) }
  else if (who === 18 && random.chance(0.3)) { troubles.kills += 1; it.trace.push('the app is killed'); room.life.end() }
  else if (who === 19) modelCalls(it)
  else if (who === 20) { it.trace.push('what was late arrives'); it.wire.deliverLate() }
  else if (who === 21) proxyTells(it)
  if (random.chance(0.7)) await room.settle()
  await revive(it)
}

function modelCalls(it: Walk): void {
  const { room, random, wire } = it
  if (it.tasks.length === 0) return
  const taskId = random.pick(it.tasks)
  it.names += 1
  it.troubles.calls += 1
  const callNumber = it.names
  it.trace.push('a model call')
  const { life, gateway } = room
  const admitted = async () => await gateway.admit({ callNumber, taskId, bot: random.pick(['lead', 'coder'] as const), model: 'demo', bodyBytes: random.below(10_000), api: 'chat' })
  admitted().then((admission) => {
    if (!admission.admit || !life.alive || !random.chance(0.8)) return
    wire.send(() => { gateway.end({ callNumber, taskId, bot: 'coder', path: 'direct', status: 200, modelAnswered: null, inputTokens: random.chance(0.8) ? random.below(5_000) : null, outputTokens: 10, latencyMs: 1, failure: null }) })
  }).catch((error: unknown) => { if (!(error instanceof DeadLife)) it.room.errors.push(String(error)) })
}

/** The proxy's tap sees a call's arguments grow, of a session that is known or not; or its process dies, and what it had to tell with it. */
function proxyTells(it: Walk): void {
  const { room, random, wire, troubles } = it
  if (random.chance(0.1)) { troubles.proxyDeaths += 1; it.trace.push('the proxy dies'); wire.loseLate(); return }
  if (it.tasks.length === 0) return
  troubles.previews += 1
  it.trace.push('a preview')
  const { gateway } = room
  const taskId = random.pick(it.tasks)
  const sessionId = random.chance(0.9) ? (room.engine.state(taskId)?.sessionId ?? null) : 'ses_other'
  const callId = `call_${String(random.below(12))}` as CallId
  const state = random.pick(['growing', 'growing', 'complete', 'interrupted'] as const)
  wire.send(() => { gateway.preview({ taskId, sessionId, callId, tool: 'write', argumentBytes: random.below(5_000), target: null, tail: '', tailOf: null, contentLines: null, before: null, fields: [], idUsedTwice: random.chance(0.05), state, seenAt: room.time.now() }) })
}

/** The owner clicks, at times twice, under the same id or another. */
async function ownerActs(it: Walk): Promise<void> {
  const { room, random } = it
  if (it.tasks.length < 2 && (it.tasks.length === 0 || random.chance(0.1))) {
    it.names += 1
    const commandId = `create-${String(it.names)}`
    const taskId = `task_${digestOfText(commandId).slice(7, 31)}` as TaskId
    it.trace.push(`the owner opens ${taskId}`)
    await room.tryCreate({ budget: { profile: 'pilot', turnsMax: 2 + random.below(4), messagesMax: 4 + random.below(6), requestsMax: 5, tokensMax: 200_000, moneyMicroUsdMax: null, deadlineMs: 600_000 } }, commandId)
    // The click may have died with the app after it was recorded, or torn while it was: only the next start knows.
    await revive(it)
    if (room.journal.streams().includes(taskId)) it.tasks.push(taskId)
    return
  }
  if (it.tasks.length === 0) return
  const taskId = random.pick(it.tasks)
  const state = room.engine.state(taskId)
  if (state === undefined) return
  const command = ownerCommand(state, random)
  if (command === null) return
  it.names += 1
  it.trace.push(`the owner of ${taskId.slice(5, 9)} (${state.status}, ${state.phase}): ${JSON.stringify(command).slice(0, 120)}`)
  if (command.is === 'decide-hold' && random.chance(0.9)) await room.show(taskId, command.approvalId)
  await room.give(taskId, command, `click-${String(it.names)}`)
  if (random.chance(0.1) && room.life.alive) await room.give(taskId, command, `click-${String(random.chance(0.5) ? it.names : it.names + 100_000)}`)
}

/** Holds everything new against the laws. */
function check(it: Walk): void {
  const { room } = it
  // What a life that ended since the last move knows may be torn: the next one says what is there.
  if (!room.life.alive) return
  read(it, it.account.take(room.journal))
  assert.deepEqual(room.store.doubled, [], 'a turn was dispatched twice')
  for (const taskId of it.tasks) assert.ok(room.coder.runs.filter((run) => run.spec.taskId === taskId && !run.stopped).length <= 1, 'two processes of one task')
  grantsAccount(it)
}

function read(it: Walk, fresh: readonly StoredEvent[]): void {
  for (const stored of fresh) {
    it.lifetimes.hold(stored)
    if (stored.type === 'recovery-needed') it.troubles.uncertain += 1
    it.trace.push(`    ${stored.stream.slice(5, 9)} ${stored.type} ${['turn-intended', 'turn-submitted', 'turn-ended'].includes(stored.type) ? (stored.payload as { turnId: string }).turnId : ''}`)
  }
}

/** No command ran that neither the task's grant nor an approval of these exact bytes let run, no approval let it run twice, and a standing grant not more often than it is on record. */
function grantsAccount(it: Walk): void {
  for (const [taskId, ran] of it.ledger) {
    const state = it.account.book(taskId)?.state
    for (const text of new Set(ran)) {
      if (text === state?.brief?.brief.testCommand) continue
      const approved = [...(state?.holds.values() ?? [])].filter(({ hold, outcome }) => outcome === 'approved' && hold.kind === 'command' && hold.exact.text === text).length
      const standing = [...(state?.grants.values() ?? [])].reduce((sum, { grant, uses }) => sum + (grant.scope.tool === 'bash' && grant.scope.text === text ? uses : 0), 0)
      assert.ok(ran.filter((one) => one === text).length <= approved + standing, `"${text}" ran more often than it was approved`)
    }
  }
}

/** Nothing fails any more, and the owner wants an end: every task must reach one. */
async function comeToAnEnd(it: Walk): Promise<void> {
  const { room } = it
  await revive(it)
  for (let round = 0; round < calmRoundsMax; round += 1) {
    await room.settle()
    await revive(it)
    const open = it.tasks.map((taskId) => room.state(taskId)).filter((state) => !isFinished(state.status) || !state.workspaceDisposed)
    if (open.length === 0) return
    for (const state of open) { await wantsAnEnd(it, state, round); await revive(it) }
    await room.time.advance(1_000)
  }
  throw new Error(`no end: ${it.tasks.map((taskId) => { const state = room.state(taskId); return `${state.status}, ${state.phase}, ${state.recovery?.what ?? ''}, effects ${JSON.stringify(room.journal.openEffects().map((effect) => [effect.kind, effect.state]))}` }).join(' | ')}`)
}

async function wantsAnEnd(it: Walk, state: TaskState, round: number): Promise<void> {
  const { room } = it
  const { taskId } = state
  const command = isFinished(state.status) ? null : endingCommand(state, round)
  const run = room.coder.runs.findLast((each) => each.spec.taskId === taskId && !each.stopped)
  it.names += 1
  if (isFinished(state.status)) { if (round % 10 === 9) await startAgain(it) } // A clean-up that failed is tried at the next start.
  else if (command?.is === 'decide-hold') await room.decide(taskId, command.verdict, command.approvalId)
  else if (command !== null) await room.give(taskId, command, `click-${String(it.names)}`)
  else if (run !== undefined && state.phase === 'coding') sayTurnEndedOf(it, run)
  else if (round > 100) await room.give(taskId, { is: 'stop-task' }, `click-${String(it.names)}`)
}

function sayTurnEndedOf(it: Walk, run: ScriptedRoom['coder']['runs'][number]): void {
  const messageId = run.submitted.at(-1)?.messageId
  if (messageId === undefined) return
  const prompt = it.room.store.prompts.get(messageId)
  if (prompt !== undefined) prompt.state = 'completed'
  it.names += 1
  run.say({ is: 'turn-ended', messageId, outcome: 'completed', finish: 'stop', text: 'done', error: null, errorCode: null }, `calm-${String(it.names)}`)
}

/** What must hold when everything is over: the chain, no open effect, no row that runs, and a window that takes every row. */
async function atTheEnd(it: Walk): Promise<void> {
  const { room } = it
  await it.disk.verify()
  verifyChain(it)
  assert.deepEqual(room.journal.openEffects().map((effect) => effect.kind), [], 'an effect is open for ever')
  for (const taskId of it.tasks) {
    assert.deepEqual(room.state(taskId), it.account.book(taskId)?.state, 'the app and its journal disagree')
    assert.deepEqual(restlessRows(room.engine.room.snapshot(taskId).put), [])
  }
  const asked = it.tasks.reduce((sum, taskId) => sum + timesToApply([...room.journal.read(taskId)]), 0)
  assert.ok(room.workspace.applied.length <= asked, 'applied more often than the owner had it applied')
}

/** How often the owner had a result applied: by accepting it, and by the exit that applies it again where the folder told nothing. */
function timesToApply(events: readonly StoredEvent[]): number {
  let applying = false
  let times = 0
  for (const { type, payload } of events) {
    if (type === 'apply-intended') applying = true
    else if (type === 'accepted' || type === 'apply-refused') applying = false
    if (type === 'apply-intended' || (applying && type === 'recovery-resolved' && (payload as { readonly exit: string }).exit === 'resend')) times += 1
  }
  return times
}

function verifyChain(it: Walk): void {
  let prev: string = genesisHash
  const all = it.room.journal.streams().flatMap((stream) => [...it.room.journal.read(stream)]).sort((a, b) => a.seq - b.seq)
  for (const { hash, payload, ...row } of all) {
    assert.equal(`sha256:${hashOf('sha256', rowText({ ...row, payload: payloadText(payload, (text) => text) }, prev), 'hex')}`, hash, 'the chain is broken')
    prev = hash
  }
}

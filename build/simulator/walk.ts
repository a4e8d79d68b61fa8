import assert from 'node:assert/strict'
import { createMemoryJournal } from '../../src-main/adapters/memory/memory-journal.ts'
import { DeadLife } from '../../src-main/adapters/memory/mortal.ts'
import { openScriptedRoom, type ScriptedRoom } from '../../src-main/adapters/memory/scripted-room.ts'
import { digestOfText } from '../../src-main/core/digest.ts'
import { genesisHash, payloadText, rowText } from '../../src-main/core/journal/chain.ts'
import type { TaskEvent } from '../../src-main/core/task/events.ts'
import { openLawBook, type LawBook } from '../../src-main/core/task/laws.ts'
import { isFinished, openQuestions, waitingHolds, type TaskState } from '../../src-main/core/task/model.ts'
import { rowSchema } from '../../src-preload/contract/rows.ts'
import type { TaskId } from '../../src-preload/contract/ids.ts'
import { seeded, type Random } from '../harness/random.ts'
import { coderActs, fate, settleWorld, unsettle, unsteadyLead, type Ledger } from './world.ts'

/** How one seed ended, for the summary. */
export interface Walked { readonly lives: number; readonly events: number; readonly ends: readonly TaskState['status'][]; readonly uncertain: number }

/** One seed's app, with what is held against it. */
interface Walk { readonly room: ScriptedRoom; readonly random: Random; readonly journal: ReturnType<typeof createMemoryJournal>; readonly tasks: TaskId[]; readonly books: Map<string, LawBook>; readonly ledger: Ledger; readonly trace: string[]; read: number; lives: number; names: number }

const stepsMax = 70
const traceLinesMax = 40
const calmRoundsMax = 120

/** Walks one seed: random moves of owner, bots, disk and clock, the laws checked after each; then calm, in which every task must come to its end. */
export async function walk(seed: number): Promise<Walked> {
  const random = seeded(seed)
  const journal = createMemoryJournal()
  let calm = false
  const room = await openScriptedRoom({ journal: () => journal, leadAnswers: unsteadyLead(random, () => calm), blowAt: fate(random, () => calm) })
  const it: Walk = { room, random, journal, tasks: [], books: new Map(), ledger: new Map(), trace: [], read: 0, lives: 1, names: 0 }
  try {
    for (let step = 0; step < stepsMax; step += 1) { await move(it); await check(it) }
    calm = true
    settleWorld(room)
    await comeToAnEnd(it)
    await check(it)
    atTheEnd(it)
  } catch (error) {
    throw new Error(`seed ${String(seed)} broke:\n${it.trace.slice(-traceLinesMax).join('\n')}`, { cause: error })
  }
  const states = it.tasks.map((taskId) => room.state(taskId))
  return { lives: it.lives, events: it.read, ends: states.map((state) => state.status), uncertain: journal.all().filter((stored) => stored.type === 'recovery-needed').length }
}

async function revive(it: Walk): Promise<void> {
  while (!it.room.life.alive) { it.trace.push('the app starts again'); it.lives += 1; await it.room.restart() }
}

/** One move of somebody. */
async function move(it: Walk): Promise<void> {
  const { room, random } = it
  if (random.chance(0.3)) unsettle(room, random)
  const who = random.below(20)
  if (who < 9) { it.trace.push('the coder acts'); await coderActs(room.coder, random, it.ledger, () => { it.names += 1; return String(it.names) }) }
  else if (who < 16) await ownerActs(it)
  else if (who === 16) { const ms = random.pick([0, 100, 1_000, 5_000, 30_000]); it.trace.push(`${String(ms)} ms pass`); await room.time.advance(ms) }
  else if (who === 17 && random.chance(0.2)) { const ms = random.pick([-60_000, -1_000, 60_000, 700_000]); it.trace.push(`the clock jumps ${String(ms)} ms`); room.time.jump(room.time.now() + ms) }
  else if (who === 18 && random.chance(0.3)) { it.trace.push('the app is killed'); room.life.end() }
  else if (who === 19) modelCalls(it)
  if (random.chance(0.7)) await room.settle()
  await revive(it)
}

function modelCalls(it: Walk): void {
  const { room, random } = it
  if (it.tasks.length === 0) return
  const taskId = random.pick(it.tasks)
  it.names += 1
  const callNumber = it.names
  it.trace.push('a model call')
  const { life, gateway } = room
  const admitted = async () => await gateway.admit({ callNumber, taskId, bot: random.pick(['lead', 'coder'] as const), model: 'demo', bodyBytes: random.below(10_000), api: 'chat' })
  admitted().then((admission) => {
    if (admission.admit && life.alive && random.chance(0.8)) gateway.end({ callNumber, taskId, bot: 'coder', path: 'direct', status: 200, modelAnswered: null, inputTokens: random.chance(0.8) ? random.below(5_000) : null, outputTokens: 10, latencyMs: 1, failure: null })
  }).catch((error: unknown) => { if (!(error instanceof DeadLife)) it.room.errors.push(String(error)) })
}

/** The owner: mostly sensible, at times doubled, forged or contrary. */
async function ownerActs(it: Walk): Promise<void> {
  const { room, random } = it
  if (it.tasks.length < 2 && (it.tasks.length === 0 || random.chance(0.1))) {
    it.names += 1
    const commandId = `create-${String(it.names)}`
    const taskId = `task_${digestOfText(commandId).slice(7, 31)}` as TaskId
    it.trace.push(`the owner opens ${taskId}`)
    await room.tryCreate({ budget: { profile: 'pilot', turnsMax: 2 + random.below(4), messagesMax: 4 + random.below(6), requestsMax: 5, tokensMax: 200_000, moneyMicroUsdMax: null, deadlineMs: 600_000 } }, commandId)
    if (it.journal.streams().includes(taskId)) it.tasks.push(taskId)
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

type OwnerCommand = Parameters<ScriptedRoom['give']>[1]
function ownerCommand(state: TaskState, random: Random): OwnerCommand | null {
  const holds = random.chance(0.9) ? waitingHolds(state) : [...state.holds.values()]
  const questions = openQuestions(state)
  const dice = random.below(30)
  if (dice === 0) return { is: 'stop-task' }
  if (dice === 1) return { is: 'write-brief', brief: { goal: 'mine', scope: '', criteria: [], testCommand: 'bun test', excerpts: [] } }
  if (dice === 2) return { is: 'resolve-recovery', exit: random.pick(['re-check', 'mark-done', 'mark-not-done', 'resend'] as const) }
  if (state.recovery !== null && dice < 12) return { is: 'resolve-recovery', exit: random.pick(['re-check', 're-check', 'mark-done', 'mark-not-done', 'resend', 'resend'] as const) }
  if (questions.length > 0 && dice < 15) {
    const question = random.pick(questions)
    return question.purpose === 'brief' ? { is: 'write-brief', brief: { goal: 'mine', scope: '', criteria: [], testCommand: 'bun test', excerpts: [] } } : { is: 'answer-question', questionId: question.questionId, text: 'the second' }
  }
  if (holds.length === 0) return null
  const { hold } = random.pick(holds)
  return { is: 'decide-hold', approvalId: hold.approvalId, digest: random.chance(0.97) ? hold.digest : digestOfText('forged'), verdict: random.chance(0.88) ? 'approved' : 'denied', reason: null }
}

/** Holds everything new against the laws. */
async function check(it: Walk): Promise<void> {
  const { room, journal } = it
  const fresh = journal.all(it.read)
  for (const stored of fresh) {
    const book = it.books.get(stored.stream) ?? openLawBook()
    it.books.set(stored.stream, book)
    const broken = book.next({ payload: stored.payload as TaskEvent, at: stored.at, seq: stored.seq })
    assert.deepEqual(broken, [], `a law is broken in ${stored.stream}`)
    if (stored.type === 'hold-settled' && (stored.payload as { outcome: string }).outcome === 'approved') assert.equal(stored.actor, 'owner', 'somebody else approved')
    it.trace.push(`    ${stored.stream.slice(5, 9)} ${stored.type} ${['turn-intended', 'turn-submitted', 'turn-ended'].includes(stored.type) ? (stored.payload as { turnId: string }).turnId : ''}`)
  }
  it.read += fresh.length
  assert.deepEqual(room.store.doubled, [], 'a turn was dispatched twice')
  for (const taskId of it.tasks) assert.ok(room.coder.runs.filter((run) => run.spec.taskId === taskId && !run.stopped).length <= 1, 'two processes of one task')
  grantsAccount(it)
  await Promise.resolve()
}

/** No command ran that neither the task's grant nor an approval of these exact bytes let run, and no approval let it run twice. */
function grantsAccount(it: Walk): void {
  for (const [taskId, ran] of it.ledger) {
    const state = it.books.get(taskId)?.state
    for (const text of new Set(ran)) {
      if (text === state?.brief?.brief.testCommand) continue
      const approved = [...(state?.holds.values() ?? [])].filter(({ hold, outcome }) => outcome === 'approved' && hold.kind === 'command' && hold.exact.text === text).length
      assert.ok(ran.filter((one) => one === text).length <= approved, `"${text}" ran more often than it was approved`)
    }
  }
}

/** Nothing fails any more, and the owner wants an end: every task must reach one. */
async function comeToAnEnd(it: Walk): Promise<void> {
  const { room } = it
  await revive(it)
  for (let round = 0; round < calmRoundsMax; round += 1) {
    await room.settle()
    const open = it.tasks.map((taskId) => room.state(taskId)).filter((state) => !isFinished(state.status) || !state.workspaceDisposed)
    if (open.length === 0) return
    for (const state of open) await wantsAnEnd(it, state, round)
    await room.time.advance(1_000)
  }
  throw new Error(`no end: ${it.tasks.map((taskId) => { const state = room.state(taskId); return `${state.status}, ${state.phase}, ${state.recovery?.what ?? ''}, effects ${JSON.stringify(room.journal.openEffects().map((effect) => [effect.kind, effect.state]))}` }).join(' | ')}`)
}

async function wantsAnEnd(it: Walk, state: TaskState, round: number): Promise<void> {
  const { room } = it
  const { taskId } = state
  const hold = waitingHolds(state)[0]?.hold
  const question = openQuestions(state).find((open) => open.state === 'asked-owner')
  const run = room.coder.runs.findLast((each) => each.spec.taskId === taskId && !each.stopped)
  it.names += 1
  const give = (command: OwnerCommand) => room.give(taskId, command, `click-${String(it.names)}`)
  if (isFinished(state.status)) { if (round % 10 === 9) { it.lives += 1; await room.restart() } } // A clean-up that failed is tried at the next start.
  else if (state.cancel !== null) await give({ is: 'stop-task' })
  else if (state.recovery !== null) await give({ is: 'resolve-recovery', exit: (['re-check', 'resend', 'mark-not-done'] as const)[round % 3] ?? 're-check' })
  else if (hold !== undefined) await room.decide(taskId, hold.kind === 'acceptance' && !state.verified ? 'denied' : 'approved', hold.approvalId)
  else if (question !== undefined) await give(question.purpose === 'brief' ? { is: 'write-brief', brief: { goal: 'mine', scope: '', criteria: [], testCommand: 'bun test', excerpts: [] } } : { is: 'answer-question', questionId: question.questionId, text: 'the second' })
  else if (run !== undefined && state.phase === 'coding') sayTurnEndedOf(it, run)
  else if (round > 100) await give({ is: 'stop-task' })
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
function atTheEnd(it: Walk): void {
  const { room, journal } = it
  let prev: string = genesisHash
  for (const { hash, payload, ...row } of journal.all()) {
    assert.equal(digestOfText(rowText({ ...row, payload: payloadText(payload, (text) => text) }, prev)), hash, 'the chain is broken')
    prev = hash
  }
  assert.deepEqual(room.journal.openEffects().map((effect) => effect.kind), [], 'an effect is open for ever')
  for (const taskId of it.tasks) {
    assert.deepEqual(room.state(taskId), it.books.get(taskId)?.state, 'the app and its journal disagree')
    for (const row of room.engine.room.snapshot(taskId).put) {
      assert.ok(rowSchema.safeParse(row).success, `a row that the window refuses: ${JSON.stringify(row).slice(0, 200)}`)
      if (row.kind === 'entry' && row.taskId === taskId && row.body.is === 'message') assert.ok(!row.body.streaming, `words that stream for ever: ${row.key}`)
      if (row.kind === 'entry' && row.taskId === taskId && row.body.is === 'tool') assert.ok(!['preview', 'running', 'awaiting-approval'].includes(row.body.state), `a row that never ends: ${row.key} ${row.body.state}`)
    }
  }
  assert.ok(room.workspace.applied.length <= it.tasks.filter((taskId) => room.state(taskId).status === 'accepted').length + 1, 'applied more often than accepted')
}


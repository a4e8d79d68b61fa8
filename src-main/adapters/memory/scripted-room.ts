import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import type { ApprovalId, CommandId, TaskId } from '../../../src-preload/contract/ids.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import type { NewTask } from '../../../src-preload/contract/methods.ts'
import type { Result } from '../../../src-preload/contract/result.ts'
import { waitingHolds, type TaskState } from '../../core/task/model.ts'
import { Engine } from '../../engine/engine.ts'
import type { Failpoint } from '../../engine/failpoints.ts'
import type { Coder, Journal, Lead, ModelDirectory, RoomCarrier } from '../../engine/ports.ts'
import { createRoomTransport } from '../../engine/room-transport.ts'
import { createFakeIds, createFakeTime, settled, type FakeTime } from './fake-time.ts'
import { createMemoryJournal } from './memory-journal.ts'
import { createLife, mortalJournal, mortalTimers, mortalWorkspace, type Blow, type Life } from './mortal.ts'
import { createRuntimeStore, createScriptedCoder, type RuntimeStore, type ScriptedCoder } from './scripted-coder.ts'
import {
  createScriptedDirectory, createScriptedGateway, createScriptedLead, createScriptedNotifier, createScriptedSandbox, createScriptedWorkspace,
  type ScriptedGateway, type ScriptedLead, type ScriptedSandbox, type ScriptedWorkspace,
} from './scripted-world.ts'

/** What a click gets whose life ended before it could be answered; its effect may be on record. */
const diedMeanwhile = failure('unavailable', 'The app ended.', 'Start it again.')

const demo = { providerId: 'demo', modelId: 'demo' }

/** A task as New task would send it, with what a test wants different. */
export function newTask(commandId: string, change: Partial<NewTask> = {}): NewTask {
  return {
    commandId: commandId as CommandId, title: 'A task', requirement: 'Make it work', criteria: ['it works'], testCommand: null, source: { kind: 'sample' }, models: { lead: demo, coder: demo },
    budget: { profile: 'pilot', turnsMax: 4, messagesMax: 8, requestsMax: 20, tokensMax: 1_000_000, moneyMicroUsdMax: null, deadlineMs: 600_000 },
    grant: { edits: 'allow', testCommand: 'allow', otherCommands: 'ask' }, revisionOf: null, ...change,
  }
}

/** What a scripted lead says, as the JSON that is asked of it. */
export const leadSays = {
  brief: JSON.stringify({ goal: 'Do it', scope: '', criteria: ['it works'], testCommand: 'bun test', excerptIds: ['src/a.ts'] }),
  answer: (answer: string | null): string => JSON.stringify({ answer, why: 'criteria' }),
  review: JSON.stringify({ text: 'Looks right.', recommendation: 'accept' }),
}

/** A lead that says the right thing for its purpose, as often as it is asked. */
export function steadyLead({ system }: { readonly system: string }): string {
  const purpose = /Purpose: (brief|answer|review)/.exec(system)?.[1]
  return purpose === 'brief' ? leadSays.brief : purpose === 'answer' ? leadSays.answer('the better price') : leadSays.review
}

export interface RoomOptions {
  readonly leadAnswers?: readonly string[] | ((asked: { readonly system: string; readonly user: string }) => string)
  readonly directory?: ModelDirectory
  /** Opens what a start finds; called again at each restart. Default: one journal in memory that outlives every life. */
  readonly journal?: () => Journal
  readonly time?: FakeTime
  /** Stand in for the scripted coder and lead: bots that live in another home. */
  readonly remoteCoder?: () => Coder
  /** What carries the envelopes of a life; default: the product's. */
  readonly transport?: () => RoomCarrier
  readonly remoteLead?: () => Lead
  /** Gets each life's coder before anything else does: to script it. */
  readonly onCoder?: (coder: ScriptedCoder) => void
  /** Where lives end and disks refuse; asked at each failpoint of each life. */
  readonly blowAt?: (point: Failpoint, passed: number, life: number) => Blow
}

/** A whole app in one thread: the real engine and core over a journal, with scripted bots, sandbox and folders. Restartable. */
export interface ScriptedRoom {
  readonly time: FakeTime
  readonly workspace: ScriptedWorkspace
  readonly sandbox: ScriptedSandbox
  readonly lead: ScriptedLead
  readonly notifier: { waiting: number }
  readonly store: RuntimeStore
  /** What the engine logged as errors, over all lives. */
  readonly errors: string[]
  /** What counts in the current life. */
  readonly engine: Engine
  readonly coder: ScriptedCoder
  readonly gateway: ScriptedGateway
  readonly journal: Journal
  readonly life: Life
  /** The coders of all lives, oldest first. */
  readonly coders: readonly ScriptedCoder[]
  settle(): Promise<void>
  /** New task, clicked; then everything that follows at once. */
  tryCreate(change?: Partial<NewTask>, commandId?: string): Promise<Result<{ readonly taskId: TaskId }, Failure>>
  /** A task that must be taken. */
  create(change?: Partial<NewTask>): Promise<TaskId>
  state(taskId: TaskId): TaskState
  give(taskId: TaskId, command: Parameters<Engine['command']>[2], commandId?: string): Promise<Result<{ readonly recorded: true }, Failure>>
  /** Puts a waiting hold on screen, and lets the time pass that a person needs at least. */
  show(taskId: TaskId, approvalId: ApprovalId): Promise<void>
  /** Shows a hold, the first that waits or the one named, and decides it. */
  decide(taskId: TaskId, verdict: 'approved' | 'denied', approvalId?: ApprovalId): Promise<Result<{ readonly recorded: true }, Failure>>
  /** Ends this life without a word (when it has not ended by itself), and starts the app again on the same journal. */
  restart(): Promise<void>
  /** Quits as the owner does, and starts the app again. */
  quitAndStart(): Promise<void>
}

/** What outlives every life of the app: time, journal, folders, the runtime's sessions. */
function makeGround(options: RoomOptions) {
  const time = options.time ?? createFakeTime()
  const memory = createMemoryJournal()
  return {
    time, ids: createFakeIds(), openJournal: options.journal ?? (() => memory), workspace: createScriptedWorkspace(), sandbox: createScriptedSandbox(time), lead: createScriptedLead(typeof options.leadAnswers === 'function' ? options.leadAnswers : [...(options.leadAnswers ?? [])]),
    notifier: createScriptedNotifier(), store: createRuntimeStore(), errors: [] as string[], coders: [] as ScriptedCoder[], directory: options.directory ?? createScriptedDirectory(), onCoder: options.onCoder ?? (() => undefined), transport: options.transport ?? createRoomTransport, remoteCoder: options.remoteCoder, remoteLead: options.remoteLead,
  }
}
type Ground = ReturnType<typeof makeGround>
type Current = Pick<ScriptedRoom, 'engine' | 'coder' | 'gateway' | 'journal' | 'life'>

/** One life: an engine with a coder and gateway of its own. `start` folds the journal; it may end the life. */
function makeLife(ground: Ground, blowAt: (point: Failpoint, passed: number) => Blow): Current & { start(): Promise<void> } {
  const { time, ids, workspace, sandbox, lead, notifier, directory } = ground
  const life = createLife(blowAt)
  const coder = createScriptedCoder(time, ground.store)
  ground.onCoder(coder)
  const gateway = createScriptedGateway()
  const journal = ground.openJournal()
  ground.coders.push(coder)
  const engine = new Engine({
    clock: time, monotonicMs: () => time.waitedMs(), ids, timers: mortalTimers(time, life), journal: mortalJournal(journal, life), sandbox, coder: ground.remoteCoder?.() ?? coder, gateway, transport: ground.transport(), directory, lead: ground.remoteLead?.() ?? lead, workspace: mortalWorkspace(workspace, life), notifier,
    failpoint: (name) => life.pass(name),
    versions: () => ({ app: '0', electron: '0', sqlite: '0', openCode: null }), scriptedOwner: false,
    log: (level, msg, fields) => { if (level === 'error' && life.alive) ground.errors.push(`${msg} ${JSON.stringify(fields)}`) },
  })
  const start = async (): Promise<void> => {
    try {
      await engine.start()
      await engine.look()
    } catch (error) {
      if (life.alive) throw error
    }
  }
  return { engine, coder, gateway, journal, life, start }
}

/** Settled is what stays quiet for some turns of the loop; a world that never does is left to its next move. */
const quietRounds = 3
const roundsMax = 12

async function settleWorld(time: FakeTime): Promise<void> {
  for (let round = 0, quiet = 0; round < roundsMax && quiet < quietRounds; round += 1) {
    await settled()
    quiet = time.due() ? 0 : quiet + 1
    if (quiet === 0) await time.advance(0)
  }
}

/** Opens the room and starts the app in it. Deterministic: the same options and calls give the same journal. */
export async function openScriptedRoom(options: RoomOptions = {}): Promise<ScriptedRoom> {
  const ground = makeGround(options)
  let lives = 0
  let clicks = 0
  const boot = async (): Promise<void> => {
    lives += 1
    const index = lives
    const next = makeLife(ground, (point, passed) => options.blowAt?.(point, passed, index) ?? null)
    current = next
    await next.start()
  }
  let current: Current
  await boot()
  const settle = (): Promise<void> => settleWorld(ground.time)
  const click = (): CommandId => { clicks += 1; return `click-${String(clicks)}` as CommandId }
  /** A click of which the end of the app may leave no answer. */
  const clicked = async <T>(act: (engine: Engine) => Result<T, Failure> | Promise<Result<T, Failure>>): Promise<Result<T, Failure>> => {
    const { life, engine } = current
    try {
      return await act(engine)
    } catch (error) {
      if (life.alive) throw error
      return { ok: false, error: diedMeanwhile }
    } finally {
      await settle()
    }
  }
  const room: ScriptedRoom = {
    ...ground, settle,
    get engine() { return current.engine }, get coder() { return current.coder }, get gateway() { return current.gateway }, get journal() { return current.journal }, get life() { return current.life },
    tryCreate: (change, commandId) => clicked((engine) => engine.createTask(newTask(commandId ?? click(), change))),
    create: async (change) => {
      const created = await room.tryCreate(change)
      if (!created.ok) throw new Error(created.error.message)
      return created.value.taskId
    },
    state: (taskId) => {
      const state = current.engine.state(taskId)
      if (state === undefined) throw new Error(`no task ${taskId}`)
      return state
    },
    give: (taskId, command, commandId) => clicked((engine) => engine.command(taskId, (commandId ?? click()) as CommandId, command)),
    show: async (taskId, approvalId) => {
      const before = room.state(taskId).holds.get(approvalId)
      if (before?.outcome !== 'waiting') return
      if (before.shownAt === null) await room.give(taskId, { is: 'hold-shown', approvalId, digest: before.hold.digest }, `shown:${approvalId}`)
      const shownAt = current.life.alive ? room.state(taskId).holds.get(approvalId)?.shownAt : null
      if (typeof shownAt === 'number') await ground.time.advance(before.shownAt === null ? limits.humanDecisionMs : Math.min(limits.humanDecisionMs, Math.max(0, shownAt + limits.humanDecisionMs - ground.time.now())))
    },
    decide: async (taskId, verdict, approvalId) => {
      const record = approvalId === undefined ? waitingHolds(room.state(taskId))[0] : room.state(taskId).holds.get(approvalId)
      if (record === undefined) throw new Error('no hold waits')
      await room.show(taskId, record.hold.approvalId)
      return await room.give(taskId, { is: 'decide-hold', approvalId: record.hold.approvalId, digest: record.hold.digest, verdict, reason: null })
    },
    restart: async () => { current.life.end(); await boot(); await settle() },
    quitAndStart: async () => { await current.engine.close(); current.life.end(); await boot(); await settle() },
  }
  return room
}

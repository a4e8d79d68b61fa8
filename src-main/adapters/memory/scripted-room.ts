import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import type { ApprovalId, CommandId, TaskId } from '../../../src-preload/contract/ids.ts'
import type { NewTask } from '../../../src-preload/contract/methods.ts'
import type { Result } from '../../../src-preload/contract/result.ts'
import { waitingHolds, type TaskState } from '../../core/task/model.ts'
import { Engine } from '../../engine/engine.ts'
import type { Journal, ModelDirectory } from '../../engine/ports.ts'
import { createFakeIds, createFakeTime, settled, type FakeTime } from './fake-time.ts'
import { createMemoryJournal } from './memory-journal.ts'
import { createLife, mortalJournal, mortalTimers, type CrashPoint, type Life } from './mortal.ts'
import { createScriptedCoder, type ScriptedCoder } from './scripted-coder.ts'
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

export interface RoomOptions {
  readonly leadAnswers?: readonly string[]
  readonly directory?: ModelDirectory
  /** Opens what a start finds; called again at each restart. Default: one journal in memory that outlives every life. */
  readonly journal?: () => Journal
  readonly time?: FakeTime
  /** Where lives end; asked at each crash point of each life. */
  readonly crashAt?: (point: CrashPoint, passed: number, life: number) => boolean
}

/** A whole app in one thread: the real engine and core over a journal, with scripted bots, sandbox and folders. Restartable. */
export interface ScriptedRoom {
  readonly time: FakeTime
  readonly workspace: ScriptedWorkspace
  readonly sandbox: ScriptedSandbox
  readonly lead: ScriptedLead
  readonly notifier: { waiting: number }
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
  /** A task and its state after everything that follows at once. */
  create(change?: Partial<NewTask>): Promise<TaskId>
  state(taskId: TaskId): TaskState
  give(taskId: TaskId, command: Parameters<Engine['command']>[2], commandId?: string): Promise<Result<{ readonly recorded: true }, Failure>>
  /** Decides a hold: the first that waits, or the one named. */
  decide(taskId: TaskId, verdict: 'approved' | 'denied', approvalId?: ApprovalId): Promise<Result<{ readonly recorded: true }, Failure>>
  /** Ends this life without a word (when it has not ended by itself), and starts the app again on the same journal. */
  restart(): Promise<void>
  /** Quits as the owner does, and starts the app again. */
  quitAndStart(): Promise<void>
}

/** Opens the room and starts the app in it. Deterministic: the same options and calls give the same journal. */
export async function openScriptedRoom(options: RoomOptions = {}): Promise<ScriptedRoom> {
  const time = options.time ?? createFakeTime()
  const ids = createFakeIds()
  const memory = createMemoryJournal()
  const openJournal = options.journal ?? (() => memory)
  const workspace = createScriptedWorkspace()
  const sandbox = createScriptedSandbox(time)
  const lead = createScriptedLead([...(options.leadAnswers ?? [])])
  const notifier = createScriptedNotifier()
  const sessions = new Map<string, string>()
  const errors: string[] = []
  const coders: ScriptedCoder[] = []
  const messages = { minted: 0 }
  let lives = 0
  let clicks = 0
  const boot = async () => {
    lives += 1
    const index = lives
    const life = createLife((point, passed) => options.crashAt?.(point, passed, index) ?? false)
    const coder = createScriptedCoder(time, sessions, messages)
    const gateway = createScriptedGateway()
    const journal = openJournal()
    coders.push(coder)
    const engine = new Engine({
      clock: time, ids, timers: mortalTimers(time, life), journal: mortalJournal(journal, life), sandbox, coder, gateway, directory: options.directory ?? createScriptedDirectory(), lead, workspace, notifier,
      versions: () => ({ app: '0', electron: '0', sqlite: '0', openCode: null }), scriptedOwner: false,
      log: (level, msg, fields) => { if (level === 'error' && life.alive) errors.push(`${msg} ${JSON.stringify(fields)}`) },
    })
    current = { engine, coder, gateway, journal, life }
    try {
      await engine.start()
    } catch (error) {
      if (life.alive) throw error
    }
  }
  let current: Pick<ScriptedRoom, 'engine' | 'coder' | 'gateway' | 'journal' | 'life'>
  await boot()
  const settle = async (): Promise<void> => { for (let round = 0; round < 12; round += 1) { await settled(); await time.advance(0) } }
  const click = (): CommandId => { clicks += 1; return `click-${String(clicks)}` as CommandId }
  const room: ScriptedRoom = {
    time, workspace, sandbox, lead, notifier, errors, coders,
    get engine() { return current.engine }, get coder() { return current.coder }, get gateway() { return current.gateway }, get journal() { return current.journal }, get life() { return current.life },
    settle,
    create: async (change) => {
      const created = await current.engine.createTask(newTask(click(), change))
      if (!created.ok) throw new Error(created.error.message)
      await settle()
      return created.value.taskId
    },
    state: (taskId) => {
      const state = current.engine.state(taskId)
      if (state === undefined) throw new Error(`no task ${taskId}`)
      return state
    },
    give: async (taskId, command, commandId) => {
      const { life, engine } = current
      try {
        return engine.command(taskId, (commandId ?? click()) as CommandId, command)
      } catch (error) {
        if (life.alive) throw error
        return { ok: false, error: diedMeanwhile }
      } finally {
        await settle()
      }
    },
    decide: async (taskId, verdict, approvalId) => {
      const record = approvalId === undefined ? waitingHolds(room.state(taskId))[0] : room.state(taskId).holds.get(approvalId)
      if (record === undefined) throw new Error('no hold waits')
      return await room.give(taskId, { is: 'decide-hold', approvalId: record.hold.approvalId, digest: record.hold.digest, verdict, reason: null })
    },
    restart: async () => { (current.life).end(); await boot(); await settle() },
    quitAndStart: async () => { await current.engine.close(); current.life.end(); await boot(); await settle() },
  }
  return room
}

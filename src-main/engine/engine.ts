import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import type { ApprovalId, CommandId, Digest, TaskId } from '../../src-preload/contract/ids.ts'
import { limits } from '../../src-preload/contract/limits.ts'
import type { NewTask } from '../../src-preload/contract/methods.ts'
import { err, ok, type Result } from '../../src-preload/contract/result.ts'
import type { IsolationReport } from '../../src-preload/contract/task.ts'
import { digestOfText } from '../core/digest.ts'
import type { OwnerCommand } from '../core/task/commands.ts'
import type { RunVersions, TargetFacts } from '../core/task/events.ts'
import { isFinished, type TaskState } from '../core/task/model.ts'
import { Admissions } from './admission.ts'
import { CallWaitsDesk } from './call-waits.ts'
import { newTaskDigest } from './content-digest.ts'
import { Dispatcher, otherContent } from './dispatch.ts'
import { EarlierResults } from './earlier-results.ts'
import { coderEffects } from './effects/coder.ts'
import { leadEffects } from './effects/lead.ts'
import { hostOf } from './effects/models.ts'
import type { Failing } from './failpoints.ts'
import { workspaceEffects } from './effects/workspace.ts'
import { Ingest } from './ingest.ts'
import { knownVersion } from './known-version.ts'
import { Lanes, type Step } from './lanes.ts'
import { Outbox } from './outbox.ts'
import type { Clock, Coder, Ids, Journal, Lead, ModelDirectory, ModelGateway, ModelTarget, Notifier, RoomCarrier, Sandbox, Timers, Workspace } from './ports.ts'
import { Previews } from './previews.ts'
import { recover } from './recovery.ts'
import { Room } from './room.ts'
import { RoomPost } from './room-post.ts'
import { refuseAll, Runs } from './runs.ts'
import { createSteadyClock, type SteadyClock } from './steady-clock.ts'
import { Watch } from './watch.ts'
import { WriteWaits } from './write-waits.ts'

export interface EngineDeps extends Failing {
  readonly clock: Clock; /** Milliseconds of waking time since some moment of this life; never set back. */ readonly monotonicMs: () => number; readonly ids: Ids; readonly timers: Timers; readonly journal: Journal; readonly sandbox: Sandbox; readonly coder: Coder; readonly gateway: ModelGateway; readonly transport: RoomCarrier; readonly directory: ModelDirectory; readonly lead: Lead; readonly workspace: Workspace; readonly notifier: Notifier
  readonly versions: () => RunVersions
  /** True when a script, not a person, drives the window: nothing it does counts as human acceptance. */
  readonly scriptedOwner: boolean
  readonly log: (level: 'info' | 'error', msg: string, fields: Record<string, unknown>) => void
  /** Awaited between the tasks of a start: what else this process does for the window gets its turn. */
  readonly breathe?: () => Promise<void>
}

/** The engine: everything between the window and the adapters. */
export class Engine {
  readonly room: Room
  readonly #deps: EngineDeps & { readonly clock: SteadyClock }
  readonly #runs = new Runs()
  readonly #dispatcher: Dispatcher
  readonly #outbox: Outbox
  readonly #lanes: Lanes
  readonly #ingest: Ingest
  readonly #watch: Watch
  readonly #earlierResults: EarlierResults
  readonly #bootId: string
  readonly #lifetime = new AbortController()
  #isolation: IsolationReport | null = null

  constructor(given: EngineDeps) {
    const deps = { ...given, clock: createSteadyClock(given.clock, given.monotonicMs) }
    this.#deps = deps
    this.#bootId = deps.ids.next('boot')
    this.room = new Room(deps.clock, deps.timers)
    this.#lanes = new Lanes({ ...deps, room: this.room, overflow: (taskId) => this.#overflow(taskId) })
    this.#watch = new Watch({ ...deps, lanes: this.#lanes, dispatcher: () => this.#dispatcher })
    const post = new RoomPost(deps)
    this.#dispatcher = new Dispatcher({
      ...deps, room: this.room,
      live: (taskId) => ({ isolation: this.#isolation, waiting: this.#runs.peek(taskId)?.waiting ?? null }),
      committed: (state, events, effects) => {
        if (events.some((event) => event.type === 'coder-gone')) previews.settle(state.taskId, 'Its process ended.')
        post.committed(state, events)
        this.#watch.observe(state, events)
        this.#outbox.take(effects)
      },
    })
    const shared = { ...deps, dispatcher: this.#dispatcher, lanes: this.#lanes, runs: this.#runs }
    this.#earlierResults = new EarlierResults({ ...shared, signal: this.#lifetime.signal })
    const previews = new Previews({ ...shared, room: this.room, idUsedTwice: (taskId, callId, tool) => { this.#ingest.idUsedTwice(taskId, callId, tool) } })
    const ingest = new Ingest({ ...shared, room: this.room, previews })
    this.#ingest = ingest
    const writeWaits = new WriteWaits({ ...shared, room: this.room })
    this.#outbox = new Outbox({
      ...shared,
      handlers: {
        ...workspaceEffects(shared), ...leadEffects(shared),
        ...coderEffects({ ...shared, carried: (taskId) => post.carried(taskId), quiet: (taskId) => this.#outbox.quiet(taskId), onSignal: (taskId, signal) => { ingest.signal(taskId, signal) }, decideCommand: (taskId, ask, signal) => ingest.decideCommand(taskId, ask, signal), onCommandEnded: (taskId, command) => { ingest.commandEnded(taskId, command) }, onWriteWait: (taskId, wait) => { writeWaits.tell(taskId, wait) } }),
      },
    })
    const admissions = new Admissions({ ...shared, bootId: this.#bootId })
    deps.gateway.onAdmission((ask) => Promise.resolve(admissions.admit(ask)))
    const waits = new CallWaitsDesk({ ...shared, room: this.room, callOf: (callNumber) => admissions.callOf(callNumber) })
    deps.gateway.onCallStarted((ask) => { waits.started(ask) })
    deps.gateway.onCallProgress((progress) => { waits.progress(progress) })
    deps.gateway.onCallEnded((end) => { admissions.ended(end); waits.ended(end) })
    deps.gateway.onPreview((preview) => { previews.seen(preview) })
  }

  /** Folds the journal, settles what an earlier life left, and draws the room. Looks at nothing outside but what was left running. */
  async start(): Promise<void> {
    await recover({ ...this.#deps, dispatcher: this.#dispatcher, lanes: this.#lanes, outbox: this.#outbox, bootId: this.#bootId })
    for (const state of this.#dispatcher.states()) this.#watch.resume(state)
    this.#earlierResults.remember(this.#dispatcher.states())
  }

  /** Looks for isolation and at the coder before the first task asks: both start programs, and the coder's is large. */
  async look(): Promise<void> {
    try {
      this.#isolation = await this.#deps.sandbox.probe()
      for (const { taskId } of this.#dispatcher.states()) this.#dispatcher.touch(taskId)
      await this.#deps.coder.probe()
    } finally {
      // Files of an earlier life need neither of the two.
      this.#earlierResults.begin()
    }
  }

  /** The owner opens a task: what is to be known of it before it is decided on is looked at. */
  opened(taskId: TaskId): void {
    this.#earlierResults.open(taskId)
  }

  /** The files of a task's result were read for the owner, who is told where they are others. */
  resultRead(taskId: TaskId, found: Digest): void {
    this.#earlierResults.read(taskId, found)
  }

  /** Begins a task, once: the same command id gives the same task. Refuses where isolation, provider or room for it is missing. */
  async createTask(task: NewTask): Promise<Result<{ readonly taskId: TaskId }, Failure>> {
    const taskId = `task_${digestOfText(task.commandId).slice(7, 31)}` as TaskId
    const receipt = this.#deps.journal.receiptOf(task.commandId)
    if (receipt !== null) return receipt.contentDigest === null || receipt.contentDigest === newTaskDigest(taskId, task) ? ok({ taskId }) : otherContent
    this.#isolation = await this.#deps.sandbox.probe()
    if (!this.#isolation.usable) return err(this.#isolation.failure ?? failure('isolation-unavailable', 'No working isolation was found.', 'Look at Settings → Isolation for what to install.'))
    const lead = this.#deps.directory.resolve(task.models.lead)
    if (!lead.ok) return lead
    const coder = this.#deps.directory.resolve(task.models.coder)
    if (!coder.ok) return coder
    const probed = await knownVersion(() => this.#deps.coder.probe(), this.#deps.timers, this.#lifetime.signal)
    if (!probed.ok) return probed
    // Looked at last, in the same breath as the commit: of two clicks at once, the second sees the first one's task.
    const room = this.#roomFor(task)
    if (!room.ok) return room
    const sent = this.#dispatcher.dispatch(taskId, {
      is: 'open-task', taskId, task, targets: { lead: facts(lead.value), coder: facts(coder.value) }, versions: { ...this.#deps.versions(), openCode: probed.value.version }, scriptedOwner: this.#deps.scriptedOwner,
    }, { commandId: task.commandId, actor: this.#owner() })
    return sent.ok ? ok({ taskId }) : sent
  }

  /** One command of the owner on a task. */
  command(taskId: TaskId, commandId: CommandId, command: Exclude<OwnerCommand, { is: 'open-task' }>): Result<{ readonly recorded: true }, Failure> {
    const refused = this.#lanes.ready(taskId)
    if (refused !== null) return err(refused)
    const sent = this.#dispatcher.dispatch(taskId, command, { commandId, actor: this.#owner() })
    return sent.ok ? ok({ recorded: true }) : sent
  }

  /** The task that a hold belongs to. */
  taskOfHold(approvalId: ApprovalId): TaskState | undefined {
    return this.#dispatcher.states().find((state) => state.holds.has(approvalId))
  }

  state(taskId: TaskId): TaskState | undefined {
    return this.#dispatcher.state(taskId)
  }

  /** All of them, ended ones too. */
  tasks(): readonly TaskState[] {
    return this.#dispatcher.states()
  }

  /** Tasks whose process runs or starts: quitting ends them. */
  liveTasks(): readonly TaskState[] {
    return this.#dispatcher.states().filter((state) => state.coder.is === 'running' || state.coder.is === 'starting')
  }

  /** Tasks that have not come to their end. */
  openTasks(): readonly TaskState[] {
    return this.#dispatcher.states().filter((state) => !isFinished(state.status))
  }

  /** Ends all processes with proof, and takes nothing new. What was in flight is found again at the next start. */
  async close(): Promise<void> {
    this.#lifetime.abort()
    this.#watch.close()
    this.#ingest.close()
    this.#lanes.close()
    for (const run of this.#runs.all()) { run.lifetime.abort(); refuseAll(run, 'the app is quitting') }
    const ending = this.#outbox.close()
    await this.#stopAll()
    await ending
    // Those whose start was under way.
    await this.#stopAll()
    this.room.close()
  }

  /** Whether one more task may begin, and what it revises can be revised. */
  #roomFor(task: NewTask): Result<null, Failure> {
    const live = this.#dispatcher.states().filter((state) => !isFinished(state.status) && state.status !== 'result-ready')
    if (live.length >= limits.concurrentTasksMax) return err(failure('too-busy', `${String(live.length)} tasks are running; that is the limit.`, 'Wait until one is ready, or stop one.'))
    const revised = task.revisionOf === null ? undefined : this.#dispatcher.state(task.revisionOf)
    if (task.revisionOf !== null && revised === undefined) return err(failure('unknown-task', 'The task to revise is not known.', 'Choose a task from the list.'))
    if (revised !== undefined && !isFinished(revised.status) && revised.phase !== 'acceptance-waits') return err(failure('wrong-state', `A revision is not possible while the task is ${revised.status}.`, 'Wait for its result, or stop it first.'))
    return ok(null)
  }

  /** L2. What cannot be recorded must not go on: the process is ended, and the journal hears of it once it takes anything. */
  #overflow(taskId: TaskId): Step {
    this.#deps.log('error', 'a full lane ended a run', { taskId })
    const run = this.#runs.peek(taskId)
    refuseAll(run, 'the journal cannot be written')
    void run?.coder?.stop().catch((error: unknown) => { this.#deps.log('error', 'a run could not be ended', { taskId, error: String(error) }) })
    const commandId = this.#deps.ids.next('overflow')
    return () => {
      const recorded = this.#dispatcher.record(taskId, { is: 'coder-exited', how: 'too much happened that could not be recorded' }, { commandId, actor: 'host' })
      return recorded.is === 'journal-refused' ? recorded.failure : null
    }
  }

  async #stopAll(): Promise<void> {
    await Promise.allSettled(this.#runs.all().flatMap((run) => (run.coder === null ? [] : [run.coder.stop()])))
  }

  #owner(): string {
    return this.#deps.scriptedOwner ? 'scripted-owner' : 'owner'
  }
}

function facts(target: ModelTarget): TargetFacts {
  return { ref: target.ref, providerLabel: target.providerLabel, host: hostOf(target.baseUrl), api: target.api, remote: target.remote, demo: target.demo, needsKey: target.needsKey, ...(target.exchange === undefined ? {} : { exchangeHost: hostOf(target.exchange.url) }), ...(target.fallback === undefined ? {} : { fallback: target.fallback }) }
}

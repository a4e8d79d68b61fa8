import { execFileSync, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { CommandId, TaskId } from '../../src-preload/contract/ids.ts'
import { defaultSandboxLimits, limits } from '../../src-preload/contract/limits.ts'
import type { NewTask } from '../../src-preload/contract/methods.ts'
import { ok } from '../../src-preload/contract/result.ts'
import { createLead } from '../adapters/lead/proxy-lead.ts'
import { createKnownVersions, identify } from '../adapters/opencode/known-versions.ts'
import { createOpenCodeCoder } from '../adapters/opencode/opencode-coder.ts'
import { startDemoProvider } from '../adapters/proxy/demo-process.ts'
import { createModelGateway } from '../adapters/proxy/gateway.ts'
import { entries, nodeFork, realClock, realTimers } from '../adapters/proxy/node-fork.suite.ts'
import { createBubblewrapSandbox, type SandboxDeps } from '../adapters/sandbox/bubblewrap-sandbox.ts'
import { openJournal } from '../adapters/sqlite/open.ts'
import { textFiles } from '../adapters/system/text-files.ts'
import { createWorkspace } from '../adapters/workspace/workspace.ts'
import type { TaskState } from '../core/task/model.ts'
import { waitingHolds } from '../core/task/model.ts'
import { createRoomTransport } from '../engine/room-transport.ts'
import { Engine } from '../engine/engine.ts'
import type { Ids, ModelDirectory, Sandbox } from '../engine/ports.ts'

const root = resolve(import.meta.dirname, '../..')
const binary = join(root, 'node_modules/opencode-linux-x64/bin/opencode')

/** Everything real but Electron: sandbox, OpenCode, proxy and demo processes, SQLite, folders. */
export async function openRealRoom(options: { readonly holdMs?: number; /** Another sandbox than that of Linux. */ readonly create?: (deps: SandboxDeps, dir: string) => Sandbox } = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'cs-room-'))
  let count = 0
  const ids: Ids = { next: (prefix) => `${prefix}_${Date.now().toString(36)}${String(++count).padStart(6, '0')}` }
  const children: ChildProcess[] = []
  const errors: string[] = []
  const log = (level: string, msg: string, fields: unknown = {}): void => { if (level === 'error' || level === 'warn') errors.push(`${msg} ${JSON.stringify(fields)}`) }
  const demo = await startDemoProvider(nodeFork(entries.demo, children), { holdMs: options.holdMs ?? 0, preferredPort: 0, timers: realTimers })
  if (!demo.ok) throw new Error(demo.error.message)
  const directory: ModelDirectory = { resolve: (ref) => ok({ ref, providerLabel: 'Demo', baseUrl: `http://127.0.0.1:${demo.value.port}/v1`, api: 'chat', remote: false, demo: true, needsKey: false, contextTokens: 200_000, outputTokens: 32_000, price: null }) }
  const gateway = createModelGateway({ fork: nodeFork(entries.proxy, children), runRoot: join(dir, 'run'), credentials: () => Promise.resolve(null), clock: realClock, timers: realTimers, ids, log, preferredPort: 0 })
  const started = await gateway.start()
  if (!started.ok) throw new Error(started.error.message)
  const sandbox = (options.create ?? createBubblewrapSandbox)({ runRoot: join(dir, 'run'), openCodeBinary: () => binary, limits: () => defaultSandboxLimits, clock: realClock, ids }, dir)
  const versions = createKnownVersions({ path: join(dir, 'opencode-versions.json'), shipped: { path: binary, notePath: join(dir, 'none') }, files: textFiles, log: (line) => { log(line.level, line.msg, line) } })
  // The bound on a version's probe is the app's; on a loaded machine OpenCode's start is slower, and what is tested here comes after it.
  const file = await identify(binary)
  if (file !== null) await versions.keep(file, execFileSync(binary, ['--version'], { encoding: 'utf8' }).trim())
  const coder = createOpenCodeCoder({ sandbox, binaryPath: () => binary, clock: realClock, ids, timers: realTimers, log: (line) => { log(line.level, line.msg, line) }, filesDir: join(dir, 'opencode-run'), versions })
  const workspace = createWorkspace({ root: join(dir, 'tasks'), sampleDir: join(root, 'resources/sample'), clock: realClock, quotaBytes: () => 1e10, patchDir: join(dir, 'patches') })
  const journal = openJournal({ path: join(dir, 'journal/journal.sqlite'), clock: realClock })
  if (!journal.ok) throw new Error(journal.error.message)
  const engine = new Engine({ clock: realClock, monotonicMs: () => performance.now(), ids, timers: realTimers, journal: journal.value, sandbox, coder, gateway, transport: createRoomTransport(), directory, lead: createLead(), workspace, notifier: { holdWaiting: () => undefined }, versions: () => ({ app: '0', electron: '0', sqlite: '0', openCode: null }), scriptedOwner: true, log })
  await engine.start()
  const close = async (): Promise<void> => {
    await engine.close()
    await gateway.stop()
    await demo.value.stop()
    journal.value.close()
    rmSync(dir, { recursive: true, force: true })
  }
  return { dir, engine, journal: journal.value, children, errors, close }
}

export type RealRoom = Awaited<ReturnType<typeof openRealRoom>>

/** The sample task as the window would start it. */
export async function runSample(room: RealRoom): Promise<TaskId> {
  const sample = JSON.parse(readFileSync(join(root, 'resources/sample/task.json'), 'utf8')) as Pick<NewTask, 'title' | 'requirement' | 'criteria' | 'testCommand'>
  const ref = { providerId: 'demo', modelId: 'demo' }
  const task: NewTask = {
    commandId: `click-${room.dir.slice(-6)}` as CommandId, title: sample.title, requirement: sample.requirement, criteria: sample.criteria, testCommand: sample.testCommand, source: { kind: 'sample' }, models: { lead: ref, coder: ref },
    budget: { profile: 'pilot', turnsMax: 4, messagesMax: 8, requestsMax: 60, tokensMax: 4_000_000, moneyMicroUsdMax: null, deadlineMs: 600_000 }, grant: { edits: 'allow', testCommand: 'allow', otherCommands: 'ask' }, revisionOf: null,
  }
  const created = await room.engine.createTask(task)
  if (!created.ok) throw new Error(`${created.error.message} ${created.error.todo}`)
  return created.value.taskId
}

/** Resolves when the task's state satisfies `when`; `onHold` decides what waits meanwhile, once it was on screen as long as a person needs. */
export function until(room: RealRoom, taskId: TaskId, when: (state: TaskState) => boolean, onHold: (kind: string) => 'approved' | 'denied' | 'leave' = () => 'approved'): Promise<TaskState> {
  const decided = new Set<string>()
  return new Promise((done) => {
    const look = (): void => {
      const state = room.engine.state(taskId)
      if (state === undefined) return
      if (when(state)) { stop(); done(state); return }
      for (const { hold } of waitingHolds(state)) {
        const verdict = onHold(hold.kind)
        if (verdict === 'leave' || decided.has(hold.approvalId)) continue
        decided.add(hold.approvalId)
        const { approvalId, digest } = hold
        queueMicrotask(() => {
          room.engine.command(taskId, `shown:${approvalId}` as CommandId, { is: 'hold-shown', approvalId, digest })
          setTimeout(() => room.engine.command(taskId, `click-${approvalId}` as CommandId, { is: 'decide-hold', approvalId, digest, verdict, reason: null }), limits.humanDecisionMs)
        })
      }
    }
    const stop = room.engine.room.follow(look)
    look()
  })
}

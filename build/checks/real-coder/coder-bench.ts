import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'vitest'
import type { KnownVersions } from '../../../src-main/adapters/opencode/known-versions.ts'
import { createOpenCodeCoder } from '../../../src-main/adapters/opencode/opencode-coder.ts'
import { createBubblewrapSandbox, type SandboxDeps } from '../../../src-main/adapters/sandbox/bubblewrap-sandbox.ts'
import type { AgentSpec, Coder, CoderRun, CoderSignal, CoderSpec, CommandAsk, CommandRun, CommandVerdict, Sandbox, Timers } from '../../../src-main/engine/ports.ts'
import { defaultSandboxLimits, limits } from '../../../src-preload/contract/limits.ts'
import { taskIdSchema } from '../../../src-preload/contract/ids.ts'
import type { CoderRuntime } from '../../../src-preload/contract/task.ts'
import { openRelay, type Relay } from './relay.ts'
import { startScriptedProvider, type ScriptedProvider } from './scripted-provider.ts'

/** The pinned OpenCode, or another one to try the same promises on. */
const binaryPath = process.env['COUNTERSIGN_OPENCODE_BIN'] ?? resolve(import.meta.dirname, `../../../node_modules/opencode-linux-${process.arch}/bin/opencode`)
export const token = 'tok-of-this-task'
/** What must come does so in seconds; the bound is for loaded machines. Where nothing comes, the failure says what was seen until then. */
const waitMs = 150_000
/** For `expect.poll`: until a fact holds. */
export const eventually = { timeout: waitMs } as const
/** For a test: about ten times of what one takes alone on two cores, with two or three starts of OpenCode in it. A wait that is longer fails before. */
export const bounded = { timeout: 600_000 } as const

type Signal<K extends CoderSignal['is']> = Extract<CoderSignal, { is: K }>

/** A real OpenCode in the real sandbox before a scripted provider, with everything that was seen of it. */
export interface CoderBench {
  readonly dir: string
  readonly workspaceDir: string
  readonly coder: Coder
  readonly sandbox: Sandbox
  readonly provider: ScriptedProvider
  readonly signals: CoderSignal[]
  readonly asks: CommandAsk[]
  readonly runs: CommandRun[]
  readonly log: unknown[]
  /** Between the adapter and the agent's control socket; the test can cut it. Of the newest start. */
  readonly control: () => Relay
  /** A request to the agent's server by somebody who has its password, but is not the adapter. */
  foreign(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: unknown }>
  verdict: (ask: CommandAsk) => Promise<CommandVerdict>
  /** Changes what the next start launches. */
  changeLaunch: (spec: AgentSpec) => AgentSpec
  start(change?: Partial<CoderSpec>): Promise<CoderRun>
  session(run: CoderRun): Promise<string>
  /** Submits a turn with fresh ids; answers with its message id. */
  submit(run: CoderRun, sessionId: string, text: string): Promise<string>
  /** The next signal of a kind that fits, seen now or later; fails when none comes. Each call looks only at what came after the last answer of the same kind. */
  next<K extends CoderSignal['is']>(is: K, fits?: (signal: Signal<K>) => boolean): Promise<Signal<K>>
  of<K extends CoderSignal['is']>(is: K): readonly Signal<K>[]
  /** Until a turn of many calls has ended; fails when nothing at all is heard of it for as long as a single wait may take. */
  turnOver(): Promise<void>
  close(): Promise<void>
}

const nothingKnown: KnownVersions = { of: () => Promise.resolve(null), keep: () => Promise.resolve(), forget: () => Promise.resolve() }

const timers: Timers = {
  after(ms, signal, run) {
    if (signal.aborted) return
    // OpenCode's start is slower than the probe's bound where two processors serve many tests; the bound has tests of its own.
    const timer = setTimeout(run, ms === limits.versionProbeMs ? waitMs : ms)
    signal.addEventListener('abort', () => { clearTimeout(timer) }, { once: true })
  },
}

/** Lays out folders and starts the provider; `create` makes another sandbox than that of Linux; `close` ends what was started. */
export async function openCoderBench(runtime: CoderRuntime = 'opencode-server', create: (deps: SandboxDeps, dir: string) => Sandbox = createBubblewrapSandbox): Promise<CoderBench> {
  const dir = await mkdtemp(join(tmpdir(), 'coder-'))
  const [workspaceDir, stateDir, egress] = [join(dir, 'workspace'), join(dir, 'state'), join(dir, 'egress/proxy.sock')]
  await Promise.all([mkdir(workspaceDir), mkdir(join(dir, 'egress'))])
  const provider = await startScriptedProvider(egress)
  const clock = { now: () => Date.now() }
  let count = 0
  const ids = { next: (prefix: string) => `${prefix}_${dir.slice(-6)}${(count += 1)}` }
  const sandbox = create({ runRoot: join(dir, 'run'), openCodeBinary: () => binaryPath, limits: () => defaultSandboxLimits, clock, ids }, dir)
  const log: unknown[] = []
  let control: Relay | null = null
  let password = ''
  const relayed: Sandbox = {
    ...sandbox,
    async launch(spec, signal) {
      password = spec.env['OPENCODE_SERVER_PASSWORD'] ?? ''
      const launched = await sandbox.launch(bench.changeLaunch(spec), signal)
      if (!launched.ok) return launched
      const relay = await openRelay(join(dir, `control${String((count += 1))}.sock`), launched.value.controlSocketPath)
      control = relay
      return { ok: true, value: { ...launched.value, controlSocketPath: relay.path } }
    },
  }
  const coder = createOpenCodeCoder({ sandbox: relayed, binaryPath: () => binaryPath, clock, ids, timers, log: (line) => { log.push(line) }, filesDir: join(dir, 'files'), versions: nothingKnown })
  const started: CoderRun[] = []
  const seen = new Map<string, number>()
  let arrived = (): void => undefined
  const bench: CoderBench = {
    dir, workspaceDir, coder, sandbox, provider, signals: [], asks: [], runs: [], log,
    verdict: () => Promise.resolve({ verdict: 'run' }),
    changeLaunch: (spec) => spec,
    control() { if (control === null) throw new Error('nothing was started'); return control },
    foreign: (method, path, body) => bench.control().request(method, path, password, body),
    async start(change = {}) {
      expect(await coder.probe()).toMatchObject({ ok: true })
      const run = await coder.start({
        taskId: taskIdSchema.parse('task_1'), runtime, workspaceDir, stateDir, mounts: [], egressSocketPath: egress, token,
        model: { api: 'chat', modelId: 'vendor/some-model', contextTokens: 200_000, outputTokens: 32_000 }, permissions: { edit: 'allow', bash: 'ask' },
        decideCommand: (ask) => { bench.asks.push(ask); return bench.verdict(ask) },
        onCommandEnded: (ended) => { bench.runs.push(ended) },
        onWriteWait: () => undefined,
        onSignal: (signal) => { bench.signals.push(signal); arrived() },
        ...change,
      }, new AbortController().signal)
      if (!run.ok) throw new Error(`${run.error.code}: ${run.error.message}`)
      started.push(run.value)
      return run.value
    },
    async session(run) {
      const made = await run.createSession('A task')
      if (!made.ok) throw new Error(made.error.message)
      return made.value.sessionId
    },
    async submit(run, sessionId, text) {
      const { messageId, partId } = coder.mintIds(Date.now())
      const sent = await run.submit({ sessionId, messageId, partId, text, system: 'You are Bot B, the coder.' })
      if (!sent.ok) throw new Error(`${sent.error.code}: ${sent.error.message}`)
      return messageId
    },
    async next(is, fits = () => true) {
      for (let at = seen.get(is) ?? 0; ;) {
        for (; at < bench.signals.length; at += 1) {
          const signal = bench.signals[at]
          if (signal?.is === is && fits(signal as Signal<typeof is>)) { seen.set(is, at + 1); return signal as Signal<typeof is> }
        }
        await new Promise<void>((done, fail) => {
          const timer = setTimeout(() => { fail(new Error(`no ${is} came; seen: ${bench.signals.map((signal) => signal.is).join(' ')}; log: ${JSON.stringify(log).slice(-2_000)}`)) }, waitMs)
          arrived = () => { clearTimeout(timer); done() }
        })
      }
    },
    of: (is) => bench.signals.filter((signal) => signal.is === is) as Signal<typeof is>[],
    async turnOver() {
      while (bench.of('turn-ended').length === 0) {
        const heard = bench.signals.length
        await expect.poll(() => bench.signals.length > heard, { ...eventually, message: `more of the turn; the last was ${bench.signals.at(-1)?.is ?? 'nothing'} (${String(heard)})` }).toBe(true)
      }
    },
    async close() {
      await Promise.all(started.map((run) => run.stop()))
      await control?.close()
      await provider.close()
      await rm(dir, { recursive: true, force: true })
    },
  }
  return bench
}

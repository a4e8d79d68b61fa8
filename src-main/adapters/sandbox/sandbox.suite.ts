import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { defaultSandboxLimits } from '../../../src-preload/contract/limits.ts'
import type { Mount, SandboxLimits } from '../../../src-preload/contract/task.ts'
import type { AgentPlaces, AgentProcess, AgentSpec, CommandAsk, CommandRun, CommandSpec, CommandVerdict, Sandbox } from '../../engine/ports.ts'
import { createBubblewrapSandbox, type SandboxDeps } from './bubblewrap-sandbox.ts'

/** The real OpenCode binary that the tests run; as Bun it plays the agent, too. */
export const openCodeBinary = resolve(import.meta.dirname, `../../../node_modules/opencode-linux-${process.arch}/bin/opencode`)

/** A stand-in agent on the real binary: takes orders over the control socket and hands commands to `config.shell` as OpenCode does. */
const agentScript = ({ shell, workspace }: AgentPlaces, port: number): string => `
const { spawn } = require('child_process')
let last = null
require('http').createServer((req, res) => {
  let body = ''
  req.on('data', (d) => { body += d })
  req.on('end', async () => {
    const answer = (value) => res.end(JSON.stringify(value))
    const order = JSON.parse(body)
    try {
      if (order.eval) return answer({ value: await eval('(async () => {' + order.eval + '})()') })
      if (order.kill) { last.kill(order.kill); return answer({}) }
      const child = last = spawn(${JSON.stringify(shell)}, order.argv ?? ['-c', order.text], { cwd: order.cwd ?? ${JSON.stringify(workspace)}, stdio: ['ignore', 'pipe', 'pipe'] })
      const out = []
      child.stdout.on('data', (d) => out.push(d)); child.stderr.on('data', (d) => out.push(d))
      child.on('error', (e) => answer({ error: e.message }))
      child.on('close', (code, signal) => answer({ code, signal, out: Buffer.concat(out).toString('base64') }))
    } catch (error) { answer({ error: String(error) }) }
  })
}).listen(${String(port)}, '127.0.0.1', () => console.log('agent listening'))
`

export interface Bench {
  readonly dir: string
  readonly workspaceDir: string
  readonly stateDir: string
  readonly runRoot: string
  readonly sandbox: Sandbox
  /** What came to `decideCommand` and `onCommandEnded`, in order. */
  readonly asks: CommandAsk[]
  readonly runs: CommandRun[]
  readonly lines: string[]
  /** What the owner has set. */
  limits: SandboxLimits
  verdict: (ask: CommandAsk, signal: AbortSignal) => Promise<CommandVerdict>
  launch(change?: Partial<AgentSpec>): ReturnType<Sandbox['launch']>
  start(change?: Partial<AgentSpec>): Promise<AgentProcess>
  run(text: string, change?: { readonly cwd?: string; readonly timeoutMs?: number; readonly outputBytesMax?: number; readonly mounts?: readonly Mount[]; readonly readOnly?: CommandSpec['readOnly']; readonly signal?: AbortSignal }): ReturnType<Sandbox['run']>
  /** Ends the stand-in proxy and starts another on a new socket of the same name. */
  restartProxy(says: string): Promise<void>
  close(): Promise<void>
}

/** Lays out folders for one test and builds the real adapter on them, or another. `close` ends what was started. */
export function openBench(create: (deps: SandboxDeps, dir: string) => Sandbox = createBubblewrapSandbox): Bench {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'sbt-')))
  const [workspaceDir, stateDir, runRoot] = [join(dir, 'workspace'), join(dir, 'state'), join(dir, 'run')]
  for (const folder of [workspaceDir, stateDir]) mkdirSync(folder)
  chmodSync(dir, 0o700)
  mkdirSync(join(dir, 'egress'))
  const proxyOf = (says: string): Server => createServer((_req, res) => { res.end(says) }).listen({ path: join(dir, 'egress/proxy.sock'), writableAll: true })
  let egress = proxyOf('from the proxy')
  let counter = 0
  const agents: AgentProcess[] = []
  const sandbox = create({ runRoot, openCodeBinary: () => openCodeBinary, limits: () => bench.limits, clock: { now: () => Date.now() }, ids: { next: (prefix) => `${prefix}_${String((counter += 1))}` } }, dir)
  const bench: Bench = {
    dir, workspaceDir, stateDir, runRoot, sandbox, asks: [], runs: [], lines: [], limits: defaultSandboxLimits,
    verdict: () => Promise.resolve({ verdict: 'run' }),
    async launch(change = {}) {
      const told = await sandbox.places({ workspaceDir, stateDir })
      if (!told.ok) return told
      const places = told.value
      const controlPort = places.workspace === '/workspace' ? 4096 : places.controlPort
      writeFileSync(join(stateDir, 'agent.js'), agentScript(places, controlPort))
      const launched = await sandbox.launch({
        label: 'test', workspaceDir, stateDir, binaryPath: openCodeBinary, places, args: [`--config=${dirname(places.shell)}/bunfig.toml`, `${places.home}/agent.js`], env: { BUN_BE_BUN: '1', PATH: '/usr/bin:/bin', HOME: places.home, ...(places.workspace === '/workspace' ? {} : { OF_PROXY: places.proxyBaseUrl }) }, mounts: [],
        egressSocketPath: join(dir, 'egress/proxy.sock'), controlPort, readyLine: /agent listening/, readyWithinMs: 15_000,
        decideCommand: (ask, signal) => { bench.asks.push(ask); return bench.verdict(ask, signal) },
        onCommandEnded: (run) => { bench.runs.push(run) }, onLine: (_stream, line) => { bench.lines.push(line) }, ...change,
      }, new AbortController().signal)
      if (launched.ok) agents.push(launched.value)
      return launched
    },
    async start(change) {
      const launched = await bench.launch(change)
      if (!launched.ok) throw new Error(`${launched.error.message} ${launched.error.todo}`)
      return launched.value
    },
    run: (text, change = {}) => sandbox.run({ workspaceDir, text, cwd: change.cwd ?? '/workspace', mounts: change.mounts ?? [], timeoutMs: change.timeoutMs ?? 30_000, outputBytesMax: change.outputBytesMax ?? 10_000_000, readOnly: change.readOnly ?? [] }, change.signal ?? new AbortController().signal),
    async restartProxy(says) {
      egress.closeAllConnections()
      await new Promise((closed) => { egress.close(closed) })
      egress = proxyOf(says)
      await once(egress, 'listening')
    },
    async close() {
      await Promise.all(agents.map((agent) => agent.stop()))
      egress.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
  return bench
}

export interface Answer { readonly code: number | null; readonly signal: string | null; readonly out: string; readonly value: unknown; readonly error: string | null }

/** Gives the stand-in agent an order over the control socket, as the host talks to OpenCode. */
export async function order(agent: AgentProcess, what: { readonly text?: string; readonly argv?: readonly string[]; readonly cwd?: string; readonly eval?: string; readonly kill?: string }): Promise<Answer> {
  const sent = request({ socketPath: agent.controlSocketPath, method: 'POST', path: '/' })
  sent.end(JSON.stringify(what))
  const [response] = (await once(sent, 'response')) as [AsyncIterable<Buffer>]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const parsed = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Partial<Answer>
  return { code: parsed.code ?? null, signal: parsed.signal ?? null, out: Buffer.from(parsed.out ?? '', 'base64').toString('utf8'), value: parsed.value, error: parsed.error ?? null }
}

import { spawn, type ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { Duplex, Readable, Writable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import { descriptors } from './bubblewrap-arguments.ts'
import { explainBubblewrap } from './bubblewrap-failures.ts'
import type { HostLayout } from './host-layout.ts'
import { closingDescriptors, inheritedDescriptors } from './inherited-descriptors.ts'
import { holdNamespace, untilEmpty, type HeldNamespace } from './pid-namespace.ts'
import { readProcess } from './process-table.ts'
import { sandboxLimits } from './sandbox-limits.ts'
import { seccompProgram } from './seccomp.ts'
import { droppedCommand, staged } from './unprivileged.ts'

export interface Exit { readonly code: number | null; readonly signal: string | null }

/** One sandbox whose program has been let go. */
export interface BubblewrapProcess {
  readonly child: ChildProcess
  /** First process of the sandbox's process namespace, in our numbering: when it dies the kernel kills all others. */
  readonly pid: number
  readonly startTime: string
  readonly namespace: HeldNamespace
  readonly exited: Promise<Exit>
  /** Exit code that the command itself had; null until it ended, and for good when it was killed or never began. */
  commandExitCode(): number | null
  /** Sends SIGKILL to the sandbox; idempotent, returns at once. */
  kill(): void
}

export interface BubblewrapStart {
  readonly layout: Pick<HostLayout, 'bwrapPath' | 'bash' | 'drop'>
  readonly options: readonly string[]
  /** Must be behind the gate (`gated`). */
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** `pipe`, or an open file descriptor. */
  readonly output: 'pipe' | number
  /** Where bwrap starts (it leaves when it is done): by it a stuck one can be found after a crash. */
  readonly runFolder: string
}
/** `complained`: bwrap ended before anything ran, and what it wrote to the given descriptor says why (`explainBubblewrap`). */
export type StartProblem = Failure | 'complained'

interface Status { readonly childPid: number | null; readonly exitCode: number | null }

/** bwrap's `--json-status-fd`: one JSON document a line. The exit code comes only when the command began. */
function parseStatus(text: string): Status {
  const child = /"child-pid": (\d+)/.exec(text)?.[1]
  const exit = /"exit-code": (\d+)/.exec(text)?.[1]
  return { childPid: child === undefined ? null : Number(child), exitCode: exit === undefined ? null : Number(exit) }
}

function architecture(): 'x64' | 'arm64' | null {
  return process.arch === 'x64' || process.arch === 'arm64' ? process.arch : null
}

/** bwrap may be gone before it has read what we send: its exit tells, not the broken pipe. */
function send(stream: Writable, bytes: string | Uint8Array): void {
  stream.on('error', () => undefined)
  stream.end(bytes)
}

const late = (): Failure => failure('sandbox-failed', `The sandbox was not set up within ${sandboxLimits.setUpMs} ms.`, 'Try again; if it happens again, look at the load of this machine.')

async function wholeText(stream: Readable | null): Promise<string> {
  let text = ''
  if (stream !== null) for await (const chunk of stream as AsyncIterable<Buffer>) text = (text + chunk.toString('utf8')).slice(-sandboxLimits.setUpTextCharsMax)
  return text
}

function once<T>(promise: Promise<T>, withinMs: number): Promise<T | 'late'> {
  let timer: NodeJS.Timeout | undefined
  const timeUp = new Promise<'late'>((done) => { timer = setTimeout(done, withinMs, 'late') })
  return Promise.race([promise, timeUp]).finally(() => { clearTimeout(timer) })
}

interface Spawned { readonly child: ChildProcess; readonly exited: Promise<Exit | Error>; readonly status: Readable; readonly gate: Duplex }

/** What is started, and the options that go through a descriptor. For root it becomes bwrap only after it has become nobody special. */
function commandLine(start: BubblewrapStart): { readonly program: string; readonly args: readonly string[]; readonly options: readonly string[] } {
  const { bwrapPath, drop } = start.layout
  const own = ['--args', String(descriptors.args), '--', ...start.command]
  if (drop === null) return { program: bwrapPath, args: own, options: start.options }
  const stage = staged(start.options, bwrapPath)
  const [program, args] = droppedCommand(drop, stage, own)
  return { program, args, options: stage.options }
}

/** bwrap's own name stands for its path, which may lie in the owner's home; the options go through a descriptor for the same reason. */
async function spawnBubblewrap(start: BubblewrapStart, filter: Uint8Array): Promise<Result<Spawned, Failure>> {
  const { bash } = start.layout
  const { program: plainProgram, args: plainArgs, options } = commandLine(start)
  const inherited = await inheritedDescriptors(descriptors.gate)
  if (inherited.length > 0 && bash === null) return err(failure('isolation-unavailable', 'Whoever started the app left files open that a sandbox must not get, and closing them needs bash.', 'Install bash, or start the app from the desktop.'))
  const [program, args] = inherited.length > 0 && bash !== null ? [bash, closingDescriptors(inherited, plainProgram, plainArgs)] : [plainProgram, plainArgs]
  const child = spawn(program, args, { argv0: 'bwrap', cwd: start.runFolder, env: start.env, stdio: ['ignore', start.output, start.output, 'pipe', 'pipe', 'pipe', 'pipe'], detached: true })
  const exited = new Promise<Exit | Error>((done) => {
    child.once('error', done)
    child.once('exit', (code, signal) => { done({ code, signal }) })
  })
  if (child.pid === undefined) {
    const cause = await exited
    return err(explainBubblewrap(cause instanceof Error ? cause.message : 'bwrap did not start', start.layout.bwrapPath))
  }
  const [, , , argsInput, filterInput, status, gate] = child.stdio as unknown as [null, Readable | null, Readable | null, Writable, Writable, Readable, Duplex]
  send(argsInput, options.map((option) => `${option}\0`).join(''))
  send(filterInput, filter)
  return ok({ child, exited, status, gate })
}

/** Collects what bwrap reports. `firstPid` is null when it ended without a first process. */
function followStatus(status: Readable): { readonly firstPid: Promise<number | null>; readonly exitCode: () => number | null } {
  let text = ''
  const firstPid = new Promise<number | null>((done) => {
    status.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const { childPid } = parseStatus(text)
      if (childPid !== null) done(childPid)
    })
    status.once('close', () => { done(null) })
    status.on('error', () => { done(null) })
  })
  return { firstPid, exitCode: () => parseStatus(text).exitCode }
}

/** Resolves true when the program inside waits at the gate, false when bwrap ended before. */
function atGate(gate: Duplex): Promise<boolean> {
  return new Promise((done) => {
    gate.on('error', () => { done(false) })
    gate.once('data', () => { done(true) })
    gate.once('close', () => { done(false) })
  })
}

/**
 * Waits until the first process dies with its parent. It asks the kernel for that just before it takes the system-call filter
 * upon itself, and only the filter can be seen (`Seccomp: 2`, proc(5)).
 */
async function boundToParent(pid: number): Promise<boolean> {
  const end = performance.now() + sandboxLimits.setUpMs
  while (performance.now() < end) {
    const text = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => null)
    if (text === null) return false
    if (/^Seccomp:\s*2$/m.test(text)) return true
    await pause(1)
  }
  return false
}

type Held = Pick<BubblewrapProcess, 'pid' | 'startTime' | 'namespace'>

/** The first process, known and held, with its program waiting at the gate; null when bwrap ended before, `late` when it took too long. */
async function holdFirst(firstPid: Promise<number | null>, gate: Duplex): Promise<Held | null | 'late'> {
  const waiting = atGate(gate)
  const pid = await once(firstPid, sandboxLimits.setUpMs)
  if (pid === null || pid === 'late') return pid
  const namespace = await holdNamespace(pid)
  const found = await readProcess(pid)
  const arrived = await once(waiting, sandboxLimits.setUpMs)
  if (namespace !== null && found !== null && arrived === true && (await boundToParent(pid))) return { pid, startTime: found.startTime, namespace }
  await namespace?.release()
  return arrived === 'late' ? 'late' : null
}

/**
 * Starts bwrap. The program inside is held back until its process namespace is held open and its first process is known and
 * bound to die with us, so that a stop can be proven however short it lives. Fails with `isolation-unavailable` or
 * `sandbox-failed`; nothing is left then.
 */
export async function startBubblewrap(start: BubblewrapStart): Promise<Result<BubblewrapProcess, StartProblem>> {
  const machine = architecture()
  if (machine === null) return err(failure('isolation-unavailable', `No system-call filter is known for this processor (${process.arch}).`, 'Run the app on an x86-64 or ARM64 machine.'))
  const spawned = await spawnBubblewrap(start, seccompProgram(machine))
  if (!spawned.ok) return spawned
  const { child, exited, status, gate } = spawned.value
  const { firstPid, exitCode } = followStatus(status)
  const held = await holdFirst(firstPid, gate)
  if (held === null || held === 'late') {
    child.kill('SIGKILL')
    await exited
    return err(held === 'late' ? late() : start.output === 'pipe' ? explainBubblewrap(await wholeText(child.stderr), start.layout.bwrapPath) : 'complained')
  }
  const kill = (): void => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
  }
  gate.end('go\n')
  return ok({ ...held, child, kill, exited: exited.then((end) => (end instanceof Error ? { code: null, signal: null } : end)), commandExitCode: exitCode })
}

/** Kills the sandbox if it still lives, waits until nobody is left in it and lets go of its namespace. */
export async function endBubblewrap(running: BubblewrapProcess): Promise<{ readonly empty: boolean; readonly checked: number; readonly left: readonly number[] }> {
  running.kill()
  await once(running.exited, sandboxLimits.emptyWithinMs)
  const seen = await untilEmpty(running.namespace)
  await running.namespace.release()
  return seen
}

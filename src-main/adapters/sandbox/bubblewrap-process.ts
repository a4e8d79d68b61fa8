import { spawn, type ChildProcess } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
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

export interface Exit { readonly code: number | null; readonly signal: string | null }

/** One sandbox whose first program has been let go. */
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
  readonly layout: Pick<HostLayout, 'bwrapPath' | 'bash'>
  readonly options: readonly string[]
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** `pipe`, or an open file descriptor. */
  readonly output: 'pipe' | number
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

interface Spawned { readonly child: ChildProcess; readonly exited: Promise<Exit | Error>; readonly status: Readable; readonly block: Writable }

/** bwrap's own name stands for its path, which may lie in the owner's home; the options go through a descriptor for the same reason. */
async function spawnBubblewrap(start: BubblewrapStart, filter: Uint8Array): Promise<Result<Spawned, Failure>> {
  const { bwrapPath, bash } = start.layout
  const inherited = await inheritedDescriptors(descriptors.block)
  if (inherited.length > 0 && bash === null) return err(failure('isolation-unavailable', 'Whoever started the app left files open that a sandbox must not get, and closing them needs bash.', 'Install bash, or start the app from the desktop.'))
  const options = ['--args', String(descriptors.args), '--', ...start.command]
  const [program, args] = inherited.length > 0 && bash !== null ? [bash, closingDescriptors(inherited, bwrapPath, options)] : [bwrapPath, options]
  const child = spawn(program, args, { argv0: 'bwrap', cwd: '/', env: start.env, stdio: ['ignore', start.output, start.output, 'pipe', 'pipe', 'pipe', 'pipe'], detached: true })
  const exited = new Promise<Exit | Error>((done) => {
    child.once('error', done)
    child.once('exit', (code, signal) => { done({ code, signal }) })
  })
  if (child.pid === undefined) {
    const cause = await exited
    return err(explainBubblewrap(cause instanceof Error ? cause.message : 'bwrap did not start'))
  }
  const [, , , argsInput, filterInput, status, block] = child.stdio as unknown as [null, Readable | null, Readable | null, Writable, Writable, Readable, Writable]
  send(argsInput, start.options.map((option) => `${option}\0`).join(''))
  send(filterInput, filter)
  return ok({ child, exited, status, block })
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

/**
 * Starts bwrap. The program inside is held back until its process namespace is held open and its first process is known, so
 * that a stop can be proven however short it lives. Fails with `isolation-unavailable` or `sandbox-failed`; nothing is left then.
 */
export async function startBubblewrap(start: BubblewrapStart): Promise<Result<BubblewrapProcess, StartProblem>> {
  const machine = architecture()
  if (machine === null) return err(failure('isolation-unavailable', `No system-call filter is known for this processor (${process.arch}).`, 'Run the app on an x86-64 or ARM64 machine.'))
  const spawned = await spawnBubblewrap(start, seccompProgram(machine))
  if (!spawned.ok) return spawned
  const { child, exited, status, block } = spawned.value
  const { firstPid, exitCode } = followStatus(status)
  const pid = await once(firstPid, sandboxLimits.setUpMs)
  const namespace = typeof pid === 'number' ? await holdNamespace(pid) : null
  const found = typeof pid === 'number' ? await readProcess(pid) : null
  if (typeof pid !== 'number' || namespace === null || found === null) {
    child.kill('SIGKILL')
    await exited
    await namespace?.release()
    return err(pid === 'late' ? late() : start.output === 'pipe' ? explainBubblewrap(await wholeText(child.stderr)) : 'complained')
  }
  const kill = (): void => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
  }
  send(block, 'x')
  return ok({ child, pid, startTime: found.startTime, namespace, kill, exited: exited.then((end) => (end instanceof Error ? { code: null, signal: null } : end)), commandExitCode: exitCode })
}

/** Kills the sandbox if it still lives, waits until nobody is left in it and lets go of its namespace. */
export async function endBubblewrap(running: BubblewrapProcess): Promise<{ readonly empty: boolean; readonly checked: number; readonly left: readonly number[] }> {
  running.kill()
  await once(running.exited, sandboxLimits.emptyWithinMs)
  const seen = await untilEmpty(running.namespace)
  await running.namespace.release()
  return seen
}

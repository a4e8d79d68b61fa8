import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { SandboxLimits } from '../../../src-preload/contract/task.ts'
import type { CommandRun } from '../../engine/ports.ts'
import { keptByKernel } from './command-run.ts'
import { startLogRecord } from './log-record.ts'
import { openOutputPipe } from './output-pipe.ts'
import { seatbeltProfile, type SeatbeltShape } from './seatbelt-profile.ts'

/** One command under a profile of its own. */
export interface SeatbeltOrder {
  readonly askId: string
  readonly text: string
  /** As it is recorded, and the real folder that it is. */
  readonly cwd: string
  readonly hostCwd: string
  readonly shape: SeatbeltShape
  readonly sandboxExec: string
  readonly timeoutMs: number
  readonly outputBytesMax: number
  readonly limits: SandboxLimits
  /** Folder for the output pipe; nothing stays in it. */
  readonly pipeFolder: string
}

/**
 * Runs inside the profile and stays beside the command: where there is no process namespace, only one of the same sandbox can end all others of it. It
 * does so when the command ends, when the host says so and when the host is gone (its end of the pipe closes). First it makes sure that it is confined:
 * whoever can signal the host would reach every process of the owner with what follows. Arguments: the host's process, file size in 512 bytes, seconds of
 * processor time, the command.
 */
const keeper = `host=$1 blocks=$2 seconds=$3; shift 3
if kill -0 "$host" 2>/dev/null; then echo "seatbelt: the profile does not hold" >&2; exit 126; fi
exec 3<&0 </dev/null
( exec 3<&-; ulimit -c 0; ulimit -f "$blocks"; ulimit -t "$seconds"; exec "$@" ) &
command=$!
( read -r _ <&3; kill -9 -1 ) >/dev/null 2>&1 &
wait "$command"; code=$?
kill -9 -1 2>/dev/null; kill -9 -1 2>/dev/null
exit "$code"`

/** Program and arguments. The profile goes as an argument: it holds paths and no secret, and a file could be swapped. */
export function seatbeltCommand({ sandboxExec, shape, limits, text }: Pick<SeatbeltOrder, 'sandboxExec' | 'shape' | 'limits' | 'text'>, hostPid: number): readonly [program: string, args: readonly string[]] {
  const bounds = [String(hostPid), String(Math.floor(limits.fileBytesMax / 512)), String(Math.floor(limits.commandCpuMsMax / 1_000))]
  return [sandboxExec, ['-p', seatbeltProfile(shape), '--', '/bin/sh', '-c', keeper, 'keeper', ...bounds, '/bin/sh', '-c', text]]
}

const environmentOf = ({ privateDir }: SeatbeltShape): Readonly<Record<string, string>> => ({ PATH: '/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin', HOME: privateDir, TMPDIR: privateDir, USER: 'agent', LOGNAME: 'agent', SHELL: '/bin/sh', LANG: 'C.UTF-8', TERM: 'dumb' })

/**
 * Runs one command and waits until it has ended. Of memory and processes nothing is bounded here. Exit code null and `limitHit` set: it was ended from
 * outside. A `Failure` means that it did not begin.
 */
export async function runSeatbelt(order: SeatbeltOrder, signal: AbortSignal): Promise<Result<CommandRun, Failure>> {
  if (signal.aborted) return err(failure('cancelled', 'The command was stopped before it began.', 'Nothing to do.'))
  const began = performance.now()
  const pipe = await openOutputPipe(order.pipeFolder)
  const log = startLogRecord()
  const [program, args] = seatbeltCommand(order, process.pid)
  const child = spawn(program, args, { cwd: order.hostCwd, env: environmentOf(order.shape), stdio: ['pipe', pipe.writerFd, pipe.writerFd], detached: true })
  const ended = outcomeOf(child)
  // The keeper may be gone before it is told to end.
  child.stdin?.on('error', () => undefined)
  await pipe.closeWriter()
  const hit: { why: string | null } = { why: null }
  const stop = (why: string): void => { hit.why ??= why; child.stdin?.end() }
  const aborted = (): void => { stop('was stopped before it ended') }
  const timer = setTimeout(() => { stop(`ran longer than ${String(order.timeoutMs)} ms`) }, order.timeoutMs)
  signal.addEventListener('abort', aborted, { once: true })
  for await (const chunk of pipe.reader as AsyncIterable<Buffer>) {
    const room = order.outputBytesMax - log.bytes()
    if (room > 0) log.add(chunk.subarray(0, room))
    if (chunk.length > room) { stop(`wrote more than ${String(order.outputBytesMax)} bytes`); break }
  }
  const outcome = await ended
  clearTimeout(timer)
  signal.removeEventListener('abort', aborted)
  pipe.reader.destroy()
  if (outcome instanceof Error) return err(failure('isolation-unavailable', `sandbox-exec cannot be started (${outcome.message}).`, 'Countersign needs /usr/bin/sandbox-exec, which comes with macOS.'))
  const { logDigest, logTail } = log.finish()
  const exitCode = hit.why === null ? outcome : null
  return ok({ askId: order.askId, text: order.text, cwd: order.cwd, exitCode, refused: null, logDigest, logTail, durationMs: Math.round(performance.now() - began), limitHit: hit.why ?? (exitCode === null ? 'was ended from outside' : keptByKernel(exitCode, order.limits)) })
}

/** The exit code, null for one that was killed; the error of a program that cannot be started. */
async function outcomeOf(child: ChildProcess): Promise<number | null | Error> {
  const failed = new Promise<Error>((done) => { child.once('error', done) })
  const exited = once(child, 'exit').then(([code]) => code as number | null, (error: unknown) => error as Error)
  return Promise.race([failed, exited])
}

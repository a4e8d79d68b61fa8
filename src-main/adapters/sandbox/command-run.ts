import { once } from 'node:events'
import type { Socket } from 'node:net'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { stoppedEarly } from '../../../src-preload/contract/limits.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { SandboxLimits } from '../../../src-preload/contract/task.ts'
import type { CommandRun } from '../../engine/ports.ts'
import { commandArguments, commandEnvironment, limitedCommand, type CommandShape } from './bubblewrap-arguments.ts'
import { explainBubblewrap } from './bubblewrap-failures.ts'
import { endBubblewrap, startBubblewrap, type BubblewrapProcess, type Exit } from './bubblewrap-process.ts'
import { bytesInWords, processorTimeInWords } from './limits-in-words.ts'
import { startLogRecord, type LogRecord } from './log-record.ts'
import { openOutputPipe } from './output-pipe.ts'
import { commandBounds, useOf, watchResources, type Bounds } from './resource-watch.ts'
import { sandboxLimits } from './sandbox-limits.ts'

/** One command to run in a sandbox of its own. */
export interface CommandOrder {
  readonly askId: string
  readonly text: string
  readonly shape: CommandShape
  readonly pathEntries: readonly string[]
  /** Variables that name places. */
  readonly named?: Readonly<Record<string, string>>
  /** Folder for the output pipe; nothing stays in it. */
  readonly pipeFolder: string
  readonly timeoutMs: number
  readonly outputBytesMax: number
  readonly limits: SandboxLimits
  /** What is watched, where it is other than the limits; for tests. */
  readonly bounds?: Bounds
  /** Gets stdout and stderr in the order of writing. A promise holds the command back until it is settled. */
  readonly onOutput: (chunk: Buffer) => Promise<void> | undefined
}

/** Which of the kernel's limits an exit code tells of (128 and SIGXCPU or SIGXFSZ, as a shell gives it), in words that continue “the command …”; null: none. A program may end with the same code by itself, and no one outside can tell. */
export function keptByKernel(exitCode: number, limits: SandboxLimits): string | null {
  if (exitCode === 152) return `ended with code 152 and may have passed the limit on processor time (${processorTimeInWords(limits.commandCpuMsMax)})`
  if (exitCode === 153) return `ended with code 153 and may have passed the limit on a file's size (${bytesInWords(limits.fileBytesMax)})`
  return null
}

const cancelled = (): Failure => failure('cancelled', 'The command was stopped before it began.', 'Nothing to do.')

/** Reads until the last writer is gone, or `onLimit` was called because there were more than `outputBytesMax` bytes. */
export async function readAll(reader: Socket, log: LogRecord, order: Pick<CommandOrder, 'outputBytesMax' | 'onOutput'>, onLimit: () => void): Promise<void> {
  for await (const chunk of reader as AsyncIterable<Buffer>) {
    const room = order.outputBytesMax - log.bytes()
    const kept = chunk.subarray(0, Math.max(0, room))
    if (kept.length > 0) {
      log.add(kept)
      await order.onOutput(kept)
    }
    if (chunk.length > room) {
      onLimit()
      return
    }
  }
}

/** What bwrap wrote before it gave up. */
async function readComplaint(reader: Socket): Promise<string> {
  let text = ''
  for await (const chunk of reader as AsyncIterable<Buffer>) text = (text + chunk.toString('utf8')).slice(-sandboxLimits.setUpTextCharsMax)
  return text
}

/** The limits that end a command early; the first one wins. */
function watchLimits(order: CommandOrder, running: BubblewrapProcess, signal: AbortSignal): { hit(why: string): void; readonly why: () => string | null; end(): void } {
  let why: string | null = null
  const hit = (reason: string): void => {
    why ??= reason
    running.kill()
  }
  const stop = (): void => { hit(stoppedEarly) }
  const timer = setTimeout(() => { hit(`ran longer than ${order.timeoutMs} ms`) }, order.timeoutMs)
  const bounds = order.bounds ?? commandBounds(order.limits)
  const resources = watchResources({ use: () => useOf(running.pid, bounds.memoryBytesMax), workspaceDir: order.shape.workspaceDir, bounds, everyMs: sandboxLimits.commandWatchedEveryMs }, hit)
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return { hit, why: () => why, end: () => { clearTimeout(timer); resources.end(); signal.removeEventListener('abort', stop) } }
}

/**
 * Runs one command and waits until its whole tree is gone. Exit code null and `limitHit` set: it was ended from outside.
 * A `Failure` means that the command did not begin (`cancelled`, `isolation-unavailable`, `sandbox-failed`).
 */
export async function runCommand(order: CommandOrder, signal: AbortSignal): Promise<Result<CommandRun, Failure>> {
  if (signal.aborted) return err(cancelled())
  const began = performance.now()
  const pipe = await openOutputPipe(order.pipeFolder)
  const log = startLogRecord()
  const started = await startBubblewrap({
    layout: order.shape.layout, options: commandArguments(order.shape), command: limitedCommand(order.shape.layout, order.limits, order.text), env: commandEnvironment(order.pathEntries, order.named ?? {}), output: pipe.writerFd, runFolder: order.pipeFolder,
  })
  await pipe.closeWriter()
  if (!started.ok) {
    const complaint = await readComplaint(pipe.reader)
    return err(started.error === 'complained' ? explainBubblewrap(complaint, order.shape.layout.bwrapPath) : started.error)
  }
  const running = started.value
  const limits = watchLimits(order, running, signal)
  try {
    await readAll(pipe.reader, log, order, () => { limits.hit(`wrote more than ${order.outputBytesMax} bytes`) })
    await running.exited
  } finally {
    limits.end()
    pipe.reader.destroy()
    running.kill()
  }
  const { left } = await endBubblewrap(running)
  if (left.length > 0) return err(failure('sandbox-failed', `The command was killed, yet ${left.length} of its processes are still there.`, 'They are stuck in the kernel (a dead network drive, for example). Restart this machine if they do not go away.'))
  const { logDigest, logTail } = log.finish()
  const limitHit = limits.why()
  const exitCode = limitHit === null ? running.commandExitCode() : null
  if (exitCode === null && limitHit === null) return err(neverBegan(await running.exited, logTail, order.shape.layout.bwrapPath))
  return ok({ askId: order.askId, text: order.text, cwd: order.shape.cwd, exitCode, refused: null, logDigest, logTail, durationMs: Math.round(performance.now() - began), limitHit: exitCode === null ? limitHit : keptByKernel(exitCode, order.limits), limits: order.limits })
}

/** No exit code and no limit: bwrap was killed by somebody else, or gave up after its namespaces were made and said why. */
function neverBegan(end: Exit, log: string, bwrapPath: string): Failure {
  if (end.signal !== null) return failure('sandbox-failed', `The command's sandbox was ended from outside (${end.signal}).`, 'Look for a lack of memory in the system log, then run the command again.')
  return explainBubblewrap(log.slice(-sandboxLimits.setUpTextCharsMax), bwrapPath)
}

/** Waits until a socket takes more bytes or is gone. */
export async function drained(socket: Socket): Promise<void> {
  if (socket.destroyed) return
  const gone = new AbortController()
  await Promise.race([once(socket, 'drain', { signal: gone.signal }), once(socket, 'close', { signal: gone.signal })]).catch(() => undefined)
  gone.abort()
}

import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { stoppedEarly } from '../../../src-preload/contract/limits.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { SandboxLimits } from '../../../src-preload/contract/task.ts'
import type { CommandRun } from '../../engine/ports.ts'
import { keptByKernel, readAll } from './command-run.ts'
import { listProcesses, useOfListed } from './listed-processes.ts'
import { startLogRecord } from './log-record.ts'
import { openOutputPipe } from './output-pipe.ts'
import { commandBounds, watchResources } from './resource-watch.ts'
import { sandboxLimits } from './sandbox-limits.ts'
import { startKept, type Kept, type KeptBounds } from './seatbelt-keeper.ts'
import { seatbeltProfile, type SeatbeltShape } from './seatbelt-profile.ts'

/** One command under a profile of its own. */
export interface SeatbeltOrder {
  readonly askId: string
  readonly text: string
  /** As the room names it, and the real folder that it is. */
  readonly cwd: string
  readonly hostCwd: string
  readonly shape: Omit<SeatbeltShape, 'privateDir'>
  /** Folders of programs that come before what the system has. */
  readonly pathEntries: readonly string[]
  /** Variables that name places. */
  readonly named?: Readonly<Record<string, string>>
  readonly sandboxExec: string
  readonly timeoutMs: number
  readonly outputBytesMax: number
  readonly limits: SandboxLimits
  /** For the output pipe and the private folder; nothing of a command that is proven to be gone stays in it. */
  readonly runFolder: string
  /** Gets stdout and stderr in the order of writing. A promise holds the command back until it is settled. */
  readonly onOutput: (chunk: Buffer) => Promise<void> | undefined
}

/** The command as it is started: the exact text as one argument of the shell that the system has for commands. */
export const commandWords = (text: string): readonly string[] => ['/bin/bash', '-c', text]

const environmentOf = (privateDir: string, { pathEntries, named = {} }: SeatbeltOrder): Readonly<Record<string, string>> => ({ ...named, PATH: [...pathEntries, '/opt/homebrew/bin', '/usr/local/bin', '/usr/bin', '/bin'].join(':'), HOME: privateDir, TMPDIR: privateDir, USER: 'agent', LOGNAME: 'agent', SHELL: '/bin/bash', LANG: 'C.UTF-8', TERM: 'dumb' })

/** What the kernel keeps of the limits. It counts all processes of the owner's account, so as many as there are already may be there besides. */
export async function kernelBounds({ fileBytesMax, commandCpuMsMax, processesMax }: SandboxLimits, forCommand: boolean): Promise<KeptBounds> {
  const mine = process.getuid?.()
  const already = (await listProcesses()).filter(({ user }) => user === mine).length
  return { fileBytesMax, cpuMsMax: forCommand ? commandCpuMsMax : null, processesMax: already + processesMax }
}

export const cannotStart = (error: Error): Failure => failure('isolation-unavailable', `sandbox-exec cannot be started (${error.message}).`, 'Countersign needs /usr/bin/sandbox-exec, which comes with macOS.')
export const notProven = failure('sandbox-failed', 'The command has ended, but it is not proven that nobody of it is left.', 'Look for processes that work in the task\'s folder and end them, or restart this machine.')

/** The limits that end a command early; the first one wins. */
function watchLimits(order: SeatbeltOrder, kept: Kept, giveUp: () => void, signal: AbortSignal): { hit(why: string): void; readonly why: () => string | null; end(): void } {
  let why: string | null = null
  const hit = (reason: string): void => {
    why ??= reason
    kept.end(giveUp)
  }
  const aborted = (): void => { hit(stoppedEarly) }
  const timer = setTimeout(() => { hit(`ran longer than ${String(order.timeoutMs)} ms`) }, order.timeoutMs)
  const use = async () => useOfListed(await listProcesses(), kept.child.pid ?? -1)
  const resources = watchResources({ use, workspaceDir: order.shape.workspaceDir, bounds: commandBounds(order.limits), everyMs: sandboxLimits.listedEveryMs }, hit)
  if (signal.aborted) aborted()
  else signal.addEventListener('abort', aborted, { once: true })
  return { hit, why: () => why, end: () => { clearTimeout(timer); resources.end(); signal.removeEventListener('abort', aborted) } }
}

/**
 * Runs one command and waits until it has ended, and nobody of it is left. Exit code null and `limitHit` set: it was ended from outside. A `Failure` means
 * that it did not begin, or that it is not proven to have ended.
 */
export async function runSeatbelt(order: SeatbeltOrder, signal: AbortSignal): Promise<Result<CommandRun, Failure>> {
  if (signal.aborted) return err(failure('cancelled', 'The command was stopped before it began.', 'Nothing to do.'))
  const privateDir = await realpath(await mkdtemp(join(order.runFolder, 'c-')))
  const ran = await runIn(privateDir, order, signal)
  // Whoever may still be there keeps its folder, and the word of its keeper.
  if (ran.ok || ran.error !== notProven) await rm(privateDir, { recursive: true, force: true })
  return ran
}

async function runIn(privateDir: string, order: SeatbeltOrder, signal: AbortSignal): Promise<Result<CommandRun, Failure>> {
  const began = performance.now()
  const bounds = await kernelBounds(order.limits, true)
  const [pipe, log] = [await openOutputPipe(order.runFolder), startLogRecord()]
  const kept = await startKept({ sandboxExec: order.sandboxExec, profile: seatbeltProfile({ ...order.shape, privateDir }), cwd: order.hostCwd, command: commandWords(order.text), env: environmentOf(privateDir, order), output: pipe.writerFd, bounds, folder: order.runFolder })
  await pipe.closeWriter()
  const limits = watchLimits(order, kept, () => { pipe.reader.destroy() }, signal)
  try {
    await readAll(pipe.reader, log, order, () => { limits.hit(`wrote more than ${String(order.outputBytesMax)} bytes`) }).catch((error: unknown) => {
      // The reader was given up with the command.
      if (!(error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE')) throw error
    })
    await kept.ended
  } finally {
    limits.end()
    kept.end()
    pipe.reader.destroy()
  }
  const outcome = await kept.ended
  if (outcome instanceof Error) return err(cannotStart(outcome))
  if (!(await kept.provenEmpty())) return err(notProven)
  await rm(kept.wordFile, { force: true })
  const { logDigest, logTail } = log.finish()
  const exitCode = limits.why() === null ? outcome : null
  return ok({ askId: order.askId, text: order.text, cwd: order.cwd, exitCode, refused: null, logDigest, logTail, durationMs: Math.round(performance.now() - began), limitHit: limits.why() ?? (exitCode === null ? 'was ended from outside' : keptByKernel(exitCode, order.limits)), limits: order.limits })
}

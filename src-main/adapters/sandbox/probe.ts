import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Failure } from '../../../src-preload/contract/failure.ts'
import { failure } from '../../../src-preload/contract/failure.ts'
import { isolationLimits } from '../../../src-preload/contract/limits.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { IsolationReport } from '../../../src-preload/contract/task.ts'
import type { Clock } from '../../engine/ports.ts'
import { runCommand } from './command-run.ts'
import type { HostLayout } from './host-layout.ts'
import { insidePaths } from './inside-paths.ts'
import type { RunFolder } from './run-folder.ts'
import { sandboxLimits } from './sandbox-limits.ts'
import { handOver, isRoot, strangerId } from './unprivileged.ts'

const execute = promisify(execFile)

export interface ProbeParts {
  readonly clock: Clock
  readonly readLayout: () => Promise<Result<HostLayout, Failure>>
  readonly openFolder: () => Promise<RunFolder>
  readonly workspaceOf: (folder: RunFolder) => string
}

async function versionOf(bwrapPath: string): Promise<string> {
  const said = await execute(bwrapPath, ['--version'], { timeout: sandboxLimits.probeMs, env: {} }).catch(() => null)
  return said?.stdout.trim() ?? 'bubblewrap of unknown version'
}

/** Runs `true` with the options that every command gets, in an empty workspace. */
async function tryOut(parts: ProbeParts, layout: HostLayout): Promise<Result<null, Failure>> {
  const folder = await parts.openFolder()
  try {
    const workspaceDir = parts.workspaceOf(folder)
    await mkdir(workspaceDir)
    await handOver(workspaceDir)
    const shape = { layout, files: folder.files, workspaceDir, masks: [], binds: [], binaryPath: null, cwd: insidePaths.workspace }
    const ran = await runCommand({ askId: 'probe', text: 'true', shape, pathEntries: [], pipeFolder: folder.path, timeoutMs: sandboxLimits.probeMs, outputBytesMax: 4_096, onOutput: () => undefined }, new AbortController().signal)
    if (!ran.ok) return ran
    if (ran.value.exitCode === 0) return ok(null)
    return err(failure('isolation-unavailable', `A trial run in the sandbox failed (${ran.value.limitHit ?? `exit code ${String(ran.value.exitCode)}`}). ${ran.value.logTail.slice(-500)}`, 'Check again; if it stays so, look at what the trial run said.'))
  } finally {
    await folder.remove()
  }
}

const gib = (amount: number): string => `${String(amount / 2 ** 30)} GiB`

/** The limits that matter to a reader of a card; Settings → Isolation lists all. */
const limitsInWords = `${gib(isolationLimits.memoryBytesMax)} of memory, ${String(isolationLimits.processesMax)} processes, ${String(isolationLimits.commandCpuMsMax / 60_000)} min of processor time, ${gib(isolationLimits.fileBytesMax)} a file`

async function report(parts: ProbeParts): Promise<IsolationReport> {
  const layout = await parts.readLayout()
  const tried = layout.ok ? await tryOut(parts, layout.value) : layout
  const checkedAt = parts.clock.now()
  if (!tried.ok || !layout.ok) {
    const problem = !tried.ok ? tried.error : failure('internal', 'The system was not looked at.', 'Check again.')
    return { usable: false, level: 'none', summary: problem.message.slice(0, 300), detail: problem.todo, checkedAt, failure: problem }
  }
  const version = await versionOf(layout.value.bwrapPath)
  const asRoot = isRoot() ? ` The app runs as root; sandboxes run as user ${String(strangerId)}, who owns nothing but the copies that tasks work on.` : ''
  return {
    usable: true, level: 'bubblewrap', checkedAt, failure: null,
    summary: `${version}: no network, no home folder, own processes, read-only system; at most ${limitsInWords}`,
    detail: `${version} at ${layout.value.bwrapPath}. Each command and the coder itself run in namespaces of their own (user, process, network, ipc, host name), without capabilities, under a system-call filter; a trial run passed. Whatever passes a limit is ended, and its row says which.${asRoot}`,
  }
}

/** The port's `probe`: concurrent callers share one run, and its outcome is kept for `probeCachedForMs`. */
export function createProbe(parts: ProbeParts): () => Promise<IsolationReport> {
  let last: { readonly since: number; readonly outcome: Promise<IsolationReport> } | null = null
  return () => {
    if (last !== null && performance.now() - last.since < sandboxLimits.probeCachedForMs) return last.outcome
    const outcome = report(parts)
    const mine = { since: performance.now(), outcome }
    last = mine
    // A probe that could not even be tried (full disk) must not be remembered.
    outcome.catch(() => { if (last === mine) last = null })
    return outcome
  }
}

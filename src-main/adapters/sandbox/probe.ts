import { mkdir } from 'node:fs/promises'
import type { Failure } from '../../../src-preload/contract/failure.ts'
import { failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { IsolationReport, SandboxLimits } from '../../../src-preload/contract/task.ts'
import type { Clock } from '../../engine/ports.ts'
import { explainBubblewrap } from './bubblewrap-failures.ts'
import { runCommand } from './command-run.ts'
import { bwrapVersion } from './find-bwrap.ts'
import type { HostLayout } from './host-layout.ts'
import { insidePaths } from './inside-paths.ts'
import { keptReport } from './kept-report.ts'
import { limitsInWords } from './limits-in-words.ts'
import type { RunFolder } from './run-folder.ts'
import { sandboxLimits } from './sandbox-limits.ts'
import { handOver, isRoot, strangerId } from './unprivileged.ts'

export interface ProbeParts {
  readonly clock: Clock
  readonly limits: () => SandboxLimits
  readonly readLayout: () => Promise<Result<HostLayout, Failure>>
  readonly openFolder: () => Promise<RunFolder>
  readonly workspaceOf: (folder: RunFolder) => string
}

/** Runs `true` with the options that every command gets, in an empty workspace. */
async function tryOut(parts: ProbeParts, layout: HostLayout, limits: SandboxLimits): Promise<Result<null, Failure>> {
  const folder = await parts.openFolder()
  try {
    const workspaceDir = parts.workspaceOf(folder)
    await mkdir(workspaceDir)
    await handOver(workspaceDir)
    const shape = { layout, files: folder.files, workspaceDir, masks: [], binds: [], binaryPath: null, cwd: insidePaths.workspace }
    const ran = await runCommand({ askId: 'probe', text: 'true', shape, pathEntries: [], pipeFolder: folder.path, limits, timeoutMs: sandboxLimits.probeMs, outputBytesMax: 4_096, onOutput: () => undefined }, new AbortController().signal)
    if (!ran.ok) return ran
    if (ran.value.exitCode === 0) return ok(null)
    if (/^prlimit: /m.test(ran.value.logTail)) return err(explainBubblewrap(ran.value.logTail, layout.bwrapPath))
    return err(failure('isolation-unavailable', `A trial run in the sandbox failed (${ran.value.limitHit ?? `exit code ${String(ran.value.exitCode)}`}). ${ran.value.logTail.slice(-500)}`, 'Check again; if it stays so, look at what the trial run said.'))
  } finally {
    await folder.remove()
  }
}

async function report(parts: ProbeParts, limits: SandboxLimits): Promise<IsolationReport> {
  const layout = await parts.readLayout()
  const tried = layout.ok ? await tryOut(parts, layout.value, limits) : layout
  const checkedAt = parts.clock.now()
  if (!tried.ok || !layout.ok) {
    const problem = !tried.ok ? tried.error : failure('internal', 'The system was not looked at.', 'Check again.')
    return { usable: false, level: 'none', summary: problem.message.slice(0, 300), detail: problem.todo, checkedAt, failure: problem }
  }
  const { bwrapPath, bwrapNote } = layout.value
  const version = (await bwrapVersion(bwrapPath)) ?? 'bubblewrap of unknown version'
  const detail = `${version} at ${bwrapPath}${bwrapNote === null ? '' : ` (${bwrapNote})`}. Each command and the coder itself run in namespaces of their own (user, process, network, ipc, host name), without capabilities, under a system-call filter; a trial run passed. Whatever passes a limit is ended, and its row says which.`
  return {
    usable: true, level: 'bubblewrap', checkedAt, failure: null, limits,
    summary: `${version}: no network, no home folder, own processes, read-only system; at most ${limitsInWords(limits)}`,
    detail: isRoot() ? `${detail} The app runs as root; sandboxes run as user ${String(strangerId)}, who owns nothing but the copies that tasks work on.` : detail,
  }
}

/** The port's `probe` on bubblewrap. */
export function createProbe(parts: ProbeParts): () => Promise<IsolationReport> {
  return keptReport(parts.limits, (limits) => report(parts, limits))
}

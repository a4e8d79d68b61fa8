import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err } from '../../../src-preload/contract/result.ts'
import type { IsolationReport, SandboxLimits } from '../../../src-preload/contract/task.ts'
import type { Sandbox } from '../../engine/ports.ts'
import type { SandboxDeps } from './bubblewrap-sandbox.ts'
import { keptReport } from './kept-report.ts'
import { trySeatbelt } from './seatbelt-probe.ts'

const systemSandboxExec = '/usr/bin/sandbox-exec'

/**
 * Why no task runs although a command can be kept in. What the owner approves is bound to paths inside (`/workspace/…`), which macOS cannot give a
 * process; and without a process namespace nothing proves that a stopped run has left nobody.
 */
const blocked = failure('isolation-unavailable', 'On macOS coding tasks are blocked: seatbelt is untested, and neither the paths that approvals are bound to nor the proof of a stop can be had there yet.', 'Run the app on Linux, for example in a virtual machine.')

/**
 * The `Sandbox` port on macOS: looks whether seatbelt keeps a command in on this Mac, says so in Settings, and starts no task. `sandboxExec`: another
 * program than the system's; for tests.
 */
export function createSeatbeltSandbox({ runRoot, limits, clock }: Pick<SandboxDeps, 'runRoot' | 'limits' | 'clock'>, sandboxExec = systemSandboxExec): Sandbox {
  const report = async (inForce: SandboxLimits): Promise<IsolationReport> => {
    const tried = await trySeatbelt({ runRoot, sandboxExec, limits: inForce })
    const why: Failure = tried.ok ? blocked : tried.error
    const seen = tried.ok ? 'A trial run under the profile of a command worked and was kept in; that says something about this Mac, and nothing was ever tested on one.' : 'The profile of a command was tried out.'
    return { usable: false, level: 'seatbelt-untested', summary: why.message.slice(0, 300), detail: `${seen} ${why.todo}`, checkedAt: clock.now(), failure: why }
  }
  return {
    probe: keptReport(limits, report),
    launch: () => Promise.resolve(err(blocked)),
    run: () => Promise.resolve(err(blocked)),
    endOrphans: (recorded) => Promise.resolve({ at: clock.now(), method: 'never-started', checkedProcesses: 0, detail: `No task is ever started here; ${String(recorded.length)} recorded.` }),
  }
}

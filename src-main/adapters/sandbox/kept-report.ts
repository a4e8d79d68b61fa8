import type { IsolationReport, SandboxLimits } from '../../../src-preload/contract/task.ts'
import { sandboxLimits } from './sandbox-limits.ts'

/**
 * The port's `probe`, from what looks at the system under limits: concurrent callers share one look, and its outcome is kept for
 * `probeCachedForMs`, or until the limits are others.
 */
export function keptReport(limitsNow: () => SandboxLimits, look: (limits: SandboxLimits) => Promise<IsolationReport>): () => Promise<IsolationReport> {
  let last: { readonly since: number; readonly limits: string; readonly outcome: Promise<IsolationReport> } | null = null
  return () => {
    const [now, limits] = [performance.now(), limitsNow()]
    const inForce = JSON.stringify(limits)
    if (last !== null && now - last.since < sandboxLimits.probeCachedForMs && last.limits === inForce) return last.outcome
    const mine = { since: now, limits: inForce, outcome: look(limits) }
    last = mine
    // A look that could not even be tried (full disk) must not be remembered.
    mine.outcome.catch(() => { if (last === mine) last = null })
    return mine.outcome
  }
}

import type { Bot, CallId, GrantId, Millis, TaskId } from '../../src-preload/contract/ids.ts'
import { stands } from '../core/approval/standing-grant.ts'
import type { TaskState } from '../core/task/model.ts'
import type { CommandVerdict, CoderRun } from './ports.ts'

/** A command that the owner (or the grant) allowed once: exact text and directory. */
export interface OneUseGrant { readonly text: string; readonly cwd: string; readonly grantId?: GrantId }

/** What the runtime waits for now, since when, and when it tries again. */
export interface LiveWait { readonly for: string; readonly since: Millis; readonly nextTryAt: Millis | null }

/** The live side of one task: its process, open tokens, grants and asks. Gone with the app; never journaled. */
export interface Run {
  readonly taskId: TaskId
  readonly lifetime: AbortController
  coder: CoderRun | null
  /** Counts the processes of this run: only the newest one's signals are taken. */
  process: number
  readonly grants: OneUseGrant[]
  readonly asks: Map<string, (verdict: CommandVerdict) => void>
  readonly tokens: Map<Bot, { readonly token: string; readonly socketPath: string }>
  /** The task's own session and its descendants: whose previews may be shown. */
  readonly sessions: Set<string>
  /** The call that began a descendant session. */
  readonly parentCalls: Map<string, CallId>
  /** Text parts that stream: what was drawn last, and what of it the journal has. */
  readonly texts: Map<string, { readonly text: string; readonly reasoning: boolean; readonly said: string }>
  waiting: LiveWait | null
  /** Calls of Bot B that failed in a row. */
  failedCalls: number
}

/** The live runs, one a task. */
export class Runs {
  readonly #runs = new Map<TaskId, Run>()

  /** The run of a task, made when first asked for. */
  of(taskId: TaskId): Run {
    const known = this.#runs.get(taskId)
    if (known !== undefined) return known
    const run: Run = { taskId, lifetime: new AbortController(), coder: null, process: 0, grants: [], asks: new Map(), tokens: new Map(), sessions: new Set(), parentCalls: new Map(), texts: new Map(), waiting: null, failedCalls: 0 }
    this.#runs.set(taskId, run)
    return run
  }

  peek(taskId: TaskId): Run | undefined {
    return this.#runs.get(taskId)
  }

  all(): readonly Run[] {
    return [...this.#runs.values()]
  }

  /** Ends everything that hangs on a task's run: what was being asked is refused, what runs is aborted. */
  end(taskId: TaskId, reason: string): void {
    const run = this.#runs.get(taskId)
    if (run === undefined) return
    this.#runs.delete(taskId)
    refuseAll(run, reason)
    run.lifetime.abort()
  }
}

/** Whether the run was ended, asked anew each time: it may happen during any wait. */
export function isOver(run: Run): boolean {
  return run.lifetime.signal.aborted
}

/** Whether a standing grant of a task can be used at this moment. */
export function grantStands(state: TaskState | undefined, grantId: GrantId, now: Millis): boolean {
  const record = state?.grants.get(grantId)
  return state !== undefined && record !== undefined && stands(record, state.generation, now)
}

/** Whoever waits at the broker is told no. */
export function refuseAll(run: Run | undefined, reason: string): void {
  for (const answer of run?.asks.values() ?? []) answer({ verdict: 'refuse', reason })
  run?.asks.clear()
}

/**
 * G1. A grant is for one run of exactly these bytes in this directory: it is gone once taken. G4. One that came of a standing grant counts
 * only while that still stands: `stands` is asked at the moment of execution.
 */
export function takeGrant(run: Run, text: string, cwd: string, stands: (grantId: GrantId) => boolean): Run['grants'][number] | null {
  for (;;) {
    const index = run.grants.findIndex((grant) => grant.text === text && grant.cwd === cwd)
    const [taken] = index < 0 ? [] : run.grants.splice(index, 1)
    if (taken === undefined) return null
    if (taken.grantId === undefined || stands(taken.grantId)) return taken
  }
}

import type { Failure } from '../../../src-preload/contract/failure.ts'
import type { Result } from '../../../src-preload/contract/result.ts'
import type { AgentProcess, AgentSpec, Clock, CoderSpec, Ids, Sandbox, Timers } from '../../engine/ports.ts'
import type { KnownVersions } from './known-versions.ts'
import type { Boot } from './launch-config.ts'
import type { LogLine } from './observer.ts'
import type { RefusedCommands } from './refused-commands.ts'
import type { Conversation } from './run.ts'
import type { UsableBinary } from './version-probe.ts'
import type { WriteTurns } from './write-turns.ts'

export interface OpenCodeDeps {
  readonly sandbox: Sandbox
  /** The binary that the owner chose, or the one that ships; null when there is none. Asked at each use. */
  readonly binaryPath: () => string | null
  readonly clock: Clock
  readonly ids: Ids
  readonly timers: Timers
  readonly log: (line: LogLine) => void
  /** The app's own folder for the scripts that `opencode run` needs beside it. */
  readonly filesDir: string
  readonly versions: KnownVersions
}

/** What a start has at hand, whichever way it goes. */
export interface WayParts { readonly deps: OpenCodeDeps; readonly spec: CoderSpec; readonly boot: Boot; readonly binary: UsableBinary; readonly refused: RefusedCommands; readonly turns: WriteTurns }

/** How a task's OpenCode is driven: what is started in its sandbox, and how it is talked to. Binary, isolation, home, broker and stop are the same for all. */
export interface Way {
  readonly launch: Pick<AgentSpec, 'args' | 'env' | 'readyLine' | 'readOnlyFiles'>
  /** Of the run beforehand, for the owner. */
  readonly notes: readonly string[]
  open(agent: AgentProcess, signal: AbortSignal): Promise<Result<Conversation, Failure>>
}

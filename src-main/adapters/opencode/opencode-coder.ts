import { randomBytes, randomInt } from 'node:crypto'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { AgentProcess, Clock, Coder, CoderRun, CoderSignal, CoderSpec, Ids, Sandbox, Timers } from '../../engine/ports.ts'
import { createControlClient } from './control-client.ts'
import { proveIdentity } from './handshake.ts'
import { launchArgs, launchConfig, launchEnvironment, type Boot } from './launch-config.ts'
import { createMessageIds } from './message-ids.ts'
import type { LogLine } from './observer.ts'
import { pause } from './pause.ts'
import { createRefusedCommands, type RefusedCommands } from './refused-commands.ts'
import { openConversation, type Conversation } from './run.ts'
import { prepareStateFolder } from './state-folder.ts'
import { createVersionProbe, type UsableBinary } from './version-probe.ts'

export interface OpenCodeDeps {
  readonly sandbox: Sandbox
  /** The binary that the owner chose, or the one that ships; null when there is none. Asked at each use. */
  readonly binaryPath: () => string | null
  readonly clock: Clock
  readonly ids: Ids
  readonly timers: Timers
  readonly log: (line: LogLine) => void
  /** Inside path of the command broker's client. */
  readonly shellClientPath: string
}

/** 2.5–4.5 s is OpenCode's own, 9 s were seen under load. */
const readyWithinMs = 45_000

/** The `Coder` port on a supervised OpenCode (contracts 4): one process a task, started here, reachable by nobody else. */
export function createOpenCodeCoder(deps: OpenCodeDeps): Coder {
  const probeVersion = createVersionProbe(deps)
  const probe = (): Promise<Result<UsableBinary, Failure>> => probeVersion(deps.binaryPath())
  const mintIds = createMessageIds(deps.ids)
  return { probe, mintIds, start: (spec, signal) => start(deps, probe, spec, signal) }
}

async function start(deps: OpenCodeDeps, probe: () => Promise<Result<UsableBinary, Failure>>, spec: CoderSpec, signal: AbortSignal): Promise<Result<CoderRun, Failure>> {
  const [binary, isolation] = await Promise.all([untilKnown(probe, deps.timers, signal), deps.sandbox.probe()])
  if (!binary.ok) return binary
  if (!isolation.usable) return err(isolation.failure ?? failure('isolation-unavailable', isolation.summary, 'Look at Settings → Isolation.'))
  const boot: Boot = { password: randomBytes(24).toString('base64url'), nonce: `boot-${randomBytes(16).toString('hex')}`, port: randomInt(20_000, 60_000), shellPath: deps.shellClientPath }
  const refused = createRefusedCommands()
  const guarded: CoderSpec = {
    ...spec,
    decideCommand: async (ask, gone) => {
      const reason = refused.take(ask)
      return reason === null ? await spec.decideCommand(ask, gone) : { verdict: 'refuse', reason }
    },
  }
  const launched = await launch(deps, guarded, boot, binary.value, signal)
  if (!launched.ok) return launched
  const agent = launched.value
  const started = await open(deps, spec, boot, binary.value, agent, refused, signal)
  if (started.ok) return ok({ ...started.value, version: binary.value.version, pid: agent.pid, startTime: agent.startTime, isolation })
  await agent.stop()
  return started
}

/**
 * A first look at a binary that is not in memory yet, on a busy machine, can take longer than the probe's bound: the start looks again
 * when the unknown answer has expired, twice.
 */
async function untilKnown(probe: () => Promise<Result<UsableBinary, Failure>>, timers: Timers, signal: AbortSignal): Promise<Result<UsableBinary, Failure>> {
  for (let again = 2; ; again -= 1) {
    const probed = await probe()
    if (probed.ok || probed.error.code !== 'opencode-probe-timeout' || again === 0 || signal.aborted) return probed
    await pause(timers, limits.versionUnknownForMs + 50, signal)
  }
}

async function launch(deps: OpenCodeDeps, spec: CoderSpec, boot: Boot, binary: UsableBinary, signal: AbortSignal): Promise<Result<AgentProcess, Failure>> {
  try {
    await prepareStateFolder(spec.stateDir)
  } catch (cause) {
    return err(failure('workspace-failed', `The agent's private folder could not be prepared: ${cause instanceof Error ? cause.message : String(cause)}.`, 'Check free space and permissions of the app\'s data folder.'))
  }
  return await deps.sandbox.launch({
    label: `coder-${spec.taskId}`, workspaceDir: spec.workspaceDir, stateDir: spec.stateDir, binaryPath: binary.binaryPath, mounts: spec.mounts,
    args: launchArgs(boot), env: launchEnvironment(launchConfig(spec, boot, binary.version), boot, process.env),
    egressSocketPath: spec.egressSocketPath, controlPort: boot.port,
    readyLine: new RegExp(`opencode server listening on http://127\\.0\\.0\\.1:${boot.port}\\b`), readyWithinMs,
    decideCommand: spec.decideCommand, onCommandEnded: spec.onCommandEnded,
    // What it prints may hold task content: a launch failure quotes it, the log does not.
    onLine: () => undefined,
  }, signal)
}

/**
 * Proves identity and opens the event stream, side by side: both wait for the same first instance call. What is observed meanwhile is told
 * only when the start succeeds; of a start that failed, its failure is all there is to tell.
 */
async function open(deps: OpenCodeDeps, spec: CoderSpec, boot: Boot, binary: UsableBinary, agent: AgentProcess, refused: RefusedCommands, signal: AbortSignal): Promise<Result<Conversation, Failure>> {
  const client = createControlClient({ socketPath: agent.controlSocketPath, password: boot.password, timers: deps.timers })
  const log = (line: LogLine): void => { deps.log({ ...line, taskId: spec.taskId }) }
  const early: CoderSignal[] = []
  let tell = (observed: CoderSignal): void => { early.push(observed) }
  const [foreign, conversation] = await Promise.all([
    proveIdentity(client, boot, binary.version),
    openConversation({ client, process: agent, refused, clock: deps.clock, timers: deps.timers, log, onSignal: (observed) => { tell(observed) } }),
  ])
  if (signal.aborted) return err(failure('cancelled', 'The start of the coder was stopped.', 'Nothing to do.'))
  if (foreign !== null) return err(foreign)
  if (!conversation.ok) return conversation
  tell = spec.onSignal
  for (const observed of early) tell(observed)
  return conversation
}

import { randomBytes } from 'node:crypto'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { SandboxLimits } from '../../../src-preload/contract/task.ts'
import { knownVersion } from '../../engine/known-version.ts'
import type { AgentProcess, Coder, CoderRun, CoderSpec } from '../../engine/ports.ts'
import { cliWay } from './cli/cli-way.ts'
import type { Boot } from './launch-config.ts'
import { createMessageIds } from './message-ids.ts'
import { createRefusedCommands } from './refused-commands.ts'
import { serverWay } from './server-way.ts'
import { prepareStateFolder } from './state-folder.ts'
import { createVersionProbe, type UsableBinary } from './version-probe.ts'
import type { OpenCodeDeps, Way, WayParts } from './way.ts'
import { createWriteTurns, decidedInTurn } from './write-turns.ts'

/** 2.5–4.5 s is OpenCode's own, 9 s were seen under load. */
const readyWithinMs = 45_000

/** The `Coder` port on a supervised OpenCode (contracts 4): one process a task, started here, reachable by nobody else. */
export function createOpenCodeCoder(deps: OpenCodeDeps): Coder {
  const probeVersion = createVersionProbe(deps)
  const probe = (): Promise<Result<UsableBinary, Failure>> => probeVersion(deps.binaryPath())
  const mintIds = createMessageIds(deps.ids)
  const looked: Looked = { probe, forget: probeVersion.forget }
  return { probe, mintIds, start: (spec, signal) => start(deps, looked, spec, signal) }
}

interface Looked { readonly probe: () => Promise<Result<UsableBinary, Failure>>; readonly forget: (binaryPath: string) => Promise<void> }

async function start(deps: OpenCodeDeps, { probe, forget }: Looked, spec: CoderSpec, signal: AbortSignal): Promise<Result<CoderRun, Failure>> {
  const [binary, isolation] = await Promise.all([knownVersion(probe, deps.timers, signal), deps.sandbox.probe()])
  if (!binary.ok) return binary
  if (!isolation.usable) return err(isolation.failure ?? failure('isolation-unavailable', isolation.summary, 'Look at Settings → Isolation.'))
  const places = await deps.sandbox.places(spec)
  if (!places.ok) return places
  const boot: Boot = { password: randomBytes(24).toString('base64url'), nonce: `boot-${randomBytes(16).toString('hex')}`, port: places.value.controlPort, places: places.value }
  const parts = { deps, spec, boot, binary: binary.value, refused: createRefusedCommands(), turns: createWriteTurns() }
  const way = spec.runtime === 'opencode-run' ? await cliWay(parts) : ok(serverWay(parts))
  if (!way.ok) return way
  const launched = await launch(parts, way.value, isolation.limits, signal)
  if (!launched.ok) return launched
  const agent = launched.value
  const opened = await way.value.open(agent, signal)
  if (opened.ok) return ok({ ...opened.value, version: binary.value.version, pid: agent.pid, startTime: agent.startTime, isolation, notes: way.value.notes })
  // It may be that it is another version than the one that was remembered: it is asked anew, unless the start was only stopped.
  await Promise.all([agent.stop(), ...(opened.error.code === 'cancelled' ? [] : [forget(binary.value.binaryPath)])])
  return opened
}

async function launch({ deps, spec, boot, binary, refused, turns }: WayParts, way: Way, sandboxLimits: SandboxLimits | undefined, signal: AbortSignal): Promise<Result<AgentProcess, Failure>> {
  try {
    await prepareStateFolder(spec.stateDir)
  } catch (cause) {
    return err(failure('workspace-failed', `The agent's private folder could not be prepared: ${cause instanceof Error ? cause.message : String(cause)}.`, 'Check free space and permissions of the app\'s data folder.'))
  }
  return await deps.sandbox.launch({
    label: `coder-${spec.taskId}`, places: boot.places, workspaceDir: spec.workspaceDir, stateDir: spec.stateDir, binaryPath: binary.binaryPath, mounts: spec.mounts, limits: sandboxLimits,
    ...way.launch, egressSocketPath: spec.egressSocketPath, controlPort: boot.port, readyWithinMs,
    decideCommand: async (ask, gone) => {
      const reason = refused.take(ask)
      return reason === null ? await decidedInTurn(turns, ask.askId, gone, () => spec.decideCommand(ask, gone), (waitsFor) => { spec.onWriteWait({ of: { is: 'command', askId: ask.askId, text: ask.text }, for: waitsFor }) }) : { verdict: 'refuse', reason }
    },
    onCommandEnded: (run) => { turns.commandEnded(run.askId); spec.onCommandEnded(run) },
    // What it prints may hold task content: a launch failure quotes it, the log does not.
    onLine: () => undefined,
  }, signal)
}

import { lstat, mkdir, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { SandboxLimits, StopProof } from '../../../src-preload/contract/task.ts'
import type { AgentPlaces, AgentProcess, AgentSpec, Clock, Ids } from '../../engine/ports.ts'
import { controlSocketProblem, followOutput, launchEnvironment, noProxy, notReady, untilReady } from './agent-start.ts'
import { openBroker, type Broker } from './command-broker.ts'
import { listedStart, listProcesses, useOfListed } from './listed-processes.ts'
import { agentBounds, watchResources } from './resource-watch.ts'
import type { RunFolder } from './run-folder.ts'
import { sandboxLimits } from './sandbox-limits.ts'
import type { BridgeOrder } from './scripts.ts'
import type { SeatbeltGround } from './seatbelt-ground.ts'
import { keeperShell, startKept, type Kept } from './seatbelt-keeper.ts'
import { seatbeltAgentProfile } from './seatbelt-profile.ts'
import { cannotStart, kernelBounds, runSeatbelt } from './seatbelt-run.ts'

/** What a launch stands on; paths of the spec are real already. */
export interface SeatbeltLaunchParts {
  readonly clock: Clock
  readonly ids: Ids
  readonly sandboxExec: string
  readonly ground: SeatbeltGround
  readonly folder: RunFolder
  readonly places: AgentPlaces
  readonly egressPort: number
  /** Programs beside OpenCode that the agent may start. */
  readonly programs: readonly string[]
  readonly limits: SandboxLimits
}

const appOf = (folder: RunFolder): { readonly bunConfig: string; readonly bridge: string; readonly shell: string } => ({ bunConfig: join(folder.files.app, 'bunfig.toml'), bridge: join(folder.files.app, 'bridge.js'), shell: join(folder.files.app, 'shell') })

function openCommandBroker(spec: AgentSpec, { folder, ground, ids, limits, sandboxExec }: SeatbeltLaunchParts): Promise<Broker> {
  const { shape, pathEntries } = ground
  return openBroker({
    socketPath: folder.brokerSocket, workspaceDir: shape.workspaceDir, workspaceInside: shape.workspaceDir, mountedFolders: [], ids, decide: spec.decideCommand, onEnded: spec.onCommandEnded,
    run: (ask, onOutput, signal) => runSeatbelt({
      askId: ask.askId, text: ask.text, cwd: ask.cwd, hostCwd: hostFolder(shape.workspaceDir, ask.cwd), sandboxExec, limits, runFolder: folder.path, timeoutMs: sandboxLimits.commandMs, outputBytesMax: sandboxLimits.commandOutputBytesMax, onOutput,
      shape: { ...shape, readOnly: [...shape.readOnly, spec.binaryPath, folder.files.tools] }, pathEntries: [...pathEntries, folder.files.tools],
    }, signal),
  })
}

/** A directory that the broker or the host has looked at: a plain path below the workspace, as the room names it. */
export const hostFolder = (workspaceDir: string, cwd: string): string => join(workspaceDir, ...cwd.split('/').slice(2))

async function start(spec: AgentSpec, egressSocket: string, parts: SeatbeltLaunchParts): Promise<Kept> {
  const { folder, ground, places, egressPort } = parts
  const app = appOf(folder)
  const order: BridgeOrder = { egress: { port: egressPort, path: egressSocket }, control: { port: spec.controlPort, path: folder.controlSocketInside }, cwd: ground.shape.workspaceDir }
  return startKept({
    sandboxExec: parts.sandboxExec, cwd: folder.files.app, env: launchEnvironment(spec, folder.files.app), output: 'pipe', bounds: await kernelBounds(parts.limits, false), folder: folder.path,
    command: [spec.binaryPath, `--config=${app.bunConfig}`, app.bridge, JSON.stringify(order), spec.binaryPath, ...spec.args],
    profile: seatbeltAgentProfile({
      ...ground.shape, stateDir: spec.stateDir, temporaryDir: places.temporary, appDir: folder.files.app, controlDir: folder.controlDir, controlSocket: folder.controlSocketInside, hostSockets: [folder.brokerSocket, egressSocket],
      programs: [spec.binaryPath, app.shell, keeperShell, ...parts.programs], ports: [egressPort, spec.controlPort],
    }),
  })
}

/** Ends everything once: agent, broker, commands; then proves it and tidies up. Rejects where there is no proof: then nothing is tidied up either. */
function ending(parts: SeatbeltLaunchParts, broker: Broker, kept: Kept): () => Promise<StopProof> {
  let ended: Promise<StopProof> | null = null
  const end = async (): Promise<StopProof> => {
    kept.end()
    await broker.close()
    await kept.ended
    if (!(await kept.provenEmpty())) throw new Error('The coder was killed, but it is not proven that nobody of it is left: its keeper under seatbelt did not have the last word.')
    const checked = (await listProcesses()).length
    const empty = 'The last process in the coder\'s seatbelt sandbox reached nobody else of it, and its process group is empty; all commands of this run ended before.'
    const detail = await parts.folder.remove().then(() => empty, (error: unknown) => `${empty} Left behind: ${(error instanceof Error ? error.message : String(error)).slice(0, 190)}`)
    return { at: parts.clock.now(), method: 'seatbelt-empty', checkedProcesses: checked, detail }
  }
  return () => (ended ??= end())
}

/** The time at which its keeper began, once it is ready and its socket is what it should be. */
async function settle(spec: AgentSpec, parts: SeatbeltLaunchParts, kept: Kept, signal: AbortSignal): Promise<Result<string, Failure>> {
  const output = followOutput(spec, kept.child)
  const { pid } = kept.child
  const startTime = pid === undefined ? null : await listedStart(pid)
  const outcome = await untilReady(output.ready, spec.readyWithinMs, signal)
  if (outcome === 'ready' && startTime !== null) {
    const problem = await controlSocketProblem(parts.folder)
    return problem === null ? ok(startTime) : err(problem)
  }
  const ended = outcome === 'ended' ? await kept.ended : null
  return err(ended instanceof Error ? cannotStart(ended) : notReady(outcome === 'ready' ? 'ended' : outcome, spec, output.lastWords()))
}

/** Starts the agent and its broker; waits for the ready line. On failure nothing is left running and everything is tidied up. */
export async function launchSeatbeltAgent(spec: AgentSpec, parts: SeatbeltLaunchParts, signal: AbortSignal): Promise<Result<AgentProcess, Failure>> {
  const egressSocket = join(await realpath(dirname(spec.egressSocketPath)).catch(() => dirname(spec.egressSocketPath)), basename(spec.egressSocketPath))
  if ((await lstat(egressSocket).catch(() => null))?.isSocket() !== true) {
    await parts.folder.remove()
    return err(noProxy)
  }
  await mkdir(parts.places.temporary, { mode: 0o700 })
  const broker = await openCommandBroker(spec, parts)
  const kept = await start(spec, egressSocket, parts).catch(async (error: unknown) => { await broker.close(); await parts.folder.remove(); throw error })
  const end = ending(parts, broker, kept)
  const started = await settle(spec, parts, kept, signal).catch(async (error: unknown) => { await end(); throw error })
  if (!started.ok) {
    await end()
    return started
  }
  const pid = kept.child.pid ?? -1
  let stopped: { readonly limitHit: string | null } | null = null
  const stop = (limitHit: string | null): void => { stopped ??= { limitHit }; kept.end() }
  const resources = watchResources({ use: async () => useOfListed(await listProcesses(), pid), workspaceDir: parts.ground.shape.workspaceDir, bounds: agentBounds(parts.limits), everyMs: sandboxLimits.listedEveryMs }, stop)
  const exited = kept.ended.then((code) => {
    resources.end()
    const whole = stopped === null && typeof code === 'number'
    return { code: whole ? code : null, signal: whole ? null : 'SIGKILL', limitHit: stopped?.limitHit ?? null }
  })
  // An agent that ends by itself is proven gone and tidied up as well; whoever asks by stop() gets that very outcome, failed or not.
  exited.then(end).catch(() => undefined)
  return ok({ controlSocketPath: parts.folder.controlSocket, pid, startTime: started.value, exited, stop: () => { stopped ??= { limitHit: null }; return end() } })
}

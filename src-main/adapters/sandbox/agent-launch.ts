import { lstat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { SandboxLimits, StopProof } from '../../../src-preload/contract/task.ts'
import type { AgentProcess, AgentSpec, Clock, Ids } from '../../engine/ports.ts'
import { controlSocketProblem, followOutput, launchEnvironment, noProxy, notReady as notReadyWords, untilReady, type Outcome } from './agent-start.ts'
import { agentArguments, limitedAgent, type Bind, type Mask } from './bubblewrap-arguments.ts'
import { explainBubblewrap } from './bubblewrap-failures.ts'
import { endBubblewrap, startBubblewrap, type BubblewrapProcess, type StartProblem } from './bubblewrap-process.ts'
import type { MountPlan } from './chosen-mounts.ts'
import { openBroker, type Broker } from './command-broker.ts'
import { runCommand } from './command-run.ts'
import type { HostLayout } from './host-layout.ts'
import { egressPort, insidePaths } from './inside-paths.ts'
import { agentBounds, useOf, watchResources } from './resource-watch.ts'
import type { RunFolder } from './run-folder.ts'
import { sandboxLimits } from './sandbox-limits.ts'
import type { BridgeOrder } from './scripts.ts'
import { handOver } from './unprivileged.ts'

/** What a launch stands on; `workspaceDir` and `stateDir` of the spec are resolved already. */
export interface LaunchParts {
  readonly clock: Clock
  readonly ids: Ids
  readonly layout: HostLayout
  readonly folder: RunFolder
  readonly plan: MountPlan
  readonly masks: readonly Mask[]
  /** Of the agent, and of each of its commands for as long as it lives. */
  readonly limits: SandboxLimits
  /** Takes away what the launch needed; called once, when nobody is left inside. */
  readonly tidy: () => Promise<void>
}

function launchCommand(spec: AgentSpec): readonly string[] {
  const order: BridgeOrder = { egress: { port: egressPort, path: `${insidePaths.egressFolder}/${basename(spec.egressSocketPath)}` }, control: { port: spec.controlPort, path: insidePaths.controlSocket }, cwd: insidePaths.workspace }
  return [insidePaths.openCode, `--config=${insidePaths.bunConfig}`, insidePaths.bridge, JSON.stringify(order), insidePaths.openCode, ...spec.args]
}

function openCommandBroker(spec: AgentSpec, parts: LaunchParts): Promise<Broker> {
  const { layout, folder, plan, masks, limits } = parts
  return openBroker({
    socketPath: folder.brokerSocket, workspaceDir: spec.workspaceDir, workspaceInside: insidePaths.workspace, mountedFolders: plan.dependencyFolders, ids: parts.ids, decide: spec.decideCommand, onEnded: spec.onCommandEnded,
    run: (ask, onOutput, signal) => runCommand({
      askId: ask.askId, text: ask.text, pathEntries: plan.pathEntries, pipeFolder: folder.path, limits, timeoutMs: sandboxLimits.commandMs, outputBytesMax: sandboxLimits.commandOutputBytesMax, onOutput,
      shape: { layout, files: folder.files, workspaceDir: spec.workspaceDir, masks, binds: [...plan.dependencies, ...plan.toolchains], binaryPath: spec.binaryPath, cwd: ask.cwd },
    }, signal),
  })
}

/** bwrap's own words mean that not even the sandbox was made; anything else comes from the program inside. */
function notReady(outcome: Exclude<Outcome, 'ready'>, spec: AgentSpec, words: string, bwrapPath: string): Failure {
  return outcome === 'ended' && /^bwrap: /m.test(words) ? explainBubblewrap(words, bwrapPath) : notReadyWords(outcome, spec, words)
}

/** With `output: 'pipe'` the start reads bwrap's complaint itself. */
function withoutOutput(problem: StartProblem, bwrapPath: string): Failure {
  return problem === 'complained' ? explainBubblewrap('', bwrapPath) : problem
}

/** Ends everything once: broker, commands, agent; then proves it and tidies up. */
function ending(parts: LaunchParts, broker: Broker, running: BubblewrapProcess): () => Promise<StopProof> {
  let ended: Promise<StopProof> | null = null
  const end = async (): Promise<StopProof> => {
    running.kill()
    await broker.close()
    const seen = await endBubblewrap(running)
    if (!seen.empty) throw new Error(`${seen.left.length} processes of the sandbox are still there after SIGKILL (${seen.left.slice(0, 5).join(', ')})`)
    // What cannot be tidied up takes nothing away from the proof.
    const empty = `Nobody is left in ${running.namespace.name}; all command sandboxes of this run ended before.`
    const detail = await parts.tidy().then(() => empty, (error: unknown) => `${empty} Left behind: ${(error instanceof Error ? error.message : String(error)).slice(0, 190)}`)
    return { at: parts.clock.now(), method: 'pid-namespace-empty', checkedProcesses: seen.checked, detail }
  }
  return () => (ended ??= end())
}

function filesOfTheApp({ readOnlyFiles = [] }: AgentSpec): readonly Bind[] {
  return readOnlyFiles.map(({ hostPath, into }) => ({ from: hostPath, into, write: false }))
}

/** Starts the agent and its broker; waits for the ready line. On failure nothing is left running and everything is tidied up. */
export async function launchAgent(spec: AgentSpec, parts: LaunchParts, signal: AbortSignal): Promise<Result<AgentProcess, Failure>> {
  const proxy = await lstat(spec.egressSocketPath).catch(() => null)
  if (proxy?.isSocket() !== true) {
    await parts.tidy()
    return err(noProxy)
  }
  const broker = await openCommandBroker(spec, parts)
  for (const path of [spec.stateDir, dirname(spec.egressSocketPath), parts.folder.brokerSocket]) await handOver(path)
  const started = await startBubblewrap({
    layout: parts.layout, command: limitedAgent(parts.layout, parts.limits, launchCommand(spec)), env: launchEnvironment(spec, insidePaths.app), output: 'pipe', runFolder: parts.folder.path,
    options: agentArguments({
      layout: parts.layout, files: parts.folder.files, workspaceDir: spec.workspaceDir, stateDir: spec.stateDir, binaryPath: spec.binaryPath, binds: [...parts.plan.dependencies, ...filesOfTheApp(spec)], masks: parts.masks,
      egressSocketPath: spec.egressSocketPath, brokerSocketPath: parts.folder.brokerSocket, controlDir: parts.folder.controlDir,
    }),
  })
  if (!started.ok) {
    await broker.close()
    await parts.tidy()
    return err(withoutOutput(started.error, parts.layout.bwrapPath))
  }
  const running = started.value
  const end = ending(parts, broker, running)
  try {
    const output = followOutput(spec, running.child)
    const outcome = await untilReady(output.ready, spec.readyWithinMs, signal)
    const problem = outcome === 'ready' ? await controlSocketProblem(parts.folder) : notReady(outcome, spec, output.lastWords(), parts.layout.bwrapPath)
    if (problem !== null) {
      await end()
      return err(problem)
    }
  } catch (error) {
    await end()
    throw error
  }
  let limitHit: string | null = null
  const resources = watchResources({ use: () => useOf(running.pid, parts.limits.memoryBytesMax), workspaceDir: spec.workspaceDir, bounds: agentBounds(parts.limits), everyMs: sandboxLimits.agentWatchedEveryMs }, (why) => { limitHit = why; running.kill() })
  const exited = running.exited.then((exit) => { resources.end(); return { ...exit, limitHit } })
  // An agent that ends by itself is proven gone and tidied up as well; whoever asks by stop() gets that very outcome, failed or not.
  exited.then(end).catch(() => undefined)
  return ok({ controlSocketPath: parts.folder.controlSocket, pid: running.pid, startTime: running.startTime, exited, stop: end })
}

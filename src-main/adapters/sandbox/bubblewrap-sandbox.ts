import { mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { SandboxLimits } from '../../../src-preload/contract/task.ts'
import type { AgentProcess, AgentSpec, Clock, CommandRun, CommandSpec, Ids, Sandbox } from '../../engine/ports.ts'
import { launchAgent } from './agent-launch.ts'
import type { Bind } from './bubblewrap-arguments.ts'
import { isFreePlace } from './chosen-mounts.ts'
import { runCommand } from './command-run.ts'
import { agentPlaces } from './inside-paths.ts'
import { endRecorded } from './orphans.ts'
import { createProbe } from './probe.ts'
import { createGrounds, realFolder, type Grounds } from './sandbox-ground.ts'
import { directoryObjection } from './working-directory.ts'

export interface SandboxDeps {
  /** Another bwrap than the system's; nothing else is looked for then. */
  readonly bwrapPath?: string
  /** The bwrap that ships with the app, for systems that have none. */
  readonly bundledBwrapPath?: string
  /** Private folder for the sockets and scripts of running sandboxes; made when missing. */
  readonly runRoot: string
  /** OpenCode's binary, which is also the `bun` of commands. Asked at each use, since the owner may choose another. */
  readonly openCodeBinary: () => string
  /** What sandboxes may use on this machine. Asked at each use, since the owner may change it. */
  readonly limits: () => SandboxLimits
  readonly clock: Clock
  readonly ids: Ids
}

const diskFailure = (error: Error): Failure =>
  failure('sandbox-failed', `The sandbox's files could not be prepared (${error.message}).`, 'Check that the disk is not full and that the app\'s data folder can be written to.')

/** Turns what the disk refuses into a value; anything else is a bug and goes on. */
export async function fromDisk<T>(work: () => Promise<Result<T, Failure>>): Promise<Result<T, Failure>> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return err(diskFailure(error))
    throw error
  }
}

/** A binary's real path. */
export async function realBinary(path: string): Promise<Result<string, Failure>> {
  const real = await realpath(path).catch(() => null)
  return real === null ? err(failure('opencode-missing', 'The chosen OpenCode does not exist.', 'Choose another in Settings → Runtimes, or reinstall the app.')) : ok(real)
}

const notFree = (into: string): Failure => failure('sandbox-failed', `“${into}” belongs to the sandbox and cannot be mounted over.`, 'Report this as a fault of the app.')

async function extraFolders(wanted: CommandSpec['readOnly']): Promise<Result<readonly Bind[], Failure>> {
  const binds: Bind[] = []
  for (const { hostPath, into } of wanted) {
    if (!isFreePlace(into)) return err(notFree(into))
    const real = await realFolder(hostPath, 'A folder that the command needs')
    if (!real.ok) return real
    binds.push({ from: real.value, into, write: false })
  }
  return ok(binds)
}

/** What the command's variables say of the folders that it reads. */
const namedFolders = (folders: CommandSpec['readOnly']): Readonly<Record<string, string>> => Object.fromEntries(folders.flatMap(({ variable, into }) => (variable === undefined ? [] : [[variable, into] as const])))

async function launch(deps: SandboxDeps, grounds: Grounds, spec: AgentSpec, signal: AbortSignal): Promise<Result<AgentProcess, Failure>> {
  if (signal.aborted) return err(failure('cancelled', 'The start of the coder was stopped.', 'Nothing to do.'))
  const binary = await realBinary(spec.binaryPath)
  if (!binary.ok) return binary
  for (const { into } of spec.readOnlyFiles ?? []) if (!isFreePlace(into)) return err(notFree(into))
  await mkdir(spec.stateDir, { recursive: true, mode: 0o700 })
  const stateDir = await realFolder(spec.stateDir, 'The task\'s private folder')
  if (!stateDir.ok) return stateDir
  const ground = await grounds.prepare(spec.workspaceDir, spec.mounts)
  if (!ground.ok) return ground
  const { workspaceDir, tidy } = ground.value
  return launchAgent({ ...spec, binaryPath: binary.value, stateDir: stateDir.value, workspaceDir }, { ...ground.value, limits: spec.limits ?? deps.limits(), clock: deps.clock, ids: deps.ids }, signal)
    .catch(async (error: unknown) => { await tidy(); throw error })
}

async function run(deps: SandboxDeps, grounds: Grounds, spec: CommandSpec, signal: AbortSignal): Promise<Result<CommandRun, Failure>> {
  const binary = await realBinary(deps.openCodeBinary())
  if (!binary.ok) return binary
  const extra = await extraFolders(spec.readOnly)
  if (!extra.ok) return extra
  const ground = await grounds.prepare(spec.workspaceDir, spec.mounts)
  if (!ground.ok) return ground
  const { layout, folder, workspaceDir, plan, masks, tidy } = ground.value
  try {
    const objection = await directoryObjection(workspaceDir, plan.dependencyFolders, spec.cwd)
    if (objection !== null) return err(failure('command-refused', `The command was not run: ${objection}.`, 'Start it in a folder of the workspace.'))
    return await runCommand({
      askId: deps.ids.next('ask'), text: spec.text, pathEntries: plan.pathEntries, named: namedFolders(spec.readOnly), pipeFolder: folder.path, limits: deps.limits(), timeoutMs: spec.timeoutMs, outputBytesMax: spec.outputBytesMax, onOutput: () => undefined,
      shape: { layout, files: folder.files, workspaceDir, masks, binds: [...plan.dependencies, ...plan.toolchains, ...extra.value], binaryPath: binary.value, cwd: spec.cwd },
    }, signal)
  } finally {
    await tidy()
  }
}

/**
 * The `Sandbox` port on bubblewrap (Linux).
 * `AgentProcess.stop` and `endOrphans` reject when processes survive SIGKILL: then there is no proof, and the task must not count as stopped.
 */
export function createBubblewrapSandbox(deps: SandboxDeps): Sandbox {
  const grounds = createGrounds(deps.runRoot, deps)
  const probe = createProbe({ clock: deps.clock, limits: deps.limits, readLayout: () => grounds.readLayout(), openFolder: () => grounds.openFolder(), workspaceOf: (folder) => join(folder.path, 'probe') })
  /** Before each run: what worked at the start may have been taken away since. */
  const whenUsable = <T>(work: () => Promise<Result<T, Failure>>): Promise<Result<T, Failure>> => fromDisk(async () => {
    const report = await probe()
    return report.usable ? await work() : err(report.failure ?? failure('isolation-unavailable', report.summary, 'Look at Settings → Isolation.'))
  })
  return {
    probe,
    places: () => Promise.resolve(ok(agentPlaces())),
    launch: (spec, signal) => whenUsable(() => launch(deps, grounds, spec, signal)),
    run: (spec, signal) => whenUsable(() => run(deps, grounds, spec, signal)),
    async endOrphans(recorded) {
      const proof = await endRecorded(recorded, () => deps.clock.now())
      await grounds.sweep()
      return proof
    },
  }
}

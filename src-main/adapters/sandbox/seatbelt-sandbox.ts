import { access, constants, mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { IsolationReport, SandboxLimits } from '../../../src-preload/contract/task.ts'
import type { AgentPlaces, AgentProcess, AgentSpec, CommandRun, CommandSpec, Sandbox } from '../../engine/ports.ts'
import { fromDisk, realBinary, type SandboxDeps } from './bubblewrap-sandbox.ts'
import { keptReport } from './kept-report.ts'
import { limitsInWords } from './limits-in-words.ts'
import { freePort } from './loopback-port.ts'
import { realFolder } from './sandbox-ground.ts'
import { createSeatbeltFolders, type SeatbeltFolders } from './seatbelt-folders.ts'
import { namedFolders, prepareSeatbelt } from './seatbelt-ground.ts'
import { hostFolder, launchSeatbeltAgent } from './seatbelt-launch.ts'
import { endSeatbeltOrphans } from './seatbelt-orphans.ts'
import { trySeatbelt } from './seatbelt-probe.ts'
import { notProven, runSeatbelt } from './seatbelt-run.ts'
import { isRoot } from './unprivileged.ts'
import { directoryObjection } from './working-directory.ts'

/** For tests: another program than the system's, and whether the app counts as root. */
export interface SeatbeltOptions { readonly sandboxExec: string; readonly asRoot: boolean }

const searchFolders = ['/opt/homebrew/bin', '/usr/local/bin', '/usr/bin'] as const

/** Real path of the program that OpenCode searches with; without it OpenCode tries to download one. */
async function searchProgram(): Promise<string | null> {
  for (const folder of searchFolders) {
    const path = join(folder, 'rg')
    if (await access(path, constants.X_OK).then(() => true, () => false)) return realpath(path)
  }
  return null
}

const noSearch = failure('isolation-unavailable', 'ripgrep (rg), which the coder searches with, is not installed, so nothing can be run safely.', 'Install it (brew install ripgrep), then check again.')
const notAsRoot = failure('isolation-unavailable', 'On macOS no task runs while the app runs as root: a sandbox would run as root, too.', 'Start the app as an ordinary account.')
const wrongPlaces = failure('internal', 'The coder was to be started at places that were not made for it.', 'Report this as a fault of the app.')

/** What was chosen for one launch, when its places were told. */
interface Chosen { readonly path: string; readonly egressPort: number }

/** What a report says of a Mac on which the trials passed. On macOS this is untested: nobody ever ran it on one. */
function passed(limits: SandboxLimits, checkedAt: number): IsolationReport {
  return {
    usable: true, level: 'seatbelt-untested', checkedAt, failure: null, limits,
    summary: `macOS seatbelt, untested: it was written without a Mac. No network, no home folder, read-only system; at most ${limitsInWords(limits)}, of which memory and processes are only looked at`,
    detail: 'Trial runs under the profiles of a command and of the coder worked and were kept in on this Mac; more than that was never tested on one. The coder and each command run under a profile of their own, at their real paths. The coder reaches two ports of this machine, its own and the model proxy\'s, which other programs of yours can reach as well (both ask for a password); a command reaches none. A stop is proven by the last process inside, which reaches all others of its sandbox. Memory, processes and processor time are looked at once a second: what is used between two looks is not bounded, memory that processes share counts for each, threads do not count, and who leaves its process group and its parent is not found. The kernel keeps the size of a file, the processor time of each process, and your processes in all.',
  }
}

/** What the port's methods work with. */
interface Work {
  readonly deps: SandboxDeps
  readonly options: SeatbeltOptions
  readonly folders: SeatbeltFolders
  readonly chosen: WeakMap<AgentPlaces, Chosen>
  /** Binaries with which the agent's trial has passed: it starts OpenCode's binary, which takes a while, so it is not made again until the app starts anew. */
  readonly passedFor: Set<string>
}

async function tryOut({ deps, options, folders, passedFor }: Work, limits: SandboxLimits): Promise<Result<null, Failure>> {
  if (options.asRoot) return err(notAsRoot)
  if ((await searchProgram()) === null) return err(noSearch)
  const binary = await realBinary(deps.openCodeBinary())
  if (!binary.ok) return binary
  const tried = await trySeatbelt({ runRoot: await folders.root(), sandboxExec: options.sandboxExec, limits, openCode: passedFor.has(binary.value) ? null : binary.value })
  if (tried.ok) passedFor.add(binary.value)
  return tried
}

async function look(work: Work, limits: SandboxLimits): Promise<IsolationReport> {
  const tried = await tryOut(work, limits)
  const checkedAt = work.deps.clock.now()
  return tried.ok ? passed(limits, checkedAt) : { usable: false, level: 'seatbelt-untested', summary: tried.error.message.slice(0, 300), detail: `The sandbox of macOS is untested: it was written without a Mac. ${tried.error.todo}`, checkedAt, failure: tried.error }
}

async function places({ folders, chosen }: Work, { workspaceDir, stateDir }: Pick<AgentSpec, 'workspaceDir' | 'stateDir'>): Promise<Result<AgentPlaces, Failure>> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 })
  const [workspace, home] = [await realFolder(workspaceDir, 'The task\'s workspace'), await realFolder(stateDir, 'The task\'s private folder')]
  if (!workspace.ok) return workspace
  if (!home.ok) return home
  const [path, egressPort, controlPort] = [await folders.next(), await freePort(), await freePort()]
  const told: AgentPlaces = { workspace: workspace.value, home: home.value, temporary: join(path, 'tmp'), shell: join(path, 'app', 'shell'), proxyBaseUrl: `http://127.0.0.1:${String(egressPort)}/v1`, controlPort, searchPath: [...searchFolders, '/bin'].join(':') }
  chosen.set(told, { path, egressPort })
  return ok(told)
}

async function launch({ deps, options, folders, chosen }: Work, spec: AgentSpec, signal: AbortSignal): Promise<Result<AgentProcess, Failure>> {
  if (signal.aborted) return err(failure('cancelled', 'The start of the coder was stopped.', 'Nothing to do.'))
  const mine = spec.places === undefined ? undefined : chosen.get(spec.places)
  if (spec.places === undefined || mine === undefined || (spec.readOnlyFiles ?? []).length > 0) return err(wrongPlaces)
  chosen.delete(spec.places)
  const [binary, search] = [await realBinary(spec.binaryPath), await searchProgram()]
  if (!binary.ok) return binary
  const ground = await prepareSeatbelt(spec.workspaceDir, spec.mounts, [await folders.root()], [])
  if (!ground.ok) return ground
  const folder = await folders.open(mine.path, binary.value)
  const parts = { clock: deps.clock, ids: deps.ids, sandboxExec: options.sandboxExec, ground: ground.value, folder, places: spec.places, egressPort: mine.egressPort, programs: search === null ? [] : [search], limits: spec.limits ?? deps.limits() }
  return launchSeatbeltAgent({ ...spec, binaryPath: binary.value, stateDir: spec.places.home, workspaceDir: spec.places.workspace }, parts, signal)
}

async function run({ deps, options, folders }: Work, spec: CommandSpec, signal: AbortSignal): Promise<Result<CommandRun, Failure>> {
  const binary = await realBinary(deps.openCodeBinary())
  if (!binary.ok) return binary
  const read = await namedFolders(spec.readOnly)
  if (!read.ok) return read
  const ground = await prepareSeatbelt(spec.workspaceDir, spec.mounts, [await folders.root()], read.value.readOnly)
  if (!ground.ok) return ground
  const { shape, pathEntries } = ground.value
  const objection = await directoryObjection(shape.workspaceDir, [], spec.cwd)
  if (objection !== null) return err(failure('command-refused', `The command was not run: ${objection}.`, 'Start it in a folder of the workspace.'))
  const folder = await folders.open(await folders.next(), binary.value)
  const ran = await runSeatbelt({
    askId: deps.ids.next('ask'), text: spec.text, cwd: spec.cwd, hostCwd: hostFolder(shape.workspaceDir, spec.cwd), named: read.value.named, sandboxExec: options.sandboxExec, limits: deps.limits(), runFolder: folder.path, timeoutMs: spec.timeoutMs, outputBytesMax: spec.outputBytesMax, onOutput: () => undefined,
    shape: { ...shape, readOnly: [...shape.readOnly, binary.value, folder.files.tools] }, pathEntries: [...pathEntries, folder.files.tools],
  }, signal)
  // What is not proven to have ended keeps its folder: the next start of the app looks there.
  if (ran.ok || ran.error !== notProven) await folder.remove()
  return ran
}

/** The `Sandbox` port on macOS. Code complete, and never tested on a Mac: the reports say so. `AgentProcess.stop` and `endOrphans` reject where there is no proof. */
export function createSeatbeltSandbox(deps: SandboxDeps, options: SeatbeltOptions = { sandboxExec: '/usr/bin/sandbox-exec', asRoot: isRoot() }): Sandbox {
  const work: Work = { deps, options, folders: createSeatbeltFolders(deps.runRoot), chosen: new WeakMap(), passedFor: new Set() }
  const probe = keptReport(deps.limits, (limits) => look(work, limits))
  /** Before each run: what worked at the start may have been taken away since. */
  const whenUsable = <T>(act: () => Promise<Result<T, Failure>>): Promise<Result<T, Failure>> => fromDisk(async () => {
    const report = await probe()
    return report.usable ? await act() : err(report.failure ?? failure('isolation-unavailable', report.summary, 'Look at Settings → Isolation.'))
  })
  return {
    probe,
    places: (at) => whenUsable(() => places(work, at)),
    launch: (spec, signal) => whenUsable(() => launch(work, spec, signal)),
    run: (spec, signal) => whenUsable(() => run(work, spec, signal)),
    endOrphans: async (recorded) => endSeatbeltOrphans(recorded, await work.folders.root(), work.folders.inUse, () => deps.clock.now()),
  }
}

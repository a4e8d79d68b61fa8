import { link, lstat, realpath, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { SandboxLimits, StopProof } from '../../../src-preload/contract/task.ts'
import type { Clock, VendorProcess, VendorSandbox, VendorSpec } from '../../engine/ports.ts'
import { limitedVendor, vendorArguments, type Bind } from './bubblewrap-arguments.ts'
import { explainBubblewrap } from './bubblewrap-failures.ts'
import { endBubblewrap, startBubblewrap, type BubblewrapProcess } from './bubblewrap-process.ts'
import { isFreePlace } from './chosen-mounts.ts'
import { egressPort, insidePaths } from './inside-paths.ts'
import type { RunFolder } from './run-folder.ts'
import { createGrounds, realFolder, type Grounds } from './sandbox-ground.ts'
import { sandboxLimits } from './sandbox-limits.ts'
import { agentVariablePrefix, type BridgeOrder } from './scripts.ts'
import { unavailableSandbox } from './unavailable-sandbox.ts'
import { handOver } from './unprivileged.ts'

export interface VendorSandboxDeps {
  /** Private folder of its own for the sockets of running programs; made when missing. */
  readonly runRoot: string
  /** OpenCode's binary, on which the bridge runs. */
  readonly openCodeBinary: () => string
  /** The bwrap that ships with the app, for systems that have none. */
  readonly bundledBwrapPath?: string
  /** What the program may use. Asked at each use. */
  readonly limits: () => SandboxLimits
  readonly clock: Clock
}

/** Port that a serving program listens on, in a network of its own. */
const servePort = 4_096

/**
 * The `VendorSandbox` port on bubblewrap (Linux). On other systems each launch answers that isolation is unavailable. Like the coder's
 * sandbox it has no network but one socket; unlike it there is no workspace, no broker and no tool of ours.
 */
export function createVendorSandbox(deps: VendorSandboxDeps): VendorSandbox {
  if (process.platform !== 'linux') {
    const none = unavailableSandbox(process.platform, deps.clock)
    return { launch: async () => err((await none.probe()).failure ?? failure('isolation-unavailable', 'No sandbox is available.', 'Run the app on Linux.')) }
  }
  const grounds = createGrounds(deps.runRoot, deps)
  let swept: Promise<void> | null = null
  return {
    launch: async (spec, signal) => {
      try {
        await (swept ??= grounds.sweep())
        return await launch(deps, grounds, spec, signal)
      } catch (error) {
        if (error instanceof Error && 'syscall' in error) return err(failure('sandbox-failed', `The files of the vendor's program could not be prepared (${error.message}).`, 'Check that the disk is not full and that the app\'s data folder can be written to.'))
        throw error
      }
    },
  }
}

/** What of the host shows inside, and how the program is started there. */
interface Plan { readonly homeDir: string; readonly binds: readonly Bind[]; readonly program: string; readonly pathEntries: readonly string[] }

async function planOf(spec: VendorSpec): Promise<Result<Plan, Failure>> {
  const program = await realpath(spec.programPath).catch(() => null)
  if (program === null) return err(failure('unavailable', `${spec.label} is not at ${spec.programPath}.`, 'Correct the program in Settings → Fallbacks.'))
  const homeDir = await realFolder(spec.homeDir, `The home of ${spec.label}`)
  if (!homeDir.ok) return homeDir
  if (homeDir.value === await realpath(homedir()).catch(() => homedir())) return err(failure('folder-refused', `${spec.label} does not get your own home.`, 'Log it in with a home of its own, and name that folder in Settings → Fallbacks.'))
  const folders: string[] = []
  for (const folder of spec.readOnlyDirs) {
    const real = await realFolder(folder, `A folder that ${spec.label} may read`)
    if (!real.ok) return real
    if (real.value.startsWith('/usr/')) continue
    if (!canShow(real.value) || homedir().startsWith(`${real.value}/`) || real.value === homedir()) return err(failure('folder-refused', `${spec.label} cannot be given ${real.value}.`, 'Name a smaller folder in Settings → Fallbacks.'))
    folders.push(real.value)
  }
  const shown = program.startsWith('/usr/') || folders.some((folder) => program.startsWith(`${folder}/`))
  if (!shown && !canShow(program)) return err(failure('folder-refused', `${program} cannot be shown inside a sandbox.`, 'Install the program below /usr or below your home.'))
  const binds = [...folders, ...(shown ? [] : [program])].map((path) => ({ from: path, into: path, write: false }))
  return ok({ homeDir: homeDir.value, binds, program, pathEntries: [dirname(program), ...folders.flatMap((folder) => [folder, join(folder, 'bin')])] })
}

/** Whether something of the host can stand at its own path inside. The private /tmp is there before it. */
function canShow(path: string): boolean {
  return isFreePlace(path) || path.startsWith('/tmp/')
}

async function launch(deps: VendorSandboxDeps, grounds: Grounds, spec: VendorSpec, signal: AbortSignal): Promise<Result<VendorProcess, Failure>> {
  if (signal.aborted) return err(failure('cancelled', 'The call was ended.', 'Nothing to do.'))
  const [layout, plan, binaryPath] = [await grounds.readLayout(), await planOf(spec), await realpath(deps.openCodeBinary()).catch(() => null)]
  if (!layout.ok) return layout
  if (!plan.ok) return plan
  if (binaryPath === null) return err(failure('opencode-missing', 'The chosen OpenCode does not exist, and the bridge into the sandbox runs on it.', 'Choose another in Settings → Runtimes, or reinstall the app.'))
  const folder = await grounds.openFolder()
  try {
    const promptFile = spec.prompt === null ? null : join(folder.path, 'prompt.txt')
    if (promptFile !== null) await writeFile(promptFile, spec.prompt ?? '', { mode: 0o444 })
    await handOver(plan.value.homeDir)
    await handOver(dirname(spec.egressSocketPath))
    const started = await startBubblewrap({
      layout: layout.value, command: limitedVendor(layout.value, deps.limits(), commandOf(spec, plan.value)), env: environmentOf(plan.value), output: 'pipe', runFolder: folder.path,
      options: vendorArguments({ layout: layout.value, files: folder.files, homeDir: plan.value.homeDir, binds: plan.value.binds, binaryPath, egressFolder: dirname(spec.egressSocketPath), controlDir: folder.controlDir, promptFile }),
    })
    if (started.ok) return await running(deps, spec, { folder, bwrapPath: layout.value.bwrapPath }, started.value, signal)
    await folder.remove()
    return err(started.error === 'complained' ? explainBubblewrap('', layout.value.bwrapPath) : started.error)
  } catch (error) {
    await folder.remove()
    throw error
  }
}

function commandOf(spec: VendorSpec, plan: Plan): readonly string[] {
  const order: BridgeOrder = { egress: { port: egressPort, path: `${insidePaths.egressFolder}/${basename(spec.egressSocketPath)}` }, control: { port: servePort, path: insidePaths.controlSocket }, cwd: insidePaths.workspace }
  const args = spec.args.map((arg) => arg.replaceAll('{port}', String(servePort)).replaceAll('{promptFile}', insidePaths.promptFile))
  return [insidePaths.openCode, `--config=${insidePaths.bunConfig}`, insidePaths.bridge, JSON.stringify(order), plan.program, ...args]
}

/** The program's own variables pass bwrap and the bridge under a prefix, where none of them has an effect. */
function environmentOf(plan: Plan): Readonly<Record<string, string>> {
  const out = `http://127.0.0.1:${egressPort}`
  const own = {
    PATH: [...plan.pathEntries, '/usr/local/bin', '/usr/bin', '/bin'].join(':'), HOME: insidePaths.home, USER: 'agent', LOGNAME: 'agent', LANG: 'C.UTF-8', TERM: 'dumb', NO_COLOR: '1', TMPDIR: '/tmp',
    HTTPS_PROXY: out, https_proxy: out, HTTP_PROXY: out, http_proxy: out, NO_PROXY: '127.0.0.1,localhost', no_proxy: '127.0.0.1,localhost',
  }
  return { ...Object.fromEntries(Object.entries(own).map(([name, value]) => [agentVariablePrefix + name, value])), BUN_BE_BUN: '1', HOME: insidePaths.app, PATH: '/usr/bin:/bin' }
}

async function running(deps: VendorSandboxDeps, spec: VendorSpec, { folder, bwrapPath }: { readonly folder: RunFolder; readonly bwrapPath: string }, started: BubblewrapProcess, signal: AbortSignal): Promise<Result<VendorProcess, Failure>> {
  const output = collect(spec, started)
  let proof: Promise<StopProof> | null = null
  const stop = (): Promise<StopProof> => (proof ??= endWithProof(deps, folder, started))
  const abort = (): void => { stop().catch(() => undefined) }
  signal.addEventListener('abort', abort, { once: true })
  const ended = started.exited.then(async () => {
    signal.removeEventListener('abort', abort)
    await stop()
    const { text, words, limitHit } = await output.finished
    return { exitCode: limitHit === null ? started.commandExitCode() : null, text, lastWords: words, limitHit }
  })
  if (!spec.serves) return ok({ socketPath: null, ended, stop })
  const found = await Promise.race([controlSocket(folder), ended.then(() => false)])
  if (found) return ok({ socketPath: folder.controlSocket, ended, stop })
  await stop()
  const { lastWords } = await ended
  return err(/^bwrap: /m.test(lastWords) ? explainBubblewrap(lastWords, bwrapPath) : failure('sandbox-failed', `${spec.label} ended before it was ready. ${lastWords.trim().slice(-600)}`, 'Check its program and arguments in Settings → Fallbacks.'))
}

/** The socket lies where the program can write: only a hard link that it cannot replace is dialled, and only if it is a socket. */
async function controlSocket(folder: RunFolder): Promise<boolean> {
  const end = performance.now() + sandboxLimits.setUpMs
  while (performance.now() < end) {
    const found = await link(folder.controlSocketInside, folder.controlSocket).then(() => lstat(folder.controlSocket), () => null)
    if (found !== null) return found.isSocket()
    await pause(20)
  }
  return false
}

async function endWithProof(deps: VendorSandboxDeps, folder: RunFolder, started: BubblewrapProcess): Promise<StopProof> {
  const seen = await endBubblewrap(started)
  await folder.remove()
  if (!seen.empty) throw new Error(`${seen.left.length} processes of the vendor's program are still there after SIGKILL`)
  return { at: deps.clock.now(), method: 'pid-namespace-empty', checkedProcesses: seen.checked, detail: `Nobody is left in ${started.namespace.name}.` }
}

/** Keeps stdout (the answer) and the end of stderr (the reason), within their bounds. */
function collect(spec: VendorSpec, started: BubblewrapProcess): { readonly finished: Promise<{ readonly text: string; readonly words: string; readonly limitHit: string | null }> } {
  const { stdout, stderr } = started.child as unknown as { readonly stdout: Readable; readonly stderr: Readable }
  const kept: Buffer[] = []
  let bytes = 0
  let words = ''
  let limitHit: string | null = null
  const answer = async (): Promise<void> => {
    for await (const chunk of stdout as AsyncIterable<Buffer>) {
      if (spec.serves) { words = (words + chunk.toString('utf8')).slice(-sandboxLimits.setUpTextCharsMax); continue }
      bytes += chunk.length
      if (bytes <= spec.outputBytesMax) kept.push(chunk)
      else if (limitHit === null) { limitHit = `printed more than ${spec.outputBytesMax} bytes`; started.kill() }
    }
  }
  const reason = async (): Promise<void> => {
    for await (const chunk of stderr as AsyncIterable<Buffer>) words = (words + chunk.toString('utf8')).slice(-sandboxLimits.setUpTextCharsMax)
  }
  return { finished: Promise.all([answer(), reason()]).then(() => ({ text: Buffer.concat(kept).toString('utf8'), words, limitHit })) }
}

import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { text as wholeText } from 'node:stream/consumers'
import type { Readable } from 'node:stream'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { SandboxLimits } from '../../../src-preload/contract/task.ts'
import { workspaceRoot } from '../../core/approval/path-pattern.ts'
import { freePort, listening } from './loopback-port.ts'
import { maskedPaths } from './mount-points.ts'
import { runFolderPrefix } from './run-folder.ts'
import { sandboxLimits } from './sandbox-limits.ts'
import { keeperShell, startKept } from './seatbelt-keeper.ts'
import { seatbeltAgentProfile } from './seatbelt-profile.ts'
import { cannotStart, kernelBounds, notProven, runSeatbelt } from './seatbelt-run.ts'
import { agentTrialScript, commandTrial } from './seatbelt-trials.ts'

export interface SeatbeltProbeParts {
  /** Private folder for the trial, a real path; in the owner's home, as the app's data are. */
  readonly runRoot: string
  readonly sandboxExec: string
  readonly limits: SandboxLimits
  /** Real path of OpenCode's binary, for a trial of the agent's profile; null: that passed before. */
  readonly openCode: string | null
}

interface Trial { readonly folder: string; readonly workspaceDir: string; readonly canary: string; readonly foreignPort: number }
const masked = maskedPaths.map(({ path }) => path)

/** What a trial says, or null when all is well. */
async function tryCommand({ sandboxExec, limits }: SeatbeltProbeParts, { folder, workspaceDir, canary, foreignPort }: Trial): Promise<Result<string | null, Failure>> {
  const ran = await runSeatbelt({
    askId: 'probe', text: commandTrial(canary, foreignPort), cwd: workspaceRoot, hostCwd: workspaceDir, sandboxExec, limits, runFolder: folder, timeoutMs: sandboxLimits.setUpMs, outputBytesMax: 4_096, pathEntries: [], onOutput: () => undefined,
    shape: { workspaceDir, readOnly: [], masked, homeDir: await realpath(homedir()) },
  }, new AbortController().signal)
  if (!ran.ok) return ran
  const { exitCode, logTail, limitHit } = ran.value
  return ok(exitCode === 0 && logTail === 'tried\n' ? null : (limitHit ?? said(logTail, exitCode)))
}

const said = (text: string, exitCode: number | null): string => text.trim().replace(/\s*tried$/, '').replaceAll('\n', '; ') || `exit code ${String(exitCode)}`

async function tryAgent({ sandboxExec, limits }: SeatbeltProbeParts, openCode: string, { folder, workspaceDir, canary, foreignPort }: Trial): Promise<Result<string | null, Failure>> {
  const at = (name: string): string => join(folder, name)
  await Promise.all(['app', 'state', 'tmp', 'ctl'].map((name) => mkdir(at(name))))
  await Promise.all([writeFile(at('app/trial.js'), agentTrialScript), writeFile(at('app/bunfig.toml'), '')])
  const own = await freePort()
  const kept = await startKept({
    sandboxExec, cwd: workspaceDir, output: 'pipe', folder, bounds: await kernelBounds(limits, true), env: { BUN_BE_BUN: '1', HOME: at('app'), TMPDIR: at('tmp'), PATH: '/usr/bin:/bin' },
    command: [openCode, `--config=${at('app/bunfig.toml')}`, at('app/trial.js'), canary, String(foreignPort), String(own)],
    profile: seatbeltAgentProfile({
      workspaceDir, masked, homeDir: await realpath(homedir()), readOnly: [], stateDir: at('state'), temporaryDir: at('tmp'), appDir: at('app'), controlDir: at('ctl'), controlSocket: at('ctl/control.sock'), hostSockets: [at('broker.sock')],
      programs: [openCode, keeperShell], ports: [own],
    }),
  })
  const { stdout, stderr } = kept.child as unknown as { readonly stdout: Readable; readonly stderr: Readable }
  const timer = setTimeout(() => { kept.end(() => { stdout.destroy(); stderr.destroy() }) }, sandboxLimits.agentTrialMs)
  const [words, outcome] = await Promise.all([Promise.all([stdout, stderr].map((stream) => wholeText(stream).catch(() => ''))), kept.ended])
  clearTimeout(timer)
  if (outcome instanceof Error) return err(cannotStart(outcome))
  if (!(await kept.provenEmpty())) return err(notProven)
  const text = words.join('')
  return ok(outcome === 0 && text === 'tried\n' ? null : said(text, outcome))
}

/** Tries the profiles out on this machine. Ok: they let the trials work and kept them in. Throws what the disk says. */
export async function trySeatbelt(parts: SeatbeltProbeParts): Promise<Result<null, Failure>> {
  const folder = await mkdtemp(join(parts.runRoot, runFolderPrefix))
  const server = createServer((socket) => { socket.destroy() })
  try {
    const [workspaceDir, canary] = [join(folder, 'workspace'), join(folder, 'canary')]
    await mkdir(workspaceDir)
    await writeFile(canary, 'x')
    const trial = { folder, workspaceDir, canary, foreignPort: await listening(server) }
    const command = await tryCommand(parts, trial)
    if (!command.ok) return command
    const agent = command.value === null && parts.openCode !== null ? await tryAgent(parts, parts.openCode, trial) : command
    if (!agent.ok) return agent
    return agent.value === null ? ok(null) : err(failure('isolation-unavailable', `seatbelt does not keep a trial run in on this Mac: ${agent.value.slice(0, 200)}.`, 'Run the app on Linux, for example in a virtual machine.'))
  } finally {
    server.close()
    await rm(folder, { recursive: true, force: true })
  }
}

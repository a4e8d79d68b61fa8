import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock, Timers } from '../../engine/ports.ts'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import { identify, isSameFile, type FileIdentity, type KnownVersions } from './known-versions.ts'
import { judgeVersion } from './version.ts'

export interface UsableBinary { readonly version: string; readonly binaryPath: string }
type Probed = Result<UsableBinary, Failure>

const printedCharsMax = 4_096

export interface VersionProbe {
  /** Whether the binary at that path is an OpenCode that can be used. Failures: `opencode-missing`, `opencode-unsupported`, `opencode-probe-timeout`. */
  (binaryPath: string | null): Promise<Probed>
  /** What was known of it turned out wrong: the next look runs it again. */
  readonly forget: (binaryPath: string) => Promise<void>
}

interface VersionProbeDeps { readonly clock: Clock; readonly timers: Timers; readonly versions: KnownVersions }

/**
 * Returns the version probe (contracts 4). One run serves all concurrent callers. A known answer, also “unsupported”, is kept for exactly that file; a
 * usable one also over restarts, so that a start with a known binary runs nothing. An unknown one (timeout, would not run) is kept for
 * 5 s, so that the next launch tries again.
 */
export function createVersionProbe(deps: VersionProbeDeps): VersionProbe {
  const entries = new Map<string, { readonly outcome: Promise<Probed>; expiresAt: number }>()
  const probe = async (binaryPath: string | null): Promise<Probed> => {
    if (binaryPath === null) return err(missing('No OpenCode is installed beside the app, and none was chosen'))
    const file = await identify(binaryPath)
    if (file === null) return err(missing(`There is no file at ${binaryPath}`))
    const key = JSON.stringify([binaryPath, file])
    const kept = entries.get(key)
    if (kept !== undefined && deps.clock.now() < kept.expiresAt) return await kept.outcome
    const entry = { outcome: recallOrRun(binaryPath, file, deps), expiresAt: Number.POSITIVE_INFINITY }
    // Only one file is configured at a time: what was known of another one is of no use.
    entries.clear()
    entries.set(key, entry)
    const keepShortly = (): void => { entry.expiresAt = deps.clock.now() + limits.versionUnknownForMs }
    // One that broke off, as on a full disk, says nothing of the binary either.
    const outcome = await entry.outcome.catch((cause: unknown) => { keepShortly(); throw cause })
    if (!outcome.ok && outcome.error.code !== 'opencode-unsupported') keepShortly()
    return outcome
  }
  const forget = async (binaryPath: string): Promise<void> => {
    entries.clear()
    const file = await identify(binaryPath)
    if (file !== null) await deps.versions.forget(file)
  }
  return Object.assign(probe, { forget })
}

async function recallOrRun(binaryPath: string, file: FileIdentity, { timers, versions }: VersionProbeDeps): Promise<Probed> {
  const known = await versions.of(file)
  if (known !== null) return ok({ version: known, binaryPath })
  const probed = await runVersion(binaryPath, timers)
  if (!probed.ok) return probed
  // What ran is what was identified only if that has not changed meanwhile.
  const after = await identify(binaryPath)
  if (after !== null && isSameFile(file, after)) await versions.keep(file, probed.value.version)
  return probed
}

async function runVersion(binaryPath: string, timers: Timers): Promise<Probed> {
  const home = await mkdtemp(join(tmpdir(), 'countersign-probe-'))
  try {
    const printed = await printVersion(binaryPath, home, timers)
    if (!printed.ok) return printed
    const judged = judgeVersion(printed.value)
    return judged.ok ? ok({ version: judged.value, binaryPath }) : judged
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Runs `--version` with nothing of the operator's: even this call creates folders under HOME and XDG. */
async function printVersion(binaryPath: string, home: string, timers: Timers): Promise<Result<string, Failure>> {
  const done = new AbortController()
  const outcome = await new Promise<Result<string, Failure>>((resolve) => {
    const child = spawn(binaryPath, ['--version'], { cwd: home, env: probeEnvironment(home), stdio: ['ignore', 'pipe', 'ignore'], detached: true })
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => { printed = (printed + text).slice(0, printedCharsMax) })
    child.on('error', (cause) => { resolve(err(missing(`It does not run: ${cause.message}`))) })
    child.on('close', (code, signal) => {
      resolve(code === 0 ? ok(printed) : err(missing(`“--version” ended with ${signal ?? `exit code ${String(code)}`}`)))
    })
    timers.after(limits.versionProbeMs, done.signal, () => {
      if (child.pid !== undefined) endGroup(child.pid)
      // A grandchild may hold the pipe open for ever; the answer does not wait for it.
      child.stdout.destroy()
      resolve(err(failure('opencode-probe-timeout', `OpenCode did not tell its version within ${limits.versionProbeMs} ms.`, 'Try again; if it stays so, choose another OpenCode in Settings.')))
    })
  })
  done.abort()
  return outcome
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (cause) {
    // It ended in the same moment: nothing is left to end.
    if ((cause as NodeJS.ErrnoException).code !== 'ESRCH') throw cause
  }
}

function probeEnvironment(home: string): Record<string, string> {
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', TERM: 'dumb', HOME: home, TMPDIR: home,
    XDG_CONFIG_HOME: join(home, 'config'), XDG_DATA_HOME: join(home, 'data'), XDG_STATE_HOME: join(home, 'state'), XDG_CACHE_HOME: join(home, 'cache'),
    OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_PURE: '1',
  }
}

function missing(what: string): Failure {
  return failure('opencode-missing', `OpenCode cannot be started. ${what}.`, 'Choose an OpenCode in Settings, or reinstall the app.')
}

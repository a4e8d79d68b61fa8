import { spawn } from 'node:child_process'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock, Timers } from '../../engine/ports.ts'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import { judgeVersion } from './version.ts'

export interface UsableBinary { readonly version: string; readonly binaryPath: string }
type Probed = Result<UsableBinary, Failure>

const printedCharsMax = 4_096

/**
 * Returns a probe that says whether a binary is an OpenCode that can be used (contracts 4). One run serves all concurrent
 * callers. A known answer, also “unsupported”, is kept for the file's path, time and size; an unknown one (timeout, would not
 * run) for 5 s, so that the next launch tries again. Failures: `opencode-missing`, `opencode-unsupported`, `opencode-probe-timeout`.
 */
export function createVersionProbe(deps: { readonly clock: Clock; readonly timers: Timers }): (binaryPath: string | null) => Promise<Probed> {
  const entries = new Map<string, { readonly outcome: Promise<Probed>; expiresAt: number }>()
  return async (binaryPath) => {
    if (binaryPath === null) return err(missing('No OpenCode is installed beside the app, and none was chosen'))
    const facts = await stat(binaryPath).catch(() => null)
    if (facts?.isFile() !== true) return err(missing(`There is no file at ${binaryPath}`))
    const key = JSON.stringify([binaryPath, facts.mtimeMs, facts.size])
    const kept = entries.get(key)
    if (kept !== undefined && deps.clock.now() < kept.expiresAt) return await kept.outcome
    const entry = { outcome: runVersion(binaryPath, deps.timers), expiresAt: Number.POSITIVE_INFINITY }
    // Only one file is configured at a time: what was known of another one is of no use.
    entries.clear()
    entries.set(key, entry)
    const outcome = await entry.outcome
    if (!outcome.ok && outcome.error.code !== 'opencode-unsupported') entry.expiresAt = deps.clock.now() + limits.versionUnknownForMs
    return outcome
  }
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

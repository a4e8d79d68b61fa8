import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { SandboxLimits } from '../../../src-preload/contract/task.ts'
import { sandboxLimits } from './sandbox-limits.ts'
import { runSeatbelt } from './seatbelt-run.ts'

export interface SeatbeltProbeParts {
  /** Private folder for the trial; in the owner's home, as the app's data are. */
  readonly runRoot: string
  readonly sandboxExec: string
  readonly limits: SandboxLimits
}

/** A word of a shell's text. */
const word = (text: string): string => `'${text.replaceAll('\'', '\'\\\'\'')}'`

/**
 * Run under the profile that commands get. It has to be able to work, and must not be able to read beside its workspace, write there, reach a port of
 * this machine, or look without the means to. Each thing that is open or missing is a line; all well is one word.
 */
const trial = (canary: string, port: number): string => `(echo x > made && cat made) > /dev/null 2>&1 || echo 'its workspace is closed'
cat ${word(canary)} > /dev/null 2>&1 && echo 'it reads beside its workspace'
(echo x > ${word(`${canary}.made`)}) 2> /dev/null && echo 'it writes beside its workspace'
if command -v nc > /dev/null; then nc -z -w 1 127.0.0.1 ${String(port)} > /dev/null 2>&1 && echo 'it reaches the network'; else echo 'nc is missing, so that the network cannot be tried'; fi
echo tried`

async function listening(server: Server): Promise<number> {
  await new Promise<void>((done, fail) => { server.once('error', fail); server.listen(0, '127.0.0.1', done) })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a listening server has a port')
  return address.port
}

/** Tries the profile out on this machine. Ok: it let the trial work and kept it in. Throws what the disk says. */
export async function trySeatbelt({ runRoot, sandboxExec, limits }: SeatbeltProbeParts): Promise<Result<null, Failure>> {
  await mkdir(runRoot, { recursive: true, mode: 0o700 })
  const folder = await realpath(await mkdtemp(join(runRoot, 'p-')))
  const server = createServer((socket) => { socket.destroy() })
  try {
    const [workspaceDir, privateDir, canary] = [join(folder, 'workspace'), join(folder, 'private'), join(folder, 'canary')]
    for (const path of [workspaceDir, privateDir]) await mkdir(path)
    await writeFile(canary, 'x')
    const text = trial(canary, await listening(server))
    const ran = await runSeatbelt({
      askId: 'probe', text, cwd: '/workspace', hostCwd: workspaceDir, sandboxExec, limits, pipeFolder: folder, timeoutMs: sandboxLimits.setUpMs, outputBytesMax: 4_096,
      shape: { workspaceDir, privateDir, readOnly: [], masked: [], homeDir: homedir() },
    }, new AbortController().signal)
    if (!ran.ok) return ran
    if (ran.value.exitCode === 0 && ran.value.logTail === 'tried\n') return ok(null)
    const why = ran.value.limitHit ?? (ran.value.logTail.trim().replace(/\s*tried$/, '').replaceAll('\n', '; ') || `exit code ${String(ran.value.exitCode)}`)
    return err(failure('isolation-unavailable', `seatbelt does not keep a trial run in on this Mac: ${why.slice(0, 200)}.`, 'Run the app on Linux, for example in a virtual machine.'))
  } finally {
    server.close()
    await rm(folder, { recursive: true, force: true })
  }
}

import { spawn, type ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { boundToUs } from './bound-to-us.ts'

export interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** `quiet` shows the output only when the command fails. */
  readonly output?: 'inherit' | 'quiet'
  /** Sees what the command says, on stdout and on stderr, beside showing it. */
  readonly seen?: (chunk: Buffer) => void
  /** Through the command interpreter: Windows needs it for npm, which is a script there. */
  readonly shell?: boolean
  /** Ends with this process, even when that is killed. */
  readonly boundToUs?: boolean
}

/**
 * Runs `command` to its end and gives its exit code (128 + signal number when it was killed, as shells say).
 * @throws when the command cannot be started at all
 */
export async function exitCodeOf(command: string, args: readonly string[], options: RunOptions = {}): Promise<number> {
  const quiet = options.output === 'quiet'
  const started = options.boundToUs === true ? boundToUs(command, args) : { command, args }
  const child = spawn(started.command, started.args, {
    cwd: options.cwd,
    env: options.env,
    shell: options.shell ?? false,
    stdio: quiet || options.seen !== undefined ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
  })
  const stopForwarding = forwardSignals(child)
  const said: Buffer[] = []
  if (quiet) for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => said.push(chunk))
  else for (const [stream, ours] of [[child.stdout, process.stdout], [child.stderr, process.stderr]] as const) stream?.on('data', (chunk: Buffer) => { ours.write(chunk); options.seen?.(chunk) })
  const code = await new Promise<number>((done, fail) => {
    child.once('error', fail)
    child.once('close', (exit, signal) => {
      done(exit ?? 128 + (signal === null ? 0 : constants.signals[signal]))
    })
  })
  stopForwarding()
  if (quiet && code !== 0) process.stderr.write(Buffer.concat(said))
  return code
}

/**
 * Runs `command` and insists on exit code 0.
 * @throws naming the command and its exit code
 */
export async function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<void> {
  const code = await exitCodeOf(command, args, options)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}`)
}

/** Hands on the signals that end this process, so that no child outlives it unasked; the child's end then ends this one. */
function forwardSignals(child: ChildProcess): () => void {
  const ending = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const forward = (signal: NodeJS.Signals): void => {
    child.kill(signal)
  }
  for (const signal of ending) process.on(signal, forward)
  return () => {
    for (const signal of ending) process.off(signal, forward)
  }
}

import { createHash } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import { z } from 'zod'
import type { Failure } from '../../../src-preload/contract/failure.ts'
import { digestSchema } from '../../../src-preload/contract/ids.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import type { Result } from '../../../src-preload/contract/result.ts'
import { roomName } from '../../core/approval/path-pattern.ts'
import type { AgentSpec, CommandAsk, CommandRun, Ids } from '../../engine/ports.ts'
import { drained } from './command-run.ts'
import { sandboxLimits } from './sandbox-limits.ts'
import { directoryObjection } from './working-directory.ts'

/** What the shell client sends, as one line of JSON. OpenCode calls its shell exactly `<shell> -c <text>`. */
const requestSchema = z.strictObject({ version: z.literal(1), argv: z.array(z.string()).max(64), cwd: z.string().max(4_096) })

/** Frames to the client: kind, length (4 bytes, big-endian), bytes. The client ends with the code that an exit frame holds. */
const frameKind = { stdout: 1, stderr: 2, exit: 3 } as const
const exitCodes = { failed: 125, refused: 126, timeout: 124, killed: 137 } as const

export interface BrokerParts {
  readonly socketPath: string
  readonly workspaceDir: string
  /** What the agent's programs call the workspace. */
  readonly workspaceInside: string
  /** Folders below the workspace that exist only as mounts, relative. */
  readonly mountedFolders: readonly string[]
  readonly ids: Ids
  readonly decide: AgentSpec['decideCommand']
  readonly onEnded: AgentSpec['onCommandEnded']
  /** Runs a command that was decided upon, in a sandbox of its own. */
  readonly run: (ask: CommandAsk, onOutput: (chunk: Buffer) => Promise<void> | undefined, signal: AbortSignal) => Promise<Result<CommandRun, Failure>>
}

/** The only way from the agent to a command. */
export interface Broker {
  /** Takes nothing more, ends every command with its tree, and waits until all of that is over. */
  close(): Promise<void>
}

function frame(kind: number, bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt8(kind, 0)
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}

function leave(socket: Socket, code: number, why: string | null): void {
  if (socket.destroyed) return
  if (why !== null) socket.write(frame(frameKind.stderr, Buffer.from(`sandbox: ${why}\n`)))
  socket.end(frame(frameKind.exit, Uint8Array.of(code & 0xff)))
}

/** The request's line, or null when it is too long, too late or the client went away. */
async function readRequest(socket: Socket): Promise<string | null> {
  return new Promise((done) => {
    let held = Buffer.alloc(0)
    const timer = setTimeout(() => { finish(null) }, sandboxLimits.brokerRequestWithinMs)
    const finish = (line: string | null): void => {
      clearTimeout(timer)
      socket.off('data', take).off('close', gone)
      // Whatever else comes is read and dropped, so that the end of the client shows.
      socket.on('data', () => undefined)
      done(line)
    }
    const gone = (): void => { finish(null) }
    const take = (chunk: Buffer): void => {
      held = Buffer.concat([held, chunk])
      const end = held.indexOf(10)
      if (end >= 0) finish(held.subarray(0, end).toString('utf8'))
      else if (held.length > sandboxLimits.brokerRequestBytesMax) finish(null)
    }
    socket.on('data', take).on('close', gone)
  })
}

function parseRequest(line: string): z.infer<typeof requestSchema> | null {
  try {
    return requestSchema.safeParse(JSON.parse(line)).data ?? null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** The text that would run; for a call that is not understood, all of it, for the record. */
function commandText(argv: readonly string[]): string {
  const [flag, text] = argv
  return argv.length === 2 && flag === '-c' && text !== undefined ? text : argv.join(' ').slice(0, limits.commandTextBytesMax)
}

/** Why a command may not even be asked about, or null. */
async function objection(parts: BrokerParts, argv: readonly string[], cwd: string): Promise<string | null> {
  const [flag, text] = argv
  if (argv.length !== 2 || flag !== '-c' || text === undefined) return 'only “-c text” is understood'
  if (text.includes('\0') || /\p{Surrogate}/u.test(text)) return 'the command is not plain text'
  if (Buffer.byteLength(text) > limits.commandTextBytesMax) return `the command is longer than ${limits.commandTextBytesMax} bytes`
  return directoryObjection(parts.workspaceDir, parts.mountedFolders, cwd)
}

const emptyLog = digestSchema.parse(`sha256:${createHash('sha256').digest('hex')}`)
const notRun = (ask: CommandAsk, reason: string, durationMs: number): CommandRun => ({ ...ask, exitCode: null, refused: reason, logDigest: emptyLog, logTail: '', durationMs, limitHit: null })

async function decide(parts: BrokerParts, ask: CommandAsk, signal: AbortSignal): Promise<string | null> {
  try {
    const verdict = await parts.decide(ask, signal)
    return verdict.verdict === 'run' ? null : verdict.reason
  } catch (error) {
    // Closed when in doubt; the reason stands in the record.
    return `the host could not decide: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** The outcome; or the words of a fault of the machine, such as a full disk. A command whose outcome nobody records would hold up every edit behind it. */
async function run(parts: BrokerParts, ask: CommandAsk, socket: Socket, signal: AbortSignal): Promise<Result<CommandRun, Failure> | string> {
  try {
    return await parts.run(ask, (chunk) => (socket.destroyed || socket.write(frame(frameKind.stdout, chunk)) ? undefined : drained(socket)), signal)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

async function serve(parts: BrokerParts, socket: Socket, signal: AbortSignal, tooMany: boolean): Promise<void> {
  const began = performance.now()
  const line = await readRequest(socket)
  const request = line === null ? null : parseRequest(line)
  if (request === null) {
    leave(socket, exitCodes.refused, 'bad request')
    return
  }
  const ask: CommandAsk = { askId: parts.ids.next('ask'), text: commandText(request.argv), cwd: roomName(parts.workspaceInside, request.cwd) }
  const elapsed = (): number => Math.round(performance.now() - began)
  const objects = (): Promise<string | null> => objection(parts, request.argv, ask.cwd)
  // Looked at again behind the decision, which may have taken minutes: a command that runs may have put a link in the folder's place.
  const refusal = (tooMany ? `more than ${sandboxLimits.commandsAtOnceMax} commands at once` : await objects()) ?? (await decide(parts, ask, signal)) ?? (await objects())
  if (refusal !== null) {
    parts.onEnded(notRun(ask, refusal, elapsed()))
    leave(socket, exitCodes.refused, `refused: ${refusal}`)
    return
  }
  const ended = await run(parts, ask, socket, signal)
  if (typeof ended === 'string') {
    parts.onEnded({ ...notRun(ask, '', elapsed()), refused: null, limitHit: `met a fault of this machine (${ended}); what it did is not known` })
    leave(socket, exitCodes.failed, ended)
    return
  }
  if (!ended.ok) {
    parts.onEnded(notRun(ask, ended.error.message, elapsed()))
    leave(socket, exitCodes.failed, ended.error.message)
    return
  }
  // The record comes before the client, and so the agent, learns the outcome.
  parts.onEnded(ended.value)
  const { exitCode, limitHit } = ended.value
  if (exitCode !== null) leave(socket, exitCode, limitHit)
  else leave(socket, limitHit?.startsWith('ran longer') === true ? exitCodes.timeout : exitCodes.killed, limitHit)
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((done, fail) => {
    server.once('error', fail)
    server.listen(path, () => { done() })
  })
}

/**
 * Listens on a Unix socket, one command a connection. A command runs only after `decide` said so, for its exact bytes and
 * directory; it ends with its whole tree when the client's connection ends. Throws when the socket cannot be made.
 */
export async function openBroker(parts: BrokerParts): Promise<Broker> {
  const jobs = new Map<Promise<void>, { readonly socket: Socket; readonly stop: AbortController }>()
  const server = createServer((socket) => {
    const stop = new AbortController()
    socket.on('error', () => socket.destroy())
    socket.on('close', () => { stop.abort() })
    const job = serve(parts, socket, stop.signal, jobs.size >= sandboxLimits.commandsAtOnceMax).finally(() => jobs.delete(job))
    jobs.set(job, { socket, stop })
  })
  server.maxConnections = sandboxLimits.brokerConnectionsMax
  await listen(server, parts.socketPath)
  return {
    async close() {
      server.close()
      for (const { socket, stop } of jobs.values()) {
        stop.abort()
        socket.destroy()
      }
      await Promise.allSettled([...jobs.keys()])
    },
  }
}

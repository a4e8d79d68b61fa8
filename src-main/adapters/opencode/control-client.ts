import type { z } from 'zod'
import type { Timers } from '../../engine/ports.ts'

export interface ControlCall {
  readonly method: 'GET' | 'POST'
  /** Path without `directory`, which is always the workspace. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly deadlineMs: number
  /** Without the password: only to see that the server refuses. */
  readonly anonymous?: boolean
}

/** `not-sent` had no effect; `unanswered` may have had one. `body` is parsed JSON, or the text when it is none. */
export type ControlOutcome =
  | { readonly is: 'answered'; readonly status: number; readonly body: unknown }
  | { readonly is: 'not-sent'; readonly why: string }
  | { readonly is: 'unanswered'; readonly why: string }

export type Read<T> = { readonly is: 'read'; readonly value: T } | { readonly is: 'unread'; readonly why: string }

export interface ControlClient {
  /** One request, bounded by its deadline. Never throws for what the server or the socket does. */
  call(request: ControlCall): Promise<ControlOutcome>
  /** GET or POST whose whole body must have the given shape. */
  read<T>(request: ControlCall, shape: z.ZodType<T>): Promise<Read<T>>
  /** The event stream's bytes, until it breaks, the signal aborts, or nothing came for `silenceMs`: then the iteration throws. */
  stream(path: string, silenceMs: number, signal: AbortSignal): AsyncGenerator<Uint8Array, void>
  close(): Promise<void>
}

const answerBytesMax = 64 * 1024 * 1024
/** Enough for the event stream, one slow call and the quick ones beside it. */
const connectionsMax = 8

/** Talks to the agent's server over the control socket, and to nothing else (opencode.md, “Routes”). */
export function createControlClient(deps: { readonly socketPath: string; readonly password: string; /** The workspace, as it is named inside. */ readonly directory: string; readonly timers: Timers }): ControlClient {
  // Loaded when the first agent runs, not when the app starts: it is the largest library of this process.
  const opened = import('undici').then(({ Pool }) => new Pool('http://agent', { socketPath: deps.socketPath, connections: connectionsMax, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 }))
  const authorization = `Basic ${Buffer.from(`opencode:${deps.password}`).toString('base64')}`

  const call = async (request: ControlCall): Promise<ControlOutcome> => {
    const over = new AbortController()
    const late = new AbortController()
    deps.timers.after(request.deadlineMs, over.signal, () => { late.abort(new Error(`no answer within ${request.deadlineMs} ms`)) })
    try {
      const answer = await (await opened).request({
        method: request.method, path: withQuery(deps.directory, request.path, request.query), signal: late.signal,
        headers: { ...(request.anonymous === true ? {} : { authorization }), ...(request.body === undefined ? {} : { 'content-type': 'application/json' }) },
        body: request.body === undefined ? null : JSON.stringify(request.body),
      })
      return { is: 'answered', status: answer.statusCode, body: jsonOrText(await boundedText(answer.body)) }
    } catch (cause) {
      return { is: neverSent(cause) ? 'not-sent' : 'unanswered', why: cause instanceof Error ? cause.message : String(cause) }
    } finally {
      over.abort()
    }
  }

  return {
    call,
    async read(request, shape) {
      const outcome = await call(request)
      if (outcome.is !== 'answered') return { is: 'unread', why: outcome.why }
      if (outcome.status !== 200) return { is: 'unread', why: `HTTP ${outcome.status}` }
      const parsed = shape.safeParse(outcome.body)
      return parsed.success ? { is: 'read', value: parsed.data } : { is: 'unread', why: `an answer of another shape at ${parsed.error.issues[0]?.path.join('.') ?? '?'}` }
    },
    async * stream(path, silenceMs, signal) {
      const silent = new AbortController()
      const both = AbortSignal.any([signal, silent.signal])
      let watch = new AbortController()
      const rearm = (): void => {
        watch.abort()
        watch = new AbortController()
        deps.timers.after(silenceMs, watch.signal, () => { silent.abort(new Error(`no event within ${silenceMs} ms`)) })
      }
      rearm()
      try {
        const answer = await (await opened).request({ method: 'GET', path: withQuery(deps.directory, path), signal: both, headers: { authorization, accept: 'text/event-stream' } })
        if (answer.statusCode !== 200) { await answer.body.dump(); throw new Error(`HTTP ${answer.statusCode}`) }
        for await (const chunk of answer.body) { rearm(); yield chunk as Uint8Array }
      } finally {
        watch.abort()
      }
    },
    async close() { await (await opened).destroy() },
  }
}

function withQuery(directory: string, path: string, query: Readonly<Record<string, string>> = {}): string {
  return `${path}?${new URLSearchParams({ directory, ...query }).toString()}`
}

async function boundedText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > answerBytesMax) throw new Error(`the answer is longer than ${answerBytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    if (cause instanceof SyntaxError) return text
    throw cause
  }
}

/** Whether the request cannot have reached the server: the socket was not there or did not accept. */
function neverSent(cause: unknown): boolean {
  const code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined
  return code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ECONNREFUSED' || code === 'ENOENT' || code === 'EACCES'
}

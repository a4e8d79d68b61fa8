import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentProcess, Timers } from '../../engine/ports.ts'
import { createControlClient, type ControlClient } from './control-client.ts'
import { hostTimers } from './support.suite.ts'

export interface Seen { readonly method: string; readonly path: string; readonly authorization: string | undefined; readonly body: string }
/** Answers a request; a function that answers nothing leaves it open. */
export type Route = (response: ServerResponse, seen: Seen) => void

/** A server on a Unix socket that plays the parts of OpenCode which the real one cannot be brought to show at will. */
export interface StandIn {
  readonly seen: Seen[]
  readonly client: ControlClient
  readonly process: AgentProcess
  readonly stops: () => number
  /** By `METHOD /path` without the query. */
  routes: Record<string, Route>
  /** Sends an event to all who follow. */
  emit(type: string, properties: unknown): void
  exit(code: number | null, signal: string | null): void
  close(): Promise<void>
}

export const json = (value: unknown, status = 200): Route => (response) => { response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value)) }
export const silent: Route = () => undefined

/** `timers` are the adapter's: a test may make time pass. */
export async function openStandIn(timers: Timers = hostTimers): Promise<StandIn> {
  const dir = await mkdtemp(join(tmpdir(), 'stand-in-'))
  const followers = new Set<ServerResponse>()
  let events = 0
  let stops = 0
  let exit: (how: { code: number | null; signal: string | null }) => void = () => undefined
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => { exit = resolve })
  const event = (type: string, properties: unknown): string => `data: ${JSON.stringify({ id: `evt_${(events += 1)}`, type, properties })}\n\n`
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => { body += text }).on('end', () => {
      const seen: Seen = { method: request.method ?? '', path: (request.url ?? '').split('?')[0] ?? '', authorization: request.headers.authorization, body }
      standIn.seen.push(seen)
      const route = standIn.routes[`${seen.method} ${seen.path}`]
      if (route === undefined) json({}, 404)(response, seen)
      else route(response, seen)
    })
  })
  const socketPath = join(dir, 's.sock')
  await new Promise<void>((resolve) => { server.listen(socketPath, resolve) })
  const standIn: StandIn = {
    seen: [], client: createControlClient({ socketPath, password: 'pass', directory: '/workspace', timers }), stops: () => stops,
    process: {
      controlSocketPath: socketPath, pid: 4_242, startTime: '1', exited,
      stop() { stops += 1; exit({ code: null, signal: 'SIGKILL' }); return Promise.resolve({ at: 1, method: 'pid-namespace-empty', checkedProcesses: 1, detail: 'x' }) },
    },
    routes: {
      'GET /event': (response) => { response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event('server.connected', {})); followers.add(response) },
      'GET /session/status': json({}), 'GET /permission': json([]), 'GET /question': json([]), 'GET /session': json([]), 'GET /session/ses_1/message': json([]),
    },
    emit(type, properties) { for (const follower of followers) follower.write(event(type, properties)) },
    exit(code, signal) { exit({ code, signal }) },
    async close() {
      exit({ code: 0, signal: null })
      await standIn.client.close()
      server.closeAllConnections()
      await new Promise((resolve) => { server.close(resolve) })
      await rm(dir, { recursive: true, force: true })
    },
  }
  return standIn
}

/** Timers that run out when the test says so, by their length. */
export interface ManualTimers extends Timers {
  /** Lets every timer of exactly this length run out that is waiting now; answers how many did. */
  fire(ms: number): number
  waiting(ms: number): number
}

export function manualTimers(): ManualTimers {
  const waiting = new Set<{ readonly ms: number; readonly run: () => void }>()
  const due = (ms: number): { readonly ms: number; readonly run: () => void }[] => [...waiting].filter((timer) => timer.ms === ms)
  return {
    after(ms, signal, run) {
      if (signal.aborted) return
      const timer = { ms, run }
      waiting.add(timer)
      signal.addEventListener('abort', () => { waiting.delete(timer) }, { once: true })
    },
    fire(ms) { const fired = due(ms); for (const timer of fired) { waiting.delete(timer); timer.run() } return fired.length },
    waiting: (ms) => due(ms).length,
  }
}

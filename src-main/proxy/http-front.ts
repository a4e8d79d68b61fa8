import { chmod, rm } from 'node:fs/promises'
import { limits } from '../../src-preload/contract/limits.ts'
import { answer, answerJson } from './answer.ts'
import { refusal, type Refusal } from './errors.ts'
import type { Grant, GrantTable } from './grants.ts'
import { foreignRequest, type Door } from './host-rules.ts'
import type { BodyTaker, RequestHead } from './http1/client-connection.ts'
import { ClientServer } from './http1/client-server.ts'
import type { Reply } from './http1/reply.ts'
import { bodyRefused } from './request-body.ts'
import type { ModelRequest } from './serving.ts'
import type { Time } from './time.ts'
import { grantsOf } from './token-gate.ts'

export interface HttpFrontDeps {
  readonly grants: GrantTable
  readonly time: Time
  /** Answers, or cuts the client off, whatever happens. */
  readonly serve: (request: ModelRequest) => void
}

/** The proxy's doors: one loopback port for all grants, one Unix socket for each. */
export class HttpFront {
  readonly #deps: HttpFrontDeps
  readonly #sockets = new Map<string, ClientServer>()
  #tcp: ClientServer | null = null

  constructor(deps: HttpFrontDeps) {
    this.#deps = deps
  }

  /** Listens on 127.0.0.1, on another port if the preferred one is taken. Returns the port. */
  async listenTcp(preferredPort: number): Promise<number> {
    const door = { is: 'tcp' as const, port: 0, host: '' }
    const server = this.#server(door)
    this.#tcp = server
    try {
      await server.listen({ host: '127.0.0.1', port: preferredPort })
    } catch (error) {
      if (!isTaken(error)) throw error
      await server.listen({ host: '127.0.0.1', port: 0 })
    }
    door.port = server.port
    door.host = `127.0.0.1:${String(door.port)}`
    return door.port
  }

  /** Listens on a grant's Unix socket, readable and writable for this user only. A socket left from an earlier run is replaced. */
  async listenSocket(grantId: string, socketPath: string): Promise<void> {
    if (this.#sockets.has(grantId)) return
    const server = this.#server({ is: 'socket', grantId })
    this.#sockets.set(grantId, server)
    try {
      await rm(socketPath, { force: true })
      await server.listen({ path: socketPath })
      await chmod(socketPath, 0o600)
    } catch (error) {
      // Where it does not listen, the next try is a first one.
      if (this.#sockets.get(grantId) === server) this.closeSocket(grantId)
      throw error
    }
  }

  closeSocket(grantId: string): void {
    const server = this.#sockets.get(grantId)
    this.#sockets.delete(grantId)
    server?.close('left')
  }

  close(): void {
    for (const server of [this.#tcp, ...this.#sockets.values()]) server?.close('cut')
  }

  #server(door: Door): ClientServer {
    return new ClientServer((request, reply) => this.#route(door, request, reply), this.#deps.time)
  }

  /** Answers what can be answered from the head alone; a body is read only of a request that may be served. */
  #route(door: Door, request: RequestHead, reply: Reply): BodyTaker | null {
    const { method, target, fields } = request
    const foreign = foreignRequest(fields, door)
    if (foreign !== null) return turnAway(reply, refusal(403, 'foreign_request', `Refused: ${foreign}.`))
    const query = target.indexOf('?')
    const path = query < 0 ? target : target.slice(0, query)
    if (path === '/healthz' && method === 'GET') { answerJson(reply, 200, '{"ok":true}'); return null }
    const grants = grantsOf(request, door, this.#deps.grants)
    if (grants === null) return turnAway(reply, tokenUnknown)
    const route = routes.get(path)
    if (route === undefined) return turnAway(reply, refusal(404, 'route_unknown', 'There is no such route.'))
    if (method !== route.method) return turnAway(reply, refusal(405, 'method_not_allowed', `Use ${route.method} here.`))
    if (route.api === null) { answerJson(reply, 200, modelList(grants)); return null }
    const refused = bodyRefused(request)
    if (refused !== null) return turnAway(reply, refused)
    const { api } = route
    return {
      bytesMax: limits.proxyBodyBytesMax,
      take: (body) => {
        // A body can take minutes to come: what its token opens is asked again.
        const still = grantsOf(request, door, this.#deps.grants)
        if (still === null) answer(reply, tokenUnknown)
        else this.#deps.serve({ grants: still, api, fields, body, reply })
      },
    }
  }
}

const tokenUnknown = refusal(401, 'token_unknown', 'A bearer token of an open task is needed.')

const routes: ReadonlyMap<string, { readonly method: 'GET' | 'POST'; readonly api: 'chat' | 'responses' | null }> = new Map([
  ['/v1/chat/completions', { method: 'POST', api: 'chat' }],
  ['/v1/responses', { method: 'POST', api: 'responses' }],
  ['/v1/models', { method: 'GET', api: null }],
])

/** The body is read over as it comes, so that a client that is still sending can read the answer. */
function turnAway(reply: Reply, refused: Refusal): null {
  answer(reply, refused)
  return null
}

function modelList(grants: readonly Grant[]): string {
  return JSON.stringify({ object: 'list', data: grants.map(({ target }) => ({ id: target.modelId, object: 'model', created: 0, owned_by: target.providerLabel })) })
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EADDRINUSE' || error.code === 'EACCES')
}

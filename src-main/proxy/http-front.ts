import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { chmod, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { answer, answerJson } from './answer.ts'
import { refusal } from './errors.ts'
import type { Grant, GrantTable } from './grants.ts'
import { foreignRequest, type Door } from './host-rules.ts'
import { grantsOf } from './token-gate.ts'

const idleConnectionMs = 75_000

export interface HttpFrontDeps {
  readonly grants: GrantTable
  readonly serve: (grants: readonly [Grant, ...Grant[]], api: 'chat' | 'responses', request: IncomingMessage, response: ServerResponse) => Promise<void>
  readonly onError: (error: unknown) => void
}

/** The proxy's doors: one loopback port for all grants, one Unix socket for each. */
export class HttpFront {
  readonly #deps: HttpFrontDeps
  readonly #sockets = new Map<string, Server>()
  #tcp: Server | null = null

  constructor(deps: HttpFrontDeps) {
    this.#deps = deps
  }

  /** Listens on 127.0.0.1, on another port if the preferred one is taken. Returns the port. */
  async listenTcp(preferredPort: number): Promise<number> {
    const door = { is: 'tcp' as const, port: 0 }
    const server = this.#server(door)
    this.#tcp = server
    try {
      await listen(server, { host: '127.0.0.1', port: preferredPort })
    } catch (error) {
      if (!isTaken(error)) throw error
      await listen(server, { host: '127.0.0.1', port: 0 })
    }
    door.port = (server.address() as AddressInfo).port
    return door.port
  }

  /** Listens on a grant's Unix socket, readable and writable for this user only. A socket left from an earlier run is replaced. */
  async listenSocket(grantId: string, socketPath: string): Promise<void> {
    if (this.#sockets.has(grantId)) return
    const server = this.#server({ is: 'socket', grantId })
    this.#sockets.set(grantId, server)
    await rm(socketPath, { force: true })
    await listen(server, { path: socketPath })
    await chmod(socketPath, 0o600)
  }

  closeSocket(grantId: string): void {
    const server = this.#sockets.get(grantId)
    this.#sockets.delete(grantId)
    if (server === undefined) return
    server.close()
    server.closeIdleConnections()
  }

  close(): void {
    for (const server of [this.#tcp, ...this.#sockets.values()]) {
      server?.close()
      server?.closeAllConnections()
    }
  }

  #server(door: Door): Server {
    const server = createServer((request, response) => {
      this.#route(door, request, response).catch((error: unknown) => {
        this.#deps.onError(error)
        if (response.headersSent) response.destroy()
        else answer(response, refusal(500, 'proxy_internal', 'The proxy met a fault of its own.'))
      })
    })
    server.keepAliveTimeout = idleConnectionMs
    return server
  }

  async #route(door: Door, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const foreign = foreignRequest(request, door)
    if (foreign !== null) { turnAway(request, response, 403, 'foreign_request', `Refused: ${foreign}.`); return }
    const path = (request.url ?? '').split('?', 1)[0]
    if (path === '/healthz' && request.method === 'GET') { answerJson(response, 200, '{"ok":true}'); return }
    const grants = grantsOf(request, door, this.#deps.grants)
    if (grants === null) { turnAway(request, response, 401, 'token_unknown', 'A bearer token of an open task is needed.'); return }
    const route = path === undefined ? undefined : routes[path]
    if (route === undefined) { turnAway(request, response, 404, 'route_unknown', 'There is no such route.'); return }
    if (request.method !== route.method) { turnAway(request, response, 405, 'method_not_allowed', `Use ${route.method} here.`); return }
    if (route.api === null) answerJson(response, 200, modelList(grants))
    else await this.#deps.serve(grants, route.api, request, response)
  }
}

const routes: Readonly<Record<string, { readonly method: 'GET' | 'POST'; readonly api: 'chat' | 'responses' | null } | undefined>> = {
  '/v1/chat/completions': { method: 'POST', api: 'chat' },
  '/v1/responses': { method: 'POST', api: 'responses' },
  '/v1/models': { method: 'GET', api: null },
}

/** The body is thrown away as it comes, so that a client that is still sending can read the answer. */
function turnAway(request: IncomingMessage, response: ServerResponse, status: number, code: string, message: string): void {
  request.resume()
  answer(response, refusal(status, code, message))
}

function modelList(grants: readonly Grant[]): string {
  return JSON.stringify({ object: 'list', data: grants.map(({ target }) => ({ id: target.modelId, object: 'model', created: 0, owned_by: target.providerLabel })) })
}

function listen(server: Server, where: { readonly host: string; readonly port: number } | { readonly path: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EADDRINUSE' || error.code === 'EACCES')
}

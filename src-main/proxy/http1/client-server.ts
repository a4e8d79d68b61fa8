import { createServer, type Server, type Socket } from 'node:net'
import type { Time } from '../time.ts'
import { ClientConnection, type OnRequest } from './client-connection.ts'
import { http1Limits } from './http1-limits.ts'
import { Intake } from './intake.ts'

/** A listening end for clients: HTTP/1.1, strict, loopback or a Unix socket as it is told. */
export class ClientServer {
  readonly #server: Server
  readonly #time: Time
  readonly #connections = new Set<ClientConnection>()
  readonly #intake = new Intake(http1Limits.intakeBytesMax)
  #cancelSweep: (() => void) | null = null

  constructor(onRequest: OnRequest, time: Time) {
    this.#time = time
    this.#server = createServer((socket) => { this.#take(socket, onRequest) })
    this.#server.maxConnections = http1Limits.clientsMax
  }

  listen(where: { readonly host: string; readonly port: number } | { readonly path: string }): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      // A socket's own folder says who may reach it; the sandbox behind may run as another account than this process.
      this.#server.listen('path' in where ? { ...where, writableAll: true } : where, () => {
        this.#server.off('error', reject)
        resolve()
      })
    })
  }

  /** The port it listens on; 0 on a Unix socket. */
  get port(): number {
    const address = this.#server.address()
    return address === null || typeof address === 'string' ? 0 : address.port
  }

  /** Takes no more connections and ends those that wait for a request. Those under way are left to end, or cut. */
  close(underWay: 'left' | 'cut'): void {
    this.#server.close()
    if (underWay === 'cut') this.#cancelSweep?.()
    for (const connection of this.#connections) if (underWay === 'cut' || connection.idle) connection.destroy()
  }

  #take(socket: Socket, onRequest: OnRequest): void {
    const connection = new ClientConnection(socket, onRequest, () => this.#time.now(), this.#intake)
    this.#connections.add(connection)
    socket.once('close', () => { this.#connections.delete(connection) })
    this.#cancelSweep ??= this.#time.after(http1Limits.sweepMs, () => { this.#sweep() })
  }

  #sweep(): void {
    this.#cancelSweep = null
    for (const connection of [...this.#connections]) connection.sweep()
    if (this.#connections.size > 0) this.#cancelSweep = this.#time.after(http1Limits.sweepMs, () => { this.#sweep() })
  }
}

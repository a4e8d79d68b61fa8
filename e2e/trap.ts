import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An address on loopback that must never be asked for: it writes down whoever does. */
export class Trap {
  readonly #server: Server
  readonly hits: string[] = []

  private constructor() {
    this.#server = createServer((request, response) => {
      this.hits.push(`${request.method ?? ''} ${request.url ?? ''}`)
      response.writeHead(204, { 'access-control-allow-origin': '*' }).end()
    })
  }

  static async set(): Promise<Trap> {
    const trap = new Trap()
    await new Promise<void>((resolve) => trap.#server.listen(0, '127.0.0.1', resolve))
    return trap
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

import { connect, type Socket } from 'node:net'
import type { Peer } from './proxy-peers.ts'

/** When the first byte of an answer came, when its last, and how many there were. Milliseconds from the request's last byte. */
export interface Timed { readonly firstMs: number; readonly wholeMs: number; readonly bytes: number }

interface Waiting { readonly begun: number; firstMs: number; bytes: number; head: string; left: number | null; readonly done: (timed: Timed) => void; readonly failed: (error: Error) => void }

/**
 * A client that costs next to nothing, for build/bench/proxy.ts: one kept connection, one write a request, and no more reading than it takes to
 * see an answer's end. Node's own client takes longer than any of the proxies that are measured.
 */
export class RawClient {
  readonly #socket: Socket
  readonly #head: string
  #waiting: Waiting | null = null
  #tail = ''

  private constructor(socket: Socket, { port, token }: Peer) {
    this.#socket = socket
    this.#head = `POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:${String(port)}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: `
    socket.setNoDelay(true)
    socket.on('data', (bytes: Buffer) => { this.#take(bytes) })
    socket.on('close', () => { this.#waiting?.failed(new Error('the connection was closed')) })
    socket.on('error', () => undefined)
  }

  static open(peer: Peer): Promise<RawClient> {
    return new Promise((opened, failed) => {
      const socket = connect(peer.port, '127.0.0.1', () => { opened(new RawClient(socket, peer)) })
      socket.once('error', failed)
    })
  }

  /** One request; fails on any status but 200. */
  ask(body: string): Promise<Timed> {
    return new Promise((done, failed) => {
      this.#tail = ''
      this.#waiting = { begun: performance.now(), firstMs: 0, bytes: 0, head: '', left: null, done, failed }
      this.#socket.write(`${this.#head}${String(Buffer.byteLength(body))}\r\n\r\n${body}`)
    })
  }

  /** Resolves with the first byte of an answer that does not end. */
  async begin(body: string): Promise<void> {
    void this.ask(body).catch(() => undefined)
    await new Promise<void>((first) => { this.#socket.once('data', () => { first() }) })
  }

  close(): void {
    this.#waiting = null
    this.#socket.destroy()
  }

  #take(bytes: Buffer): void {
    const waiting = this.#waiting
    if (waiting === null) return
    if (waiting.firstMs === 0) waiting.firstMs = performance.now() - waiting.begun
    waiting.bytes += bytes.length
    if (waiting.left === null) this.#takeHead(waiting, bytes)
    else if (Number.isFinite(waiting.left)) waiting.left -= bytes.length
    // A chunked answer's end; no event of ours looks like it.
    this.#tail = (this.#tail + bytes.toString('latin1', Math.max(0, bytes.length - 7))).slice(-7)
    if (waiting.left === null || (Number.isFinite(waiting.left) ? waiting.left > 0 : this.#tail !== '\r\n0\r\n\r\n')) return
    this.#waiting = null
    waiting.done({ firstMs: waiting.firstMs, wholeMs: performance.now() - waiting.begun, bytes: waiting.bytes })
  }

  #takeHead(waiting: Waiting, bytes: Buffer): void {
    waiting.head += bytes.toString('latin1', 0, Math.min(bytes.length, 4_096))
    const end = waiting.head.indexOf('\r\n\r\n')
    if (end < 0) return
    if (!waiting.head.startsWith('HTTP/1.1 200')) { this.#waiting = null; waiting.failed(new Error(waiting.head.slice(0, 300))); return }
    const length = /\r\ncontent-length: (\d+)/i.exec(waiting.head)?.[1]
    waiting.left = length === undefined ? Number.POSITIVE_INFINITY : Number(length) - (waiting.bytes - end - 4)
  }
}

import { EventEmitter } from 'node:events'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { http1Limits } from './http1-limits.ts'

/** Header fields of a reply, in their order. */
export type ReplyFields = readonly (readonly [name: string, value: string | number])[]

export interface ReplyDeps {
  readonly socket: Socket
  /** 0: the client speaks HTTP/1.0 and knows no chunks. */
  readonly minor: 0 | 1
  /** A HEAD request gets no body. */
  readonly bodiless: boolean
  /** Whether the connection serves another request after this one; asked once, when the head is said. */
  readonly keeps: () => boolean
  readonly onFinished: () => void
}

type Body = 'none' | 'length' | 'chunked' | 'until-close'

/**
 * The answer to one request. The head waits for the first bytes of the same turn, so that a small answer is one write; what has come by the
 * end of the turn is sent. `close`: the client went before the answer was whole. `drain`: it takes more again.
 */
export class Reply extends EventEmitter<{ close: []; drain: [] }> {
  readonly #deps: ReplyDeps
  #head: string | null = null
  #body: Body = 'none'
  #left = 0
  #begun = false
  #finished = false
  #gone = false

  constructor(deps: ReplyDeps) {
    super()
    this.#deps = deps
  }

  /** Whether the head has been said. */
  get begun(): boolean {
    return this.#begun
  }

  /** Whether the client has gone, or was cut off. */
  get gone(): boolean {
    return this.#gone
  }

  /** Whether all of it was handed to the connection. */
  get finished(): boolean {
    return this.#finished
  }

  /** Says the head. A body whose `content-length` is not among the fields is sent in chunks. */
  begin(status: number, fields: ReplyFields): void {
    if (this.#begun || this.#gone) return
    this.#begun = true
    let text = `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\n`
    let [length, dated] = [null as number | null, false]
    for (const [name, value] of fields) {
      text += `${name}: ${String(value)}\r\n`
      const lower = name.toLowerCase()
      if (lower === 'content-length') length = Number(value)
      else if (lower === 'date') dated = true
    }
    if (!dated) text += dateLine()
    this.#body = status === 204 || status === 304 || this.#deps.bodiless ? 'none' : length !== null ? 'length' : this.#deps.minor === 1 ? 'chunked' : 'until-close'
    this.#left = length ?? 0
    if (this.#body === 'chunked') text += 'transfer-encoding: chunked\r\n'
    this.#head = `${text}${this.#deps.keeps() ? keepLine : 'connection: close\r\n'}\r\n`
    process.nextTick(() => { if (this.#head !== null && !this.#gone) this.#send([]) })
  }

  /** Hands bytes on; false: the client is slow, wait for `drain`. More bytes than the head told of cut the connection: the client must not take them for the next answer. */
  write(data: Buffer | string): boolean {
    const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data
    if (this.#gone || this.#finished) return false
    if (bytes.length === 0 || this.#body === 'none') return true
    if (this.#body === 'length' && (this.#left -= bytes.length) < 0) { this.destroy(); return false }
    return this.#send(this.#body === 'chunked' ? [Buffer.from(`${bytes.length.toString(16)}\r\n`, 'latin1'), bytes, lineEnd] : [bytes])
  }

  /** The answer is whole. One that is shorter than its head told cuts the connection. */
  end(data?: Buffer | string): void {
    if (data !== undefined && data.length > 0) this.write(data)
    if (this.#gone || this.#finished) return
    if (this.#body === 'length' && this.#left > 0) { this.destroy(); return }
    this.#finished = true
    if (this.#body === 'chunked') this.#send([lastChunk])
    else if (this.#head !== null) this.#send([])
    this.#deps.onFinished()
  }

  /** Cuts the client off. */
  destroy(): void {
    this.#deps.socket.destroy()
    this.closed()
  }

  /** The connection has ended. */
  closed(): void {
    if (this.#gone) return
    this.#gone = true
    if (!this.#finished) this.emit('close')
  }

  #send(parts: readonly Buffer[]): boolean {
    const { socket } = this.#deps
    const head = this.#head ?? ''
    this.#head = null
    let bytes = head.length
    for (const part of parts) bytes += part.length
    let taken = true
    if (head === '' && parts.length === 1) taken = socket.write(parts[0] ?? lineEnd)
    else if (bytes <= http1Limits.copiedBytesMax) taken = socket.write(inOnePiece(head, parts, bytes))
    else {
      socket.cork()
      if (head !== '') socket.write(head, 'latin1')
      for (const part of parts) taken = socket.write(part)
      socket.uncork()
    }
    // What the system has taken at once, however much, makes nobody wait. (Only after a false of the socket's own will it say `drain`.)
    return taken || socket.writableLength === 0
  }
}

function inOnePiece(head: string, parts: readonly Buffer[], bytes: number): Buffer {
  const piece = Buffer.allocUnsafe(bytes)
  let at = piece.write(head, 0, 'latin1')
  for (const part of parts) at += part.copy(piece, at)
  return piece
}

const lineEnd = Buffer.from('\r\n')
const lastChunk = Buffer.from('0\r\n\r\n')
const keepLine = `connection: keep-alive\r\nkeep-alive: timeout=${String(http1Limits.clientIdleMs / 1_000)}\r\n`

let dated = { second: 0, line: '' }
/** The Date field, made once a second. */
function dateLine(): string {
  const second = Math.floor(Date.now() / 1_000)
  if (dated.second !== second) dated = { second, line: `date: ${new Date(second * 1_000).toUTCString()}\r\n` }
  return dated.line
}

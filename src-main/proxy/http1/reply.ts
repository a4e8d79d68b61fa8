import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { http1Limits } from './http1-limits.ts'
import { writeCopied } from './write-copied.ts'

/** Header fields of a reply, in their order. */
export type ReplyFields = readonly (readonly [name: string, value: string | number])[]

/** Header fields as they are sent, each line with its end. `bodyBytes`: the `content-length` among them, or null. `dated`: a `date` is among them. */
export interface ReplyLines { readonly text: string; readonly bodyBytes: number | null; readonly dated: boolean }

/** The connection that a reply goes out on. */
export interface ReplyConnection {
  readonly socket: Socket
  /** Whether it serves another request after this one; asked once, when the head is said. */
  keeps(): boolean
  /** The reply is out. */
  answered(): void
}

type Body = 'none' | 'length' | 'chunked' | 'until-close'

/** The answer to one request. The head waits for the first bytes, or for `flush`, so that a small answer is one write. */
export class Reply {
  readonly #connection: ReplyConnection
  readonly #minor: 0 | 1
  readonly #bodiless: boolean
  #head: string | null = null
  #body: Body = 'none'
  #left = 0
  #begun = false
  #finished = false
  #gone = false
  #onClose: (() => void)[] = []
  #onDrain: (() => void)[] = []

  /** `minor` 0: the client speaks HTTP/1.0 and knows no chunks. `bodiless`: a HEAD request gets no body. */
  constructor(connection: ReplyConnection, minor: 0 | 1, bodiless: boolean) {
    this.#connection = connection
    this.#minor = minor
    this.#bodiless = bodiless
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

  /** `run` is called when the client goes before the answer is whole. */
  onClose(run: () => void): void {
    this.#onClose.push(run)
  }

  offClose(run: () => void): void {
    this.#onClose = this.#onClose.filter((other) => other !== run)
  }

  /** `run` is called once, when the client takes more again or has gone. */
  onceDrained(run: () => void): void {
    this.#onDrain.push(run)
  }

  /** Says the head. A body whose `content-length` is not among the fields is sent in chunks. */
  begin(status: number, fields: ReplyFields): void {
    let [text, bodyBytes, dated] = ['', null as number | null, false]
    for (const [name, value] of fields) {
      text += `${name}: ${String(value)}\r\n`
      const lower = name.toLowerCase()
      if (lower === 'content-length') bodyBytes = Number(value)
      else if (lower === 'date') dated = true
    }
    this.beginWith(status, { text, bodyBytes, dated })
  }

  /** `begin`, with lines that are made already. */
  beginWith(status: number, { text, bodyBytes, dated }: ReplyLines): void {
    if (this.#begun || this.#gone) return
    this.#begun = true
    this.#body = status === 204 || status === 304 || this.#bodiless ? 'none' : bodyBytes !== null ? 'length' : this.#minor === 1 ? 'chunked' : 'until-close'
    this.#left = bodyBytes ?? 0
    const coding = this.#body === 'chunked' ? 'transfer-encoding: chunked\r\n' : ''
    this.#head = `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\n${text}${dated ? '' : dateLine()}${coding}${this.#connection.keeps() ? keepLine : 'connection: close\r\n'}\r\n`
  }

  /** Sends the head now, if it still waits for bytes. */
  flush(): void {
    if (this.#head !== null && !this.#gone) this.#send(none)
  }

  /**
   * Hands bytes on; false: the client is slow, wait until it has drained. The bytes are copied or sent before this returns. More bytes than the
   * head told of cut the connection: the client must not take them for the next answer.
   */
  write(data: Buffer | string): boolean {
    const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data
    if (this.#gone || this.#finished) return false
    if (bytes.length === 0 || this.#body === 'none') return true
    if (this.#body === 'length' && (this.#left -= bytes.length) < 0) { this.destroy(); return false }
    return this.#send([bytes])
  }

  /** The answer is whole. One that is shorter than its head told cuts the connection. */
  end(data?: Buffer | string): void {
    if (data !== undefined && data.length > 0) this.write(data)
    if (this.#gone || this.#finished) return
    if (this.#body === 'length' && this.#left > 0) { this.destroy(); return }
    this.#finished = true
    if (this.#body === 'chunked') this.#write(lastChunk, none)
    else this.flush()
    this.#connection.answered()
  }

  /** Cuts the client off. */
  destroy(): void {
    this.#connection.socket.destroy()
    this.closed()
  }

  /** The connection has ended. */
  closed(): void {
    if (this.#gone) return
    this.#gone = true
    this.drained()
    if (!this.#finished) for (const run of this.#onClose) run()
  }

  /** The connection takes more again. */
  drained(): void {
    for (const run of this.#onDrain.splice(0)) run()
  }

  #send(pieces: readonly Buffer[]): boolean {
    const [first] = pieces
    if (first === undefined) return this.#write('', none)
    return this.#body === 'chunked' ? this.#write(`${first.length.toString(16)}\r\n`, [first, lineEnd]) : this.#write('', pieces)
  }

  #write(text: string, pieces: readonly Buffer[]): boolean {
    const head = this.#head ?? ''
    this.#head = null
    const { socket } = this.#connection
    // What the system has taken at once, however much, makes nobody wait. (Only after a false of the socket's own will it say `drain`.)
    return writeCopied(socket, head + text, pieces) || socket.writableLength === 0
  }
}

const none: readonly Buffer[] = []
const lineEnd = Buffer.from('\r\n')
const lastChunk = '0\r\n\r\n'
const keepLine = `connection: keep-alive\r\nkeep-alive: timeout=${String(http1Limits.clientIdleMs / 1_000)}\r\n`

let dated = { second: 0, line: '' }
/** The Date field, made once a second. */
function dateLine(): string {
  const second = Math.floor(Date.now() / 1_000)
  if (dated.second !== second) dated = { second, line: `date: ${new Date(second * 1_000).toUTCString()}\r\n` }
  return dated.line
}

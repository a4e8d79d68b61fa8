import type { Socket } from 'node:net'
import { BodyDecoder } from './body-decoder.ts'
import type { Fields } from './fields.ts'
import { responseFraming } from './framing.ts'
import { HeadReader } from './head.ts'
import { http1Limits } from './http1-limits.ts'
import { writeCopied } from './write-copied.ts'

/** What becomes of one request. After `onEnd` or `onError`, and after an abort, nothing more is told. */
export interface ReplyHandler {
  /** The final reply's head; interim ones (1xx) are not told. */
  onHead(status: number, fields: Fields): void
  /** Bytes of the body, all that came in one read. They stand in memory that the next read overwrites. */
  onBytes(bytes: Buffer): void
  /** No byte of the body came with the head. */
  onHeadAlone(): void
  onEnd(): void
  onError(error: Error): void
}

interface StatusLine { readonly text: string; readonly status: number; readonly version: 0 | 1 }

const statusLine = /^HTTP\/1\.([01]) ([1-5][0-9]{2})(?: [\t\x20-\x7e\x80-\xff]*)?$/

/**
 * One connection to a vendor, one request at a time. V1. It is used again only when the last reply was framed without any doubt, ended where
 * it said, and nothing came behind it: whatever is odd ends the connection with the call, so that no byte can reach another one.
 */
export class VendorConnection {
  readonly #socket: Socket
  readonly #onIdle: (connection: VendorConnection) => void
  readonly #onGone: (connection: VendorConnection) => void
  #handler: ReplyHandler | null = null
  #body: BodyDecoder | null = null
  /** A head of which not all has come. */
  #head: Buffer | null = null
  readonly #heads = new HeadReader(http1Limits.replyHeadBytesMax)
  /** The status line that was read last, and what it says. */
  #statusLine: StatusLine | null = null
  #keeps = true
  #interims = 0
  /** How long the vendor keeps it open unused, as it says. Milliseconds. */
  keepMs: number = http1Limits.vendorIdleMs

  constructor(socket: Socket, onIdle: (connection: VendorConnection) => void, onGone: (connection: VendorConnection) => void) {
    this.#socket = socket
    this.#onIdle = onIdle
    this.#onGone = onGone
    socket.on('end', () => { this.#closed() })
    socket.on('error', (error) => { this.#fail(error) })
    socket.on('close', () => { this.#closed(); this.#onGone(this) })
  }

  /** Whether a request can still be sent. Between a connection's end and word of it (`onGone`) some turns can pass. */
  get usable(): boolean {
    return this.#socket.writable
  }

  /** Sends a request whose reply goes to this handler. The connection must be idle and connected. */
  send(head: string, body: Buffer, handler: ReplyHandler): void {
    this.#handler = handler
    if (body.length <= http1Limits.copiedBytesMax) { writeCopied(this.#socket, head, [body]); return }
    this.#socket.cork()
    this.#socket.write(head, 'latin1')
    this.#socket.write(body)
    this.#socket.uncork()
  }

  /** Holds the vendor back, for as long as this handler's reply lasts. */
  pause(handler: ReplyHandler): void {
    if (this.#handler === handler) this.#socket.pause()
  }

  resume(handler: ReplyHandler): void {
    if (this.#handler === handler) this.#socket.resume()
  }

  /** Ends this handler's request, if it has not ended, and the connection with it. The handler hears nothing more. */
  abort(handler: ReplyHandler): void {
    if (this.#handler === handler) this.destroy()
  }

  /** Ends the connection at once; whoever waits for a reply hears nothing more. */
  destroy(): void {
    this.#handler = null
    this.#socket.destroy()
  }

  /** Takes what the socket has read. The bytes count during the call only. */
  take(bytes: Buffer): void {
    // Nobody has asked for these.
    if (this.#handler === null) { this.destroy(); return }
    if (this.#body !== null) { this.#takeBody(this.#body, bytes, 0); return }
    const all = this.#head === null ? bytes : Buffer.concat([this.#head, bytes])
    this.#head = null
    this.#takeHead(all)
  }

  #takeHead(bytes: Buffer): void {
    const head = this.#heads.read(bytes)
    if (head === 'more') { this.#head = Buffer.from(bytes); return }
    if (head === 'too-large') { this.#fail(new Error('its reply’s head is too large')); return }
    const line = head === 'malformed' ? null : this.#statusLine?.text === head.startLine ? this.#statusLine : readStatusLine(head.startLine)
    if (head === 'malformed' || line === null) { this.#fail(new Error('its reply is no valid HTTP/1.1')); return }
    this.#statusLine = line
    const { status, version } = line
    if (status === 101) { this.#fail(new Error('it changed the protocol, which nobody asked for')); return }
    const framing = responseFraming(status, head.fields, version)
    if (framing === null) { this.#fail(new Error('its reply’s length cannot be told for certain')); return }
    if (status < 200) { this.#passOver(bytes.subarray(head.bytes)); return }
    this.#keeps = framing.is !== 'until-close' && version === 1 && !head.fields.lists('connection', 'close')
    this.keepMs = keptMs(head.fields.only('keep-alive'))
    const body = new BodyDecoder(framing)
    this.#body = body
    this.#handler?.onHead(status, head.fields)
    if (this.#handler !== null) this.#takeBody(body, bytes, head.bytes)
  }

  /** An interim reply tells nothing; the final one comes behind it. */
  #passOver(rest: Buffer): void {
    this.#interims += 1
    if (this.#interims > http1Limits.interimRepliesMax) this.#fail(new Error('it sent nothing but interim replies'))
    else if (rest.length > 0) this.#takeHead(rest)
  }

  #takeBody(body: BodyDecoder, bytes: Buffer, from: number): void {
    const { data, next } = body.read(bytes, from)
    if (data.length > 0) this.#handler?.onBytes(data)
    else if (from > 0 && !body.done) this.#handler?.onHeadAlone()
    if (body.malformed) { this.#fail(new Error('its reply’s chunks are malformed')); return }
    if (!body.done) return
    if (next < bytes.length) this.#keeps = false
    this.#settle()
  }

  #settle(): void {
    const handler = this.#handler
    this.#handler = null
    this.#body = null
    this.#interims = 0
    this.#socket.resume()
    // A request of which a part still waits to be sent would end up behind this reply.
    if (this.#keeps && !this.#socket.destroyed && this.#socket.writableLength === 0) this.#onIdle(this)
    else this.#socket.destroy()
    handler?.onEnd()
  }

  #closed(): void {
    if (this.#handler === null) { this.#socket.destroy(); return }
    this.#keeps = false
    if (this.#body?.closed() === true) this.#settle()
    else this.#fail(new Error(this.#body === null ? 'it closed the connection without an answer' : 'it closed the connection in the middle of its answer'))
  }

  #fail(error: Error): void {
    const handler = this.#handler
    this.#handler = null
    this.#socket.destroy()
    handler?.onError(error)
  }
}

function readStatusLine(text: string): StatusLine | null {
  const [, minor, digits] = statusLine.exec(text) ?? []
  return digits === undefined ? null : { text, status: Number(digits), version: minor === '1' ? 1 : 0 }
}

/** A second less than the vendor says, so that a request does not meet its close; never longer than our own limit. Source: RFC 2068, 19.7.1.1 */
function keptMs(keepAlive: string | null): number {
  if (keepAlive === null) return http1Limits.vendorIdleMs
  const seconds = /(?:^|,)\s*timeout=([0-9]{1,6})\b/i.exec(keepAlive)?.[1]
  return seconds === undefined ? http1Limits.vendorIdleMs : Math.min(http1Limits.vendorIdleMsMax, Math.max(0, Number(seconds) * 1_000 - 1_000))
}

import type { Socket } from 'node:net'
import { BodyDecoder } from './body-decoder.ts'
import type { Fields } from './fields.ts'
import { requestFraming } from './framing.ts'
import { HeadReader, type Head } from './head.ts'
import { http1Limits } from './http1-limits.ts'
import type { Intake } from './intake.ts'
import { Reply, type ReplyConnection } from './reply.ts'

/** A request's head. `target`: as it was sent, always of the form `/path?query` or `*`. `bodyBytes`: as told; null where it comes in chunks. `connection`: the same object for each request of a connection. */
export interface RequestHead { readonly connection: object; readonly method: string; readonly target: string; readonly fields: Fields; readonly bodyBytes: number | null }

/** What a request's head says besides its body's length: the same for all heads of a likeness. `waits`: with its body, for a word of ours. */
interface Opening { readonly likeness: object; readonly method: string; readonly target: string; readonly minor: 0 | 1; readonly keeps: boolean; readonly waits: boolean }

/** What a handler makes of a head: who takes the whole body, with its limit (`too-many`: all clients' bodies together are too large now); or null, when it has answered or will, and no body is wanted. */
export interface BodyTaker { readonly bytesMax: number; take(body: Buffer | 'too-large' | 'too-many'): void }
export type OnRequest = (request: RequestHead, reply: Reply) => BodyTaker | null

// Other methods are of other protocols, or of nobody.
const requestLine = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) (\/[\x21-\x7e]*|\*) HTTP\/1\.([01])$/
const empty = Buffer.alloc(0)

/** A body that comes in more than one read, or in chunks, or is not wanted. */
type Stage = { readonly is: 'head' } | { readonly is: 'body'; readonly decoder: BodyDecoder; readonly taker: BodyTaker | null; readonly pieces: Buffer[]; bytes: number } | { readonly is: 'answering' } | { readonly is: 'leaving' }
const atHead: Stage = { is: 'head' }
const answering: Stage = { is: 'answering' }
const leaving: Stage = { is: 'leaving' }

/**
 * One client's connection: a request at a time, read strictly. C1. A request that cannot be read for certain is answered 400 and is the last
 * one of its connection. C2. Bytes that were sent ahead are read when the answer before them is out, at most 64 KiB of them. C3. A
 * client that ends its side has gone: who has died cannot be told from who has only nothing more to say. C4. An answer that goes out before
 * its request's body has come is the last one: a client that stops sending could take up the connection for another request, whose bytes
 * would be read as the rest of this body.
 */
export class ClientConnection implements ReplyConnection {
  readonly socket: Socket
  readonly #onRequest: OnRequest
  readonly #now: () => number
  readonly #intake: Intake
  /** Bytes of a body that is not whole. */
  #held = 0
  #stage: Stage = atHead
  #reply: Reply | null = null
  /** Bytes of the next head, or sent ahead. */
  #ahead: Buffer = empty
  readonly #heads = new HeadReader(http1Limits.requestHeadBytesMax)
  #opening: Opening | null = null
  #keeps = true
  /** The body came whole with its head. */
  #whole = false
  #readOverBytes = 0
  /** For how long bytes of the answer wait and none is taken. */
  #unreadMs = 0
  /** When it is ended unless something happens. */
  #until: number

  constructor(socket: Socket, onRequest: OnRequest, now: () => number, intake: Intake) {
    this.socket = socket
    this.#onRequest = onRequest
    this.#now = now
    this.#intake = intake
    this.#until = now() + http1Limits.requestHeadMs
    socket.setNoDelay(true)
    socket.on('data', (bytes: Buffer) => { this.#take(bytes) })
    socket.on('drain', () => { this.#unreadMs = 0; this.#reply?.drained() })
    socket.on('end', () => { if (this.#stage.is === 'body' || this.#stage.is === 'answering') socket.destroy() })
    // `close` tells the same, and always.
    socket.on('error', () => undefined)
    socket.on('close', () => { this.#letGo(); this.#reply?.closed() })
  }

  /** Whether nothing is under way. */
  get idle(): boolean {
    return this.#stage.is === 'head' && this.#ahead.length === 0
  }

  destroy(): void {
    this.socket.destroy()
  }

  keeps(): boolean {
    return (this.#keeps &&= this.#whole || this.#stage.is === 'answering')
  }

  /** The answer is out. The next request is read once this one's body is over. */
  answered(): void {
    if (this.#stage.is === 'body' && !this.#keeps) { this.#leave(); return }
    if (this.#stage.is !== 'answering') return
    this.#reply = null
    if (!this.#keeps) { this.#leave(); return }
    this.#stage = atHead
    this.#until = this.#now() + http1Limits.clientIdleMs
    // Not within the answer's own call: a client that sends many requests ahead must not fill the stack.
    if (this.#ahead.length > 0) setImmediate(() => { this.#readHeads() })
  }

  /**
   * Ends what has taken too long: a head, a body, a pause between requests, a farewell. An answer may take as long as its client takes of it.
   * Called every `sweepMs`.
   */
  sweep(): void {
    if (this.#stage.is === 'answering' ? this.#isLeftUnread() : this.#now() >= this.#until) this.socket.destroy()
  }

  /** Counted in looks, not by the clock: while the machine sleeps nobody can read. */
  #isLeftUnread(): boolean {
    this.#unreadMs = this.socket.writableLength === 0 ? 0 : this.#unreadMs + http1Limits.sweepMs
    return this.#unreadMs >= http1Limits.answerUnreadMs
  }

  #take(bytes: Buffer): void {
    const stage = this.#stage
    if (stage.is === 'body') { this.#takeBody(stage, bytes, 0); return }
    if (stage.is === 'leaving') { this.#readOver(bytes.length); return }
    // A blank line alone begins nothing, so that nobody stays with those.
    if (stage.is === 'head' && this.#ahead.length === 0 && bytes[0] !== 13) this.#until = this.#now() + http1Limits.requestHeadMs
    this.#ahead = this.#ahead.length === 0 ? bytes : Buffer.concat([this.#ahead, bytes])
    if (stage.is === 'head') this.#readHeads()
    else if (this.#ahead.length > http1Limits.aheadBytesMax) this.socket.destroy()
  }

  /** What still comes behind the last answer: some clients read only once they have sent everything. */
  #readOver(bytes: number): void {
    this.#readOverBytes += bytes
    this.#until = this.#now() + http1Limits.lingerMs
    if (this.#readOverBytes > http1Limits.discardBytesMax) this.socket.destroy()
  }

  /** Reads requests for as long as they are whole and answered at once. */
  #readHeads(): void {
    while (this.#stage.is === 'head' && this.#ahead.length > 0 && !this.socket.destroyed) {
      // Blank lines before a request are read over. Source: RFC 9112, 2.2
      if (this.#ahead[0] === 13 && this.#ahead[1] === 10) { this.#ahead = this.#ahead.subarray(2); continue }
      const head = this.#heads.read(this.#ahead)
      if (head === 'more') return
      if (typeof head === 'string') { this.#refuse(head === 'too-large' ? 431 : 400); return }
      const bytes = this.#ahead
      this.#ahead = empty
      this.#begin(head, bytes)
    }
  }

  #begin(head: Head, bytes: Buffer): void {
    const opening = this.#opening?.likeness === head.likeness ? this.#opening : openingOf(head)
    const framing = opening === null ? null : requestFraming(head.fields, opening.minor)
    if (opening === null || framing === null) { this.#refuse(400); return }
    this.#opening = opening
    const { method, target, minor } = opening
    this.#keeps = opening.keeps
    this.#whole = framing.is === 'length' && bytes.length - head.bytes >= framing.bytes
    const reply = new Reply(this, minor, method === 'HEAD')
    this.#reply = reply
    const taker = this.#onRequest({ connection: this, method, target, fields: head.fields, bodyBytes: framing.is === 'length' ? framing.bytes : null }, reply)
    if (this.socket.destroyed) return
    if (this.#whole && taker !== null && framing.is === 'length' && framing.bytes <= taker.bytesMax) { this.#takeWhole(taker, bytes, head.bytes, head.bytes + framing.bytes); return }
    const decoder = new BodyDecoder(framing)
    if (taker !== null && !decoder.done && head.bytes === bytes.length && opening.waits) this.socket.write('HTTP/1.1 100 Continue\r\n\r\n')
    const stage = { is: 'body' as const, decoder, taker, pieces: [], bytes: 0 }
    this.#stage = stage
    this.#until = this.#now() + http1Limits.requestBodyMs
    this.#takeBody(stage, bytes, head.bytes)
  }

  #takeWhole(taker: BodyTaker, bytes: Buffer, from: number, to: number): void {
    if (to < bytes.length) this.#ahead = bytes.subarray(to)
    this.#stage = answering
    taker.take(bytes.subarray(from, to))
  }

  #takeBody(stage: Extract<Stage, { is: 'body' }>, bytes: Buffer, from: number): void {
    const { data, next } = stage.decoder.read(bytes, from)
    if (stage.decoder.malformed) { this.#refuse(400); return }
    stage.bytes += data.length
    const { taker } = stage
    const over = taker === null ? null : stage.bytes > taker.bytesMax ? 'too-large' : this.#hold(data.length) ? null : 'too-many'
    if (taker !== null && over === null && data.length > 0) stage.pieces.push(data)
    if (stage.decoder.done || over !== null) this.#letGo()
    if (stage.decoder.done) {
      this.#ahead = next === bytes.length ? empty : bytes.subarray(next)
      this.#stage = answering
    } else if (stage.bytes > http1Limits.discardBytesMax) { this.socket.destroy(); return }
    else if (over !== null) this.#stage = { ...stage, taker: null, pieces: [] }
    if (over !== null) taker?.take(over)
    else if (stage.decoder.done && taker !== null) taker.take(joined(stage.pieces, stage.bytes))
    else if (this.#reply?.finished === true && (stage.decoder.done || !this.#keeps)) this.answered()
  }

  #hold(bytes: number): boolean {
    const fits = this.#intake.take(bytes)
    if (fits) this.#held += bytes
    return fits
  }

  #letGo(): void {
    this.#intake.release(this.#held)
    this.#held = 0
  }

  #refuse(status: 400 | 431): void {
    const code = status === 400 ? 'malformed_request' : 'headers_too_large'
    const message = status === 400 ? 'The request is no valid HTTP/1.1, or could be read in two ways.' : 'The request’s head is too large.'
    const body = JSON.stringify({ error: { message, type: 'invalid_request_error', code, param: null } })
    const begun = this.#reply?.begun === true
    this.#reply?.closed()
    this.#reply = null
    // Half an answer of another request cannot be followed by this one.
    if (begun) { this.socket.destroy(); return }
    this.socket.write(`HTTP/1.1 ${String(status)} ${status === 400 ? 'Bad Request' : 'Request Header Fields Too Large'}\r\ncontent-type: application/json\r\ncontent-length: ${String(Buffer.byteLength(body))}\r\nconnection: close\r\nx-muse-proxy-path: direct\r\n\r\n${body}`)
    this.#leave()
  }

  /** Says nothing more. What still comes is read over for a moment: bytes left unread would reset the connection before the client has read the answer. */
  #leave(): void {
    this.#stage = leaving
    this.#ahead = empty
    this.#until = this.#now() + http1Limits.lingerMs
    this.socket.end()
  }
}

function openingOf({ startLine, fields, likeness }: Head): Opening | null {
  const [, method, target, digit] = requestLine.exec(startLine) ?? []
  if (method === undefined || target === undefined) return null
  const minor = digit === '1' ? 1 : 0
  return { likeness, method, target, minor, keeps: minor === 1 && !fields.lists('connection', 'close'), waits: minor === 1 && fields.only('expect')?.toLowerCase() === '100-continue' }
}

function joined(pieces: readonly Buffer[], bytes: number): Buffer {
  const [first] = pieces
  return pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces, bytes)
}

import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectSecure } from 'node:tls'
import type { Time } from '../time.ts'
import { http1Limits } from './http1-limits.ts'
import { VendorConnection, type ReplyHandler } from './vendor-connection.ts'

/** Where connections go: taken from a URL once. `text`: scheme, host and port. */
export interface VendorOrigin { readonly text: string; readonly host: string; readonly port: number; readonly secure: boolean }

/** The origin of an http or https URL. */
export function vendorOrigin({ origin, protocol, hostname, port }: URL): VendorOrigin {
  const secure = protocol === 'https:'
  return { text: origin, host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (secure ? 443 : 80)), secure }
}

/** Whose connections to which origin. No two owners have the same: `key` is made of both. */
export interface Lane { readonly origin: VendorOrigin; readonly key: string }

/** The lane of one owner, a grant's id, to one origin. */
export function laneOf(owner: string, origin: VendorOrigin): Lane {
  return { origin, key: `${origin.text} ${owner}` }
}

/** A request on a lane: its head and its body. */
export interface VendorRequest { readonly lane: Lane; readonly head: string; readonly body: Buffer }

/** A request under way. `left`: whether any of it may have left. */
export interface OpenRequest {
  readonly left: boolean
  pause(): void
  resume(): void
  /** Ends it at once, with its connection. Its handler hears nothing more. */
  abort(): void
}

/**
 * Where every vendor's bytes are read into, one read after another: what is read is taken before the next read begins, so that one piece of
 * memory does for all connections, and none is allocated for a read.
 */
const readBytes = Buffer.allocUnsafeSlow(http1Limits.vendorReadBytes)

/** Who reads a socket, once it is connected. All that the socket keeps hold of: the request that it was opened for is not kept with it. */
interface Reader { connection: VendorConnection | null }

interface Waiting { readonly connection: VendorConnection; readonly until: number }

/**
 * Connections to vendors, kept for the next request of the same owner to the same origin, newest first. V2. None serves two owners: a reply
 * that a vendor sends once too often, while the next request is leaving, cannot be told from the answer to that one. A kept one is used for as long as the vendor says
 * (4 s where it says nothing), told by the wall clock, so that none outlives the machine's sleep. Nothing is retried: whether a
 * request that met a closing connection was taken is not known.
 */
export class VendorPool {
  readonly #time: Time
  readonly #connectMs: number
  readonly #idle = new Map<string, Waiting[]>()
  readonly #open = new Set<VendorConnection | Socket>()
  readonly #sessions = new Map<string, Buffer>()
  #cancelSweep: (() => void) | null = null

  constructor(time: Time, connectMs: number) {
    this.#time = time
    this.#connectMs = connectMs
  }

  /** Sends a request on a kept connection or a new one. Redirects are not followed. */
  send(request: VendorRequest, handler: ReplyHandler): OpenRequest {
    const kept = this.#take(request.lane.key)
    if (kept === null) return new Connecting(this, request, handler)
    kept.send(request.head, request.body, handler)
    return new Sent(kept, handler)
  }

  /** Opens a connection; one that is not there within the limit fails. */
  connect({ origin, key }: Lane, done: (connection: VendorConnection) => void, failed: (error: Error) => void): Socket {
    const reader: Reader = { connection: null }
    const socket = this.#socket(origin, reader)
    this.#open.add(socket)
    socket.setNoDelay(true)
    const late = this.#time.after(this.#connectMs, () => { socket.destroy(new Error(`no connection within ${String(this.#connectMs / 1_000)} s`)) })
    const over = (): void => {
      late()
      this.#open.delete(socket)
    }
    const onError = (error: Error): void => { over(); failed(error) }
    const onClose = (): void => { over() }
    socket.once('error', onError)
    socket.once('close', onClose)
    socket.once(origin.secure ? 'secureConnect' : 'connect', () => {
      over()
      socket.off('error', onError)
      socket.off('close', onClose)
      const connection = new VendorConnection(socket, (idle) => { this.#keep(key, idle) }, (gone) => { this.#forget(key, gone) })
      reader.connection = connection
      this.#open.add(connection)
      done(connection)
    })
    return socket
  }

  close(): void {
    this.#cancelSweep?.()
    for (const open of this.#open) open.destroy()
    this.#idle.clear()
  }

  #socket({ text, host, port, secure }: VendorOrigin, reader: Reader): Socket {
    const onread = { buffer: readBytes, callback: (count: number) => { reader.connection?.take(readBytes.subarray(0, count)); return true } }
    if (!secure) return connectPlain({ host, port, onread })
    const session = this.#sessions.get(text)
    const socket = connectSecure({ ...{ onread }, host, port, ALPNProtocols: ['http/1.1'], ...(isIP(host) === 0 ? { servername: host } : {}), ...(session === undefined ? {} : { session }) })
    socket.on('session', (made: Buffer) => { this.#sessions.set(text, made) })
    return socket
  }

  #take(key: string): VendorConnection | null {
    const idle = this.#idle.get(key)
    if (idle === undefined) return null
    for (let newest = idle.pop(); newest !== undefined; newest = idle.pop()) {
      if (newest.connection.usable && this.#time.now() < newest.until) return newest.connection
      newest.connection.destroy()
    }
    return null
  }

  #keep(key: string, connection: VendorConnection): void {
    let idle = this.#idle.get(key)
    if (idle === undefined) this.#idle.set(key, idle = [])
    idle.push({ connection, until: this.#time.now() + connection.keepMs })
    if (idle.length > http1Limits.vendorIdleConnectionsMax) idle.shift()?.connection.destroy()
    this.#cancelSweep ??= this.#time.after(http1Limits.sweepMs, () => { this.#sweep() })
  }

  #forget(key: string, connection: VendorConnection): void {
    this.#open.delete(connection)
    const idle = this.#idle.get(key)
    const at = idle?.findIndex((waiting) => waiting.connection === connection) ?? -1
    if (at >= 0) idle?.splice(at, 1)
  }

  /** Ends what has waited too long, and comes again while anything waits. */
  #sweep(): void {
    this.#cancelSweep = null
    const now = this.#time.now()
    for (const [key, idle] of this.#idle) {
      for (const { connection, until } of [...idle]) if (now >= until) connection.destroy()
      const left = idle.filter(({ until }) => now < until)
      if (left.length === 0) this.#idle.delete(key)
      else this.#idle.set(key, left)
    }
    if (this.#idle.size > 0) this.#cancelSweep = this.#time.after(http1Limits.sweepMs, () => { this.#sweep() })
  }
}

/** A request on a connection that was there. */
class Sent implements OpenRequest {
  readonly left = true
  readonly #connection: VendorConnection
  readonly #handler: ReplyHandler

  constructor(connection: VendorConnection, handler: ReplyHandler) {
    this.#connection = connection
    this.#handler = handler
  }

  pause(): void {
    this.#connection.pause(this.#handler)
  }

  resume(): void {
    this.#connection.resume(this.#handler)
  }

  abort(): void {
    this.#connection.abort(this.#handler)
  }
}

/** A request whose connection is being opened. */
class Connecting implements OpenRequest {
  #connection: VendorConnection | null = null
  readonly #socket: Socket
  readonly #handler: ReplyHandler
  #aborted = false

  constructor(pool: VendorPool, request: VendorRequest, handler: ReplyHandler) {
    this.#handler = handler
    this.#socket = pool.connect(request.lane, (connection) => {
      if (this.#aborted) { connection.destroy(); return }
      this.#connection = connection
      connection.send(request.head, request.body, handler)
    }, (error) => { if (!this.#aborted) handler.onError(error) })
  }

  get left(): boolean {
    return this.#connection !== null
  }

  pause(): void {
    this.#connection?.pause(this.#handler)
  }

  resume(): void {
    this.#connection?.resume(this.#handler)
  }

  abort(): void {
    this.#aborted = true
    if (this.#connection === null) this.#socket.destroy()
    else this.#connection.abort(this.#handler)
  }
}

import { createServer, Socket, type AddressInfo, type Server } from 'node:net'
import { Duplex } from 'node:stream'
import { createServer as createSecure, getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { processTime, type Time } from '../time.ts'
import { testCertificate, testKey } from './test-certificate.suite.ts'
import { laneOf, vendorOrigin, VendorPool } from './vendor-pool.ts'

const opened: (() => unknown)[] = []
afterEach(async () => { for (const close of opened.splice(0).reverse()) await close() })

interface Vendor { readonly port: number; readonly sockets: Socket[]; readonly read: () => string }

/** A vendor made of bytes: `answer` gets each request's text and its connection. */
async function startVendor(answer: (socket: Socket, request: string) => void, make: (onSocket: (socket: Socket) => void) => Server = createServer): Promise<Vendor> {
  const sockets: Socket[] = []
  let read = ''
  const server = make((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined).on('data', (bytes: Buffer) => { read += bytes.toString('latin1'); if (bytes.includes('\r\n\r\n')) answer(socket, bytes.toString('latin1')) })
  })
  await new Promise<void>((listening) => { server.listen(0, '127.0.0.1', listening) })
  opened.push(() => { for (const socket of sockets) socket.destroy(); server.close() })
  return { port: (server.address() as AddressInfo).port, sockets, read: () => read }
}

function poolOf(time: Time = processTime): VendorPool {
  const pool = new VendorPool(time, 2_000)
  opened.push(() => { pool.close() })
  return pool
}

/** One request; what came of it. */
function ask(pool: VendorPool, origin: string, owner = 'gw_1'): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    let [status, body] = [0, '']
    pool.send({ lane: laneOf(owner, vendorOrigin(new URL(origin))), head: 'POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n', body: Buffer.from('{}') }, {
      onHead: (told) => { status = told }, onBytes: (bytes) => { body += bytes.toString('latin1') }, onHeadAlone: () => undefined, onEnd: () => { resolve({ status, body }) }, onError: reject,
    })
  })
}

const fine = (body: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`

describe('a connection to a vendor', () => {
  test('serves the next request where the last reply left no doubt', async () => {
    const vendor = await startVendor((socket) => { socket.write(fine('ok')) })
    const pool = poolOf()
    for (let time = 0; time < 3; time += 1) expect(await ask(pool, `http://127.0.0.1:${String(vendor.port)}`)).toEqual({ status: 200, body: 'ok' })
    expect(vendor.sockets).toHaveLength(1)
  })

  test.each([
    ['bytes behind its reply', `${fine('ok')}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison`], ['its word that it closes', `HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok`], ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok'],
  ])('serves nobody else after %s', async (_what, reply) => {
    const vendor = await startVendor((socket) => { socket.write(reply) })
    const pool = poolOf()
    const origin = `http://127.0.0.1:${String(vendor.port)}`
    expect([await ask(pool, origin), await ask(pool, origin)]).toEqual([{ status: 200, body: 'ok' }, { status: 200, body: 'ok' }])
    expect(vendor.sockets).toHaveLength(2)
  })

  test('serves nobody else after bytes that nobody asked for, however late they come', async () => {
    const vendor = await startVendor((socket) => { socket.write(fine('ok')) })
    const pool = poolOf()
    const origin = `http://127.0.0.1:${String(vendor.port)}`
    await ask(pool, origin)
    vendor.sockets[0]?.write(fine('poison'))
    await vi.waitFor(() => { expect(vendor.sockets[0]?.closed).toBe(true) })
    expect(await ask(pool, origin)).toEqual({ status: 200, body: 'ok' })
  })

  test('serves one grant only: what its vendor says too late cannot reach another bot', async () => {
    const vendor = await startVendor((socket) => { socket.write(fine('ok')) })
    const pool = poolOf()
    const origin = `http://127.0.0.1:${String(vendor.port)}`
    await ask(pool, origin, 'gw_1')
    // On its way already when the next request leaves: nobody could tell it from that one's reply.
    vendor.sockets[0]?.write(fine('poison'))
    expect(await ask(pool, origin, 'gw_2')).toEqual({ status: 200, body: 'ok' })
    expect(vendor.sockets).toHaveLength(2)
  })

  test('that is known to have ended serves nobody, even while it is being cleared away', async () => {
    const vendor = await startVendor((socket) => { socket.write(fine('ok')) })
    const pool = poolOf()
    const origin = `http://127.0.0.1:${String(vendor.port)}`
    const ended = vi.spyOn(Socket.prototype, 'destroy')
    opened.push(() => { ended.mockRestore() })
    await ask(pool, origin)
    const next = new Promise<unknown>((resolve) => {
      ended.mockImplementationOnce(function (this: Socket, error) {
        Duplex.prototype.destroy.call(this, error)
        resolve(ask(pool, origin).catch((reason: unknown) => reason))
        return this
      })
    })
    vendor.sockets[0]?.end()
    expect(await next).toEqual({ status: 200, body: 'ok' })
    expect(vendor.sockets).toHaveLength(2)
  })

  test('is not kept past what the vendor says, by the wall clock', async () => {
    let now = 1_000_000
    const vendor = await startVendor((socket) => { socket.write('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=10, max=100\r\nContent-Length: 2\r\n\r\nok') })
    const pool = poolOf({ ...processTime, now: () => now })
    const origin = `http://127.0.0.1:${String(vendor.port)}`
    await ask(pool, origin)
    now += 8_900
    await ask(pool, origin)
    expect(vendor.sockets).toHaveLength(1)
    // The machine has slept.
    now += 3_600_000
    await ask(pool, origin)
    expect(vendor.sockets).toHaveLength(2)
  })

  test('that nobody needs any more is closed', async () => {
    let now = 1_000_000
    const vendor = await startVendor((socket) => { socket.write(fine('ok')) })
    await ask(poolOf({ ...processTime, now: () => now }), `http://127.0.0.1:${String(vendor.port)}`)
    now += 10_000
    await vi.waitFor(() => { expect(vendor.sockets[0]?.closed).toBe(true) }, { timeout: 5_000 })
  })

  test('that ends without an answer is an error, and the request is not sent again', async () => {
    const vendor = await startVendor((socket) => { socket.destroy() })
    await expect(ask(poolOf(), `http://127.0.0.1:${String(vendor.port)}`)).rejects.toThrow(/without an answer|ECONNRESET/)
    expect(vendor.sockets).toHaveLength(1)
  })

  test('of an ended request belongs to the next one: a late abort ends nothing of it', async () => {
    const vendor = await startVendor((socket) => { socket.write(fine('ok')) })
    const pool = poolOf()
    const origin = vendorOrigin(new URL(`http://127.0.0.1:${String(vendor.port)}`))
    const request = { lane: laneOf('gw_1', origin), head: 'POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n', body: Buffer.alloc(0) }
    const ended = await new Promise<{ abort(): void }>((resolve) => {
      const open = pool.send(request, { onHead: () => undefined, onBytes: () => undefined, onHeadAlone: () => undefined, onError: () => undefined, onEnd: () => { resolve(open) } })
    })
    const next = ask(pool, origin.text)
    ended.abort()
    expect(await next).toEqual({ status: 200, body: 'ok' })
    expect(vendor.sockets).toHaveLength(1)
  })
})

describe('a secure connection', () => {
  const secure = (onSocket: (socket: Socket) => void): Server => createSecure({ key: testKey, cert: testCertificate, ALPNProtocols: ['http/1.1'] }, onSocket)

  test('is made only to a vendor whose certificate is trusted for its name; not a byte of a request goes to another', async () => {
    const vendor = await startVendor((socket) => { socket.write(fine('ok')) }, secure)
    const origin = `https://localhost:${String(vendor.port)}`
    await expect(ask(poolOf(), origin)).rejects.toThrow(/self-signed|certificate/i)
    expect(vendor.read()).toBe('')
    const known = getCACertificates('default')
    setDefaultCACertificates([...known, testCertificate])
    opened.push(() => { setDefaultCACertificates(known) })
    await expect(ask(poolOf(), `https://127.0.0.1:${String(vendor.port)}`)).rejects.toThrow(/altname|IP/i)
    expect(vendor.read()).toBe('')
    expect(await ask(poolOf(), origin)).toEqual({ status: 200, body: 'ok' })
    expect((vendor.sockets.at(-1) as TLSSocket).alpnProtocol).toBe('http/1.1')
  })

  test('hands a large reply on as it came, over one connection', async () => {
    const known = getCACertificates('default')
    setDefaultCACertificates([...known, testCertificate])
    opened.push(() => { setDefaultCACertificates(known) })
    const big = 'ü'.repeat(300_000)
    const vendor = await startVendor((socket) => {
      const bytes = Buffer.from(big)
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      for (let at = 0; at < bytes.length; at += 7_001) { const piece = bytes.subarray(at, at + 7_001); socket.write(`${piece.length.toString(16)}\r\n`); socket.write(piece); socket.write('\r\n') }
      socket.write('0\r\n\r\n')
    }, secure)
    const pool = poolOf()
    const origin = `https://localhost:${String(vendor.port)}`
    for (let time = 0; time < 2; time += 1) expect(Buffer.from((await ask(pool, origin)).body, 'latin1').toString('utf8') === big).toBe(true)
    expect(vendor.sockets).toHaveLength(1)
  })
})

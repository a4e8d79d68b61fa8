import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { duplexPair, type Duplex } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ClientConnection } from './client-connection.ts'
import { cases, cutAt, cuts, edited } from './fuzz.suite.ts'
import { http1Limits } from './http1-limits.ts'
import { Intake } from './intake.ts'
import type { Reply } from './reply.ts'

interface Read { readonly method: string; readonly target: string; readonly fields: readonly string[]; readonly body: string }

/** What a reader makes of these bytes: the requests that it took as whole, and what it wrote. */
interface Seen { readonly requests: Read[]; readonly written: string; readonly over: boolean }

const plenty = (): Intake => new Intake(1e9)
const turn = (): Promise<void> => new Promise((done) => { setImmediate(done) })

async function settled(ours: Duplex): Promise<void> {
  // Both readers work within a few turns of the event loop: nothing here waits for the outside.
  for (let turns = 0; turns < 12 && !ours.destroyed; turns += 1) await turn()
}

async function readByUs(pieces: readonly Buffer[], onReply?: () => void): Promise<Seen> {
  const [client, server] = duplexPair()
  const requests: Read[] = []
  let [written, over] = ['', false]
  client.on('data', (bytes: Buffer) => { written += bytes.toString('latin1') }).on('end', () => { over = true })
  const connection = new ClientConnection(Object.assign(server, { setNoDelay: () => undefined }) as unknown as Socket, (head, reply) => ({
    bytesMax: 1_000_000,
    take: (body) => {
      const fields: string[] = []
      head.fields.each((_lower, value, name) => { fields.push(name, value) })
      requests.push({ method: head.method, target: head.target, fields, body: String(body) })
      reply.begin(200, [['content-length', 0]])
      reply.end()
      onReply?.()
    },
  }), () => 0, plenty())
  for (const piece of pieces) { client.write(Buffer.from(piece)); await turn() }
  await settled(client)
  connection.destroy()
  return { requests, written, over: over || server.destroyed }
}

/** What Node takes: each request whose head it read, with its body. Bytes behind a request that said close make it drop that request with the connection; its own reading of it counts all the same. */
async function readByNode(bytes: Buffer): Promise<readonly Read[]> {
  const requests: (Omit<Read, 'body'> & { readonly chunks: Buffer[]; whole: boolean })[] = []
  const server = createServer({ insecureHTTPParser: false, requireHostHeader: false, maxHeaderSize: 64 * 1024 }, (request, response) => {
    const read = { method: request.method ?? '', target: request.url ?? '', fields: request.rawHeaders, chunks: [] as Buffer[], whole: false }
    requests.push(read)
    request.on('data', (chunk: Buffer) => { read.chunks.push(chunk) }).on('end', () => { read.whole = true; response.end() }).on('error', () => undefined)
  })
  server.on('clientError', (error: NodeJS.ErrnoException) => { const last = requests.at(-1); if (last !== undefined && error.code === 'HPE_CLOSED_CONNECTION') last.whole = true })
  const [client, inner] = duplexPair()
  client.resume()
  server.emit('connection', inner)
  client.write(Buffer.from(bytes))
  await settled(client)
  inner.destroy()
  server.close()
  return requests.filter(({ whole }) => whole).map(({ method, target, fields, chunks }) => ({ method, target, fields, body: Buffer.concat(chunks).toString('utf8') }))
}

const head = (lines: readonly string[], target = '/v1/x'): string => [`POST ${target} HTTP/1.1`, 'Host: 127.0.0.1', ...lines, '', ''].join('\r\n')
const wholes = [
  `${head(['Content-Length: 5'])}hello`, `${head(['Transfer-Encoding: chunked'])}5\r\nhello\r\n6;a=b\r\n world\r\n0\r\n\r\n`, `${head(['Transfer-Encoding: chunked'])}3\r\nabc\r\n0\r\nX-Trailer: t\r\n\r\n`,
  'GET /healthz HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer abc\r\n\r\n', head(['Content-Length: 0', 'Connection: close']), 'GET / HTTP/1.0\r\nHost: a\r\n\r\n',
]

describe('a client’s bytes', () => {
  test('are read as Node’s strict parser reads them, or not at all', async () => {
    await fc.assert(fc.asyncProperty(edited(wholes), async (bytes) => {
      const [ours, nodes] = [await readByUs([bytes]), await readByNode(bytes)]
      expect(nodes.slice(0, ours.requests.length)).toEqual(ours.requests)
    }), { numRuns: cases })
  }, 600_000)

  test('are read the same wherever they are cut', async () => {
    await fc.assert(fc.asyncProperty(edited(wholes), cuts, async (bytes, shares) => {
      expect((await readByUs(cutAt(bytes, shares))).requests).toEqual((await readByUs([bytes])).requests)
    }), { numRuns: Math.ceil(cases / 3) })
  }, 600_000)

  test('that mean something are read: every whole request, alone and ahead of the next', async () => {
    for (const whole of wholes.slice(0, 4)) {
      const { requests, written } = await readByUs([Buffer.from(whole + whole)])
      expect(requests).toHaveLength(2)
      expect(written.match(/HTTP\/1\.1 200/g)).toHaveLength(2)
    }
    expect((await readByUs([Buffer.from(`\r\n\r\n${wholes[0] ?? ''}\r\n${wholes[3] ?? ''}`)])).requests).toHaveLength(2)
  })

  test.each([
    ['a request that says close', wholes[4] ?? ''], ['HTTP/1.0', wholes[5] ?? ''],
  ])('are over after %s', async (_what, whole) => {
    const { requests, written, over } = await readByUs([Buffer.from(whole + (wholes[0] ?? ''))])
    expect({ requests: requests.length, over }).toEqual({ requests: 1, over: true })
    expect(written).toContain('connection: close')
  })

  test.each([
    ['a head without an end', `GET / HTTP/1.1\r\nX: ${'a'.repeat(http1Limits.requestHeadBytesMax)}`, 431], ['more header lines than there are names', `GET / HTTP/1.1\r\n${'a: b\r\n'.repeat(300)}\r\n`, 431],
    ['a chunk’s size line without an end', `${head(['Transfer-Encoding: chunked'])}1;${'a'.repeat(2_000)}`, 400], ['trailers without an end', `${head(['Transfer-Encoding: chunked'])}0\r\n${'a: b\r\n'.repeat(2_000)}`, 400],
    ['a length among the trailers', `${head(['Transfer-Encoding: chunked'])}0\r\nContent-Length: 5\r\n\r\n`, 400], ['a coding among the trailers', `${head(['Transfer-Encoding: chunked'])}0\r\nTransfer-Encoding: chunked\r\n\r\n`, 400],
    ['a tunnel', 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n', 400], ['another protocol', '\x16\x03\x01\x02\x00\x01\r\n\r\n', 400], ['HTTP/2’s preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400], ['HTTP/0.9', 'GET /\r\n\r\n', 400], ['an absolute target', 'GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ])('are refused and the connection ended: %s', async (_what, text, status) => {
    const { requests, written, over } = await readByUs([Buffer.from(text, 'latin1')])
    expect(requests).toEqual([])
    expect(written).toMatch(new RegExp(`^HTTP/1\\.1 ${String(status)} [\\s\\S]*connection: close[\\s\\S]*"error"`))
    expect(over).toBe(true)
  })

  test('that wait for a word get it once, when their body is wanted', async () => {
    const expecting = head(['Content-Length: 5', 'Expect: 100-continue'])
    const { requests, written } = await readByUs([Buffer.from(expecting), Buffer.from('hello')])
    expect(requests).toHaveLength(1)
    expect(written.startsWith('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200')).toBe(true)
  })

  test('that come ahead are all read, and so many of them fill no stack', async () => {
    const many = 20_000
    expect((await readByUs([Buffer.from((wholes[3] ?? '').repeat(many))])).requests).toHaveLength(many)
  })

  test('that are still on their way when their answer goes out belong to no other request, whatever comes behind', async () => {
    const refused = duplexPair()
    const [client, server] = refused
    const heads: string[] = []
    let written = ''
    client.on('data', (bytes: Buffer) => { written += bytes.toString('latin1') })
    const connection = new ClientConnection(Object.assign(server, { setNoDelay: () => undefined }) as unknown as Socket, (request, reply) => {
      heads.push(request.target)
      reply.begin(413, [['content-length', 0]])
      reply.end()
      return null
    }, () => 0, plenty())
    client.write(`${head(['Content-Length: 1000000'], '/big')}${'x'.repeat(1_000)}`)
    await settled(client)
    // The client has given up its body and takes the connection for its next request.
    client.write(head(['Content-Length: 0'], '/next'))
    await settled(client)
    connection.destroy()
    expect(heads).toEqual(['/big'])
    expect(written).toMatch(/^HTTP\/1\.1 413 [\s\S]*connection: close\r\n\r\n$/)
  })
})

describe('bodies that are still coming', () => {
  const big = 'x'.repeat(600)
  /** Connections with one bound for all of their bodies, each with a body of 900 bytes of which 600 have come. */
  async function coming(count: number): Promise<{ readonly taken: unknown[]; readonly clients: readonly Duplex[] }> {
    const taken: unknown[] = []
    const intake = new Intake(1_500)
    const clients: Duplex[] = []
    for (let made = 0; made < count; made += 1) {
      const [client, server] = duplexPair()
      client.resume()
      new ClientConnection(Object.assign(server, { setNoDelay: () => undefined }) as unknown as Socket, (_head, reply) => ({ bytesMax: 10_000, take: (body) => { taken.push(typeof body === 'string' ? body : body.length); reply.begin(200, [['content-length', 0]]); reply.end() } }), () => 0, intake)
      client.write(head(['Content-Length: 900']) + big)
      clients.push(client)
      await settled(client)
    }
    return { taken, clients }
  }

  test('are held up to one bound for all clients, beyond which one is told so at once and the others go on', async () => {
    const { taken, clients } = await coming(3)
    expect(taken).toEqual(['too-many'])
    for (const client of clients.slice(0, 2)) { client.write(big.slice(0, 300)); await settled(client) }
    expect(taken).toEqual(['too-many', 900, 900])
    for (const client of clients) client.destroy()
  })

  test('make room when they are whole, and when their client goes', async () => {
    const { taken, clients } = await coming(2)
    const [first, second] = clients
    first?.destroy()
    second?.write(big.slice(0, 300))
    for (const client of clients) await settled(client)
    expect(taken).toEqual([900])
    second?.write(head(['Content-Length: 1400']) + 'x'.repeat(1_399))
    if (second !== undefined) await settled(second)
    second?.write('x')
    if (second !== undefined) await settled(second)
    expect(taken).toEqual([900, 1_400])
    second?.destroy()
  })
})

describe('a client that says nothing', () => {
  test('is cut off in time, whatever blank lines it sends', async () => {
    const [client, server] = duplexPair()
    client.resume()
    let now = 0
    const connection = new ClientConnection(Object.assign(server, { setNoDelay: () => undefined }) as unknown as Socket, () => null, () => now, plenty())
    for (; now < http1Limits.requestHeadMs; now += 10_000) { client.write('\r\n'); await settled(client); connection.sweep(); expect(server.destroyed).toBe(false) }
    connection.sweep()
    expect(server.destroyed).toBe(true)
  })
})

describe('an answer', () => {
  /** A client that reads as told, and an answer that has begun. */
  function answering(): { readonly client: Duplex; readonly connection: ClientConnection; readonly reply: () => Reply } {
    const [client, server] = duplexPair()
    let reply: Reply | null = null
    const connection = new ClientConnection(Object.assign(server, { setNoDelay: () => undefined }) as unknown as Socket, (_head, made) => {
      reply = made
      made.begin(200, [])
      made.flush()
      return null
    }, () => 0, plenty())
    client.write(head(['Content-Length: 0']))
    return { client, connection, reply: () => { if (reply === null) throw new Error('no request yet'); return reply } }
  }
  const sweeps = (connection: ClientConnection, ms: number): void => { for (let gone = 0; gone < ms; gone += http1Limits.sweepMs) connection.sweep() }

  test('that its client does not take is given up, so that it holds no vendor for ever', async () => {
    const { client, connection, reply } = answering()
    await settled(client)
    let gone = 0
    reply().onClose(() => { gone += 1 })
    while (reply().write('x'.repeat(10_000))) await turn()
    sweeps(connection, http1Limits.answerUnreadMs - http1Limits.sweepMs)
    await turn()
    expect([gone, reply().gone]).toEqual([0, false])
    sweeps(connection, 2 * http1Limits.sweepMs)
    await turn()
    expect([gone, reply().gone]).toEqual([1, true])
  })

  test('that is not out yet bounds what its client may send ahead of it', async () => {
    const { client, connection, reply } = answering()
    await settled(client)
    client.write(Buffer.alloc(http1Limits.aheadBytesMax, 'x'))
    await settled(client)
    expect(reply().gone).toBe(false)
    client.write('x')
    await settled(client)
    expect(reply().gone).toBe(true)
    connection.destroy()
  })

  test('that its client takes, however slowly, and one that its vendor is slow with, may last', async () => {
    const { client, connection, reply } = answering()
    await settled(client)
    for (let round = 0; round < 4; round += 1) {
      while (reply().write('x'.repeat(10_000))) await turn()
      sweeps(connection, http1Limits.answerUnreadMs - http1Limits.sweepMs)
      client.resume()
      await settled(client)
      client.pause()
    }
    sweeps(connection, 3 * http1Limits.answerUnreadMs)
    await turn()
    expect(reply().gone).toBe(false)
    connection.destroy()
  })
})

import { request as httpRequest } from 'node:http'
import type { Socket } from 'node:net'
import { duplexPair } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases, cutAt, cuts, edited } from './fuzz.suite.ts'
import { VendorConnection } from './vendor-connection.ts'

interface Read { readonly status: number; readonly fields: readonly string[]; readonly body: string }
interface Seen { readonly reply: Read | null; readonly error: string | null; readonly kept: boolean }

const turn = (): Promise<void> => new Promise((done) => { setImmediate(done) })
async function turns(): Promise<void> { for (let count = 0; count < 12; count += 1) await turn() }

/** `ends`: the vendor closes behind these bytes. */
async function readByUs(pieces: readonly Buffer[], ends: boolean): Promise<Seen> {
  const [ours, vendor] = duplexPair()
  vendor.resume()
  let [status, body, whole, error, kept] = [0, '', false, null as string | null, false]
  const fields: string[] = []
  const connection = new VendorConnection(ours as unknown as Socket, () => { kept = true }, () => undefined)
  // As the pool does: what was read counts during the call only.
  ours.on('data', (bytes: Buffer) => { const read = Buffer.from(bytes); connection.take(read); read.fill(0) })
  connection.send('POST / HTTP/1.1\r\n\r\n', Buffer.alloc(0), {
    onHead: (told, said) => { status = told; said.each((_lower, value, name) => { fields.push(name, value) }) },
    onBytes: (bytes) => { body += bytes.toString('latin1') }, onHeadAlone: () => undefined, onEnd: () => { whole = true }, onError: (failed) => { error = failed.message },
  })
  await turn()
  for (const piece of pieces) { vendor.write(Buffer.from(piece)); await turn() }
  if (ends) vendor.end()
  await turns()
  kept &&= !ours.destroyed
  connection.destroy()
  return { reply: whole ? { status, fields, body } : null, error, kept }
}

async function readByNode(bytes: Buffer, ends: boolean): Promise<Read | null> {
  const [ours, vendor] = duplexPair()
  vendor.resume()
  let read: Read | null = null
  const request = httpRequest({ method: 'POST', path: '/', headers: { host: 'a' }, insecureHTTPParser: false, maxHeaderSize: 64 * 1024, createConnection: () => ours }, (response) => {
    let body = ''
    response.on('data', (chunk: Buffer) => { body += chunk.toString('latin1') }).on('end', () => { if (response.complete) read = { status: response.statusCode ?? 0, fields: response.rawHeaders, body } }).on('error', () => undefined)
  })
  request.on('error', () => undefined)
  request.end()
  await turn()
  vendor.write(Buffer.from(bytes))
  if (ends) vendor.end()
  await turns()
  ours.destroy()
  return read
}

const wholes = [
  'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\nhello', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n world\r\n0\r\n\r\n', 'HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-T: t\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}', 'HTTP/1.1 204 No Content\r\n\r\n', 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end', 'HTTP/1.0 200 OK\r\n\r\nold', 'HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n',
]

describe('a vendor’s bytes', () => {
  test('are read as Node’s strict parser reads them, or not at all', async () => {
    await fc.assert(fc.asyncProperty(edited(wholes), fc.boolean(), async (bytes, ends) => {
      const { reply } = await readByUs([bytes], ends)
      if (reply !== null) expect(await readByNode(bytes, ends)).toEqual(reply)
    }), { numRuns: cases })
  }, 600_000)

  test('are read the same wherever they are cut, and keep a connection only where nothing is odd', async () => {
    await fc.assert(fc.asyncProperty(edited(wholes), cuts, fc.boolean(), async (bytes, shares, ends) => {
      const [cut, whole] = [await readByUs(cutAt(bytes, shares), ends), await readByUs([bytes], ends)]
      expect(cut.reply).toEqual(whole.reply)
      // What follows a reply is nobody's: whether it comes in the same read or later, the connection goes.
      if (ends) expect([cut.kept, whole.kept]).toEqual([false, false])
      else expect(cut.kept).toBe(whole.kept)
    }), { numRuns: Math.ceil(cases / 3) })
  }, 600_000)

  test.each(wholes.map((whole, index) => [whole, ![5, 6].includes(index)] as const))('are read where they are a whole reply, and the connection kept where it may be: %j', async (whole, keeps) => {
    const { reply, error, kept } = await readByUs([Buffer.from(whole)], !keeps)
    expect([reply === null, error, kept]).toEqual([false, null, keeps])
  })

  test.each([
    ['both lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'], ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!'], ['a length that is no number', 'HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello'], ['another coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
    ['a changed protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n'], ['interim replies without end', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(30)], ['a folded line', 'HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 0\r\n\r\n'], ['a bare LF', 'HTTP/1.1 200 OK\nContent-Length: 0\n\n'], ['no HTTP', 'SSH-2.0-OpenSSH\r\n\r\n'],
    ['a head without end', `HTTP/1.1 200 OK\r\nA: ${'b'.repeat(70_000)}`], ['a broken chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n'],
  ])('end the connection with an error: %s', async (_what, text) => {
    const { reply, error, kept } = await readByUs([Buffer.from(text)], false)
    expect([reply, kept, error === null]).toEqual([null, false, false])
  })

  test('that end in the middle are no whole reply', async () => {
    for (const text of ['', 'HTTP/1.1 200 OK\r\nContent-Le', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n']) {
      const { reply, error } = await readByUs([Buffer.from(text)], true)
      expect([reply, error === null]).toEqual([null, false])
    }
  })
})

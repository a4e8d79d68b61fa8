import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { http1Limits } from './http1-limits.ts'
import { writeCopied } from './write-copied.ts'

const opened: (() => void)[] = []
afterEach(() => { for (const close of opened.splice(0).reverse()) close() })

/** Both ends of a connection through the system; the far one reads nothing until it is told. */
async function pair(): Promise<{ readonly near: Socket; readonly far: Socket }> {
  const server = createServer({ pauseOnConnect: true })
  await new Promise<void>((listening) => { server.listen(0, '127.0.0.1', listening) })
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [[far]] = (await Promise.all([once(server, 'connection'), once(near, 'connect')])) as unknown as [[Socket], unknown]
  opened.push(() => { near.destroy(); far.destroy(); server.close() })
  return { near, far }
}

async function read(far: Socket, bytes: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let had = 0
  far.resume()
  for await (const piece of far as AsyncIterable<Buffer>) {
    pieces.push(piece)
    had += piece.length
    if (had >= bytes) break
  }
  return Buffer.concat(pieces)
}

test.each([1, 1_000, http1Limits.deskBytes - 5, http1Limits.deskBytes, 4 * http1Limits.deskBytes])('what was handed in may be overwritten at once: %d bytes that nobody reads yet, again and again', async (size) => {
  const { near, far } = await pair()
  const sent: Buffer[] = []
  const piece = Buffer.alloc(size)
  const writes = Math.max(20, Math.ceil(8_000_000 / size))
  for (let count = 0; count < Math.min(writes, 4_000); count += 1) {
    piece.fill(count % 251)
    const text = `${String(count)};`
    sent.push(Buffer.from(text), Buffer.from(piece))
    writeCopied(near, text, [piece])
    piece.fill(255)
  }
  const wanted = Buffer.concat(sent)
  const got = await read(far, wanted.length)
  expect(got.equals(wanted)).toBe(true)
})

test('what one slow client has not taken yet is not written over by what another one gets', async () => {
  const [slow, quick] = [await pair(), await pair()]
  const large = Buffer.alloc(http1Limits.deskBytes - 10, 1)
  let writes = 0
  do { writeCopied(slow.near, '', [large]); writes += 1 } while (slow.near.writableLength === 0)
  writeCopied(quick.near, 'quick', [])
  expect(String(await read(quick.far, 5))).toBe('quick')
  const got = await read(slow.far, writes * large.length)
  expect([got.length, got.every((byte) => byte === 1)]).toEqual([writes * large.length, true])
})

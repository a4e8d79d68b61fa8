import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { runFolder } from './node-fork.suite.ts'
import { isOfThisNetwork, openVendorEgress } from './vendor-egress.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => { for (const cleanup of cleanups.splice(0).reverse()) await cleanup() })

/** A way out to `hosts`, and a server of this machine that must be named to be reached. */
async function bench(hosts: (port: number) => readonly string[]): Promise<{ readonly port: number; readonly refused: string[]; send(text: string): Promise<string> }> {
  const server = createServer((socket) => { socket.on('error', () => undefined); socket.end('reached') }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const folder = runFolder()
  const refused: string[] = []
  const egress = await openVendorEgress({ socketPath: join(folder.path, 'e/out.sock'), hosts: () => hosts(port), onRefused: (host, why) => { refused.push(`${host}: ${why}`) } })
  cleanups.push(() => { folder.release() }, () => { server.close() }, () => egress.close())
  const send = async (text: string): Promise<string> => {
    const socket = connect(egress.socketPath)
    socket.write(text)
    let read = ''
    socket.setEncoding('utf8').on('data', (piece: string) => { read += piece })
    await once(socket, 'close')
    return read
  }
  return { port, refused, send }
}

const connectTo = (host: string): string => `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`

describe('the way out of a vendor’s program', () => {
  test('leads to the very address that the owner named', async () => {
    const { port, send, refused } = await bench((named) => [`127.0.0.1:${named}`])
    expect(await send(connectTo(`127.0.0.1:${port}`))).toMatch(/^HTTP\/1\.1 200 .*reached$/s)
    expect(refused).toEqual([])
  })

  test.each([
    ['a host that was not named', 'example.com:443'], ['a named host on another port', 'named.example:8443'], ['a host that only ends like a named one', 'evil-named.example:443'],
    ['a named name that leads to this machine', 'localhost:443'], ['user info before the host', 'x@named.example:443'], ['no port', 'named.example'], ['nonsense', 'a b'],
  ])('refuses %s', async (_what, host) => {
    const { send, refused } = await bench(() => ['named.example', 'localhost'])
    expect(await send(connectTo(host))).toMatch(/^(HTTP\/1\.1 (403|400) |$)/)
    expect(refused.length).toBeLessThanOrEqual(1)
  })

  test('says that a named host cannot be reached', async () => {
    const { send } = await bench(() => ['127.0.0.1:1'])
    expect(await send(connectTo('127.0.0.1:1'))).toMatch(/^HTTP\/1\.1 502 /)
  })

  test('forwards no plain request', async () => {
    const { port, send, refused } = await bench((named) => [`127.0.0.1:${named}`])
    expect(await send(`GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 405 /)
    expect(refused).toHaveLength(1)
  })

  test.each(['127.0.0.1', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.0.1', '169.254.169.254', '100.64.0.1', '0.0.0.0', '224.0.0.1', '::1', '::', '::ffff:127.0.0.1', 'fe80::1', 'fd00::1', 'fc12::1'])('counts %s as this network', (address) => {
    expect(isOfThisNetwork(address)).toBe(true)
  })

  test.each(['1.1.1.1', '172.32.0.1', '192.169.0.1', '100.128.0.1', '2606:4700::1111', 'fec0::1'])('counts %s as outside', (address) => {
    expect(isOfThisNetwork(address)).toBe(false)
  })
})

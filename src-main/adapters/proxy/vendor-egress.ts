import { lookup } from 'node:dns/promises'
import { chmod, mkdir, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { connect, isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { dirname } from 'node:path'

export interface VendorEgressDeps {
  /** Stands alone in its folder, which is what the sandbox sees. */
  readonly socketPath: string
  /** `host` (port 443) or `host:port`, as the owner named them. */
  readonly hosts: () => readonly string[]
  readonly onRefused: (host: string, why: string) => void
}

export interface VendorEgress { readonly socketPath: string; close(): Promise<void> }

const connectMs = 10_000
const connectionsMax = 64

/**
 * The only way out of a vendor's program: an HTTP proxy that does CONNECT (RFC 9110, 9.3.6) to the hosts that the owner named, and nothing
 * else. A name that leads to this machine or its network is refused, unless the owner named that very address.
 */
export async function openVendorEgress(deps: VendorEgressDeps): Promise<VendorEgress> {
  await mkdir(dirname(deps.socketPath), { recursive: true, mode: 0o700 })
  await rm(deps.socketPath, { force: true })
  const open = new Set<Duplex>()
  const server = createServer((request, response) => {
    deps.onRefused(request.headers.host ?? '', 'only CONNECT is offered')
    response.writeHead(405, { 'content-type': 'text/plain', allow: 'CONNECT' }).end('Only CONNECT to the named hosts is offered here.\n')
  })
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    open.add(client)
    client.on('close', () => { open.delete(client) })
    client.on('error', () => { client.destroy() })
    if (open.size > connectionsMax) { turnAway(client, 503); return }
    tunnel(request.url ?? '', client, deps).catch(() => { turnAway(client, 502) })
  })
  await listen(server, deps.socketPath)
  await chmod(deps.socketPath, 0o600)
  return {
    socketPath: deps.socketPath,
    close: async () => {
      for (const client of open) client.destroy()
      server.closeAllConnections()
      await new Promise((closed) => { server.close(closed) })
      await rm(dirname(deps.socketPath), { recursive: true, force: true })
    },
  }
}

/** Connects to a named host and joins the two. Rejects when it cannot be reached. */
async function tunnel(target: string, client: Duplex, deps: VendorEgressDeps): Promise<void> {
  const parts = /^([A-Za-z0-9.-]{1,253}):(\d{1,5})$/.exec(target)
  const [host, port] = [(parts?.[1] ?? '').toLowerCase().replace(/\.$/, ''), Number(parts?.[2])]
  const named = deps.hosts().some((entry) => entry.toLowerCase() === `${host}:${port}` || (entry.toLowerCase() === host && port === 443))
  if (parts === null || !named) { deps.onRefused(target.slice(0, 300), 'the owner has not named it'); turnAway(client, 403); return }
  const address = isIP(host) === 0 ? (await lookup(host)).address : host
  if (isIP(host) === 0 && isOfThisNetwork(address)) { deps.onRefused(target, `it leads to ${address}`); turnAway(client, 403); return }
  const upstream = await connected(address, port)
  client.write('HTTP/1.1 200 Connection established\r\n\r\n')
  join(client, upstream)
}

function connected(address: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const upstream = connect({ host: address, port })
    const late = setTimeout(() => { upstream.destroy(new Error('no connection in time')) }, connectMs)
    upstream.once('error', reject)
    upstream.once('connect', () => { clearTimeout(late); upstream.off('error', reject); resolve(upstream) })
    upstream.once('close', () => { clearTimeout(late) })
  })
}

function join(one: Duplex, other: Duplex): void {
  for (const [from, to] of [[one, other], [other, one]] as const) {
    from.on('error', () => { to.destroy() })
    from.on('close', () => { to.destroy() })
    from.pipe(to)
  }
}

function turnAway(client: Duplex, status: number): void {
  if (!client.destroyed) client.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
}

/** Loopback, link-local (with the clouds' metadata address), private and unspecified addresses: RFC 6890, RFC 4193, RFC 4291. */
export function isOfThisNetwork(address: string): boolean {
  const v4 = /^(?:::ffff:)?(\d+)\.(\d+)\.\d+\.\d+$/i.exec(address)
  if (v4 === null) return /^(::1?$|f[cd][0-9a-f]{2}:|fe[89ab][0-9a-f]:)/i.test(address)
  const [a, b] = [Number(v4[1]), Number(v4[2])]
  return a === 0 || a === 10 || a === 127 || a >= 224 || (a === 100 && b >= 64 && b < 128) || (a === 169 && b === 254) || (a === 172 && b >= 16 && b < 32) || (a === 192 && b === 168)
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => { server.off('error', reject); resolve() })
  })
}

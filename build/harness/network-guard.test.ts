import dns from 'node:dns'
import http from 'node:http'
import net from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { guardNetwork, UnexpectedNetworkCall, type NetworkGuard } from './network-guard.ts'

let guard: NetworkGuard | null = null
afterEach(() => { guard?.release() })

describe('the network guard', () => {
  it('throws at and counts whatever reaches for the network, by whichever door', async () => {
    guard = guardNetwork()
    expect(() => net.connect(9, '127.0.0.1')).toThrow(UnexpectedNetworkCall)
    expect(() => net.createServer().listen(0)).toThrow(UnexpectedNetworkCall)
    expect(() => { dns.lookup('example.org', () => undefined) }).toThrow(UnexpectedNetworkCall)
    expect(() => http.get('http://127.0.0.1:9/')).toThrow(UnexpectedNetworkCall)
    await expect(fetch('http://127.0.0.1:18999/')).rejects.toThrow()
    expect(guard.attempts.length).toBeGreaterThanOrEqual(5)
  })

  it('gives the doors back', async () => {
    guardNetwork().release()
    const server = net.createServer().listen(0, '127.0.0.1')
    await new Promise((listening) => { server.once('listening', listening) })
    server.close()
  })
})

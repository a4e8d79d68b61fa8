import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { limits } from '../../src-preload/contract/limits.ts'
import { ask, codeOf, releaseAll, releaseLater, startProxy, startVendor, token } from './proxy.suite.ts'

afterEach(releaseAll)

const echo = (): Promise<string> => startVendor((request, response) => {
  request.resume()
  response.setHeader('content-type', 'application/json')
  response.end('{"model":"m-1"}')
})

/** Sends bytes as they are; gives the first bytes that come back, or nothing when the other side just ends. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.setEncoding('utf8')
    socket.once('data', (chunk: string) => { resolve(chunk); socket.destroy() })
    socket.on('close', () => resolve(''))
    socket.on('error', reject)
  })
}

describe('the doors of the proxy', () => {
  test.each([
    ['no token', {}], ['an unknown token', { authorization: 'Bearer wrong-token-0123456789-0123456789-012' }], ['another scheme', { authorization: 'Basic dG9rZW4=' }], ['an empty token', { authorization: 'Bearer ' }],
  ])('answers 401 to %s, on every route but the liveness', async (_name, headers) => {
    const running = await startProxy(await echo())
    for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/models', '/nowhere']) {
      const reply = await ask(running, { path, headers: { authorization: '', ...headers } })
      expect(reply.status).toBe(401)
      expect(codeOf(reply)).toBe('token_unknown')
    }
    expect(await ask(running, { path: '/healthz', method: 'GET', headers: { authorization: '' } })).toMatchObject({ status: 200, text: '{"ok":true}' })
    expect(running.asks).toEqual([])
  })

  test.each([
    ['a foreign Host', { host: 'evil.example:18747' }], ['a Host that only begins like ours', { host: '127.0.0.1.evil.example' }], ['another port as Host', { host: '127.0.0.1:1' }],
    ['a foreign Origin', { origin: 'https://evil.example' }], ['a null Origin', { origin: 'null' }], ['an Origin on another loopback port', { origin: 'http://127.0.0.1:1' }],
  ])('answers 403 to %s, with and without a token', async (_name, headers) => {
    const running = await startProxy(await echo())
    for (const path of ['/v1/chat/completions', '/healthz']) {
      const reply = await ask(running, { path, method: path === '/healthz' ? 'GET' : 'POST', headers })
      expect(reply.status).toBe(403)
      expect(codeOf(reply)).toBe('foreign_request')
    }
    expect(running.asks).toEqual([])
  })

  test('takes its own names as Host, and any loopback port on a Unix socket', async () => {
    const running = await startProxy(await echo())
    for (const host of ['127.0.0.1', 'localhost', '[::1]']) expect(await ask(running, { headers: { host: `${host}:${running.port}` } })).toMatchObject({ status: 200 })
    expect(await ask(running, { headers: { host: '127.0.0.1:7000' }, socketPath: running.socketPath })).toMatchObject({ status: 200 })
    expect(await ask(running, { headers: { host: 'evil.example' }, socketPath: running.socketPath })).toMatchObject({ status: 403 })
  })

  test('does not call a socket open that it could not listen on, however often it is asked, and opens it once that is possible', async () => {
    const running = await startProxy(await echo())
    const folder = mkdtempSync(join(tmpdir(), 'cs-doors-'))
    releaseLater(() => { rmSync(folder, { recursive: true, force: true }) })
    const socketPath = join(folder, 'later', 'proxy.sock')
    for (let count = 0; count < 2; count += 1) await running.regrant({ grantId: 'gw_2', socketPath })
    mkdirSync(join(folder, 'later'))
    await running.regrant({ grantId: 'gw_2', socketPath })
    const granted = running.ofKind('granted').filter(({ grantId }) => grantId === 'gw_2').map((message) => message.failure?.code ?? null)
    expect(granted).toEqual(['proxy-failed', 'proxy-failed', null])
    expect(await ask(running, { socketPath, headers: { host: '127.0.0.1' } })).toMatchObject({ status: 200 })
  })

  test('answers 413 to a body over the limit, whether its length is told or not', async () => {
    const running = await startProxy(await echo())
    const body = Buffer.alloc(limits.proxyBodyBytesMax + 1, 0x20)
    const told = await ask(running, { body })
    const chunked = await ask(running, { body, headers: { 'transfer-encoding': 'chunked' } })
    expect([told.status, chunked.status]).toEqual([413, 413])
    expect(codeOf(told)).toBe('request_too_large')
    expect(running.asks).toEqual([])
  })

  test.each([['no JSON', 'hello'], ['a list', '[]'], ['broken UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])], ['nothing', '']])('answers 400 to %s', async (_name, body) => {
    const reply = await ask(await startProxy(await echo()), { body })
    expect(reply.status).toBe(400)
    expect(codeOf(reply)).toBe('invalid_json')
  })

  test('refuses an encoded body, unknown routes and wrong methods', async () => {
    const running = await startProxy(await echo())
    expect(await ask(running, { headers: { 'content-encoding': 'gzip' } })).toMatchObject({ status: 415 })
    expect(await ask(running, { path: '/v1/embeddings' })).toMatchObject({ status: 404 })
    expect(await ask(running, { path: '/v1/chat/completions', method: 'GET' })).toMatchObject({ status: 405 })
    expect(await ask(running, { path: '/v1/models' })).toMatchObject({ status: 405 })
  })

  test('lists the one model that the grant is pinned to', async () => {
    const running = await startProxy(await echo())
    const reply = await ask(running, { path: '/v1/models', method: 'GET' })
    expect(JSON.parse(reply.text)).toMatchObject({ object: 'list', data: [{ id: 'm-1' }] })
  })

  test('refuses requests that tell their length twice', async () => {
    const running = await startProxy(await echo())
    const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:${running.port}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`
    expect(await raw(running.port, head)).toMatch(/^HTTP\/1\.1 400 /)
    expect(await raw(running.port, `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${running.port}\r\nHost: evil.example\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 40[03] /)
    expect(running.asks).toEqual([])
  })

  test('does not open a WebSocket', async () => {
    const running = await startProxy(await echo())
    const read = await raw(running.port, `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${running.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: eA==\r\nSec-WebSocket-Version: 13\r\n\r\n`)
    expect(read).not.toContain('101')
    expect(read).toMatch(/^HTTP\/1\.1 401 /)
  })

  test.each([
    ['a token that was taken back', { token: 'another-token-0123456789-0123456789-0' }, ['401', []]], ['a key that was exchanged', { credential: 'sk-new' }, ['200', ['Bearer sk-new']]],
  ] as const)('looks again when a body that took its time is whole: %s', async (_what, change, told) => {
    const keys: unknown[] = []
    const running = await startProxy(await startVendor((request, response) => { keys.push(request.headers.authorization); request.resume(); response.end('{}') }), { credential: 'sk-old' })
    const body = '{"model":"m-1","messages":[]}'
    const socket = connect(running.port, '127.0.0.1', () => { socket.write(`POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:${String(running.port)}\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${String(body.length)}\r\n\r\n${body.slice(0, 5)}`) })
    const answered = new Promise<string>((done) => socket.setEncoding('utf8').once('data', done))
    // The head is read before this, which came behind it.
    await ask(running, { path: '/v1/models', method: 'GET' })
    await running.regrant(change)
    socket.write(body.slice(5))
    expect([(await answered).split(' ')[1], keys]).toEqual(told)
    socket.destroy()
  })

  test('ends a grant with all that is in flight under it', async () => {
    const running = await startProxy(await startVendor((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"choices":[]}\n\n')
      running.proxy.take({ is: 'revoke', grantId: 'gw_1' })
    }))
    const reply = await ask(running)
    expect(reply.text).toContain('The task was stopped.')
    expect(running.ofKind('call-ended')).toMatchObject([{ end: { failure: { code: 'cancelled' } } }])
    expect(await ask(running)).toMatchObject({ status: 401 })
  })
})

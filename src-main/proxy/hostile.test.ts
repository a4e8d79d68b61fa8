import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { ask, codeOf, releaseAll, startProxy, startVendor, token, type RunningProxy } from './proxy.suite.ts'

afterEach(releaseAll)

interface Seen { readonly url: string | undefined; readonly headers: NodeJS.Dict<string | string[]>; readonly body: string }

async function bench(): Promise<{ readonly running: RunningProxy; readonly seen: Seen[] }> {
  const seen: Seen[] = []
  const running = await startProxy(await startVendor((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (piece: string) => { body += piece }).on('end', () => {
      seen.push({ url: request.url, headers: request.headers, body })
      response.setHeader('content-type', 'application/json')
      response.end('{"model":"m-1"}')
    })
  }), { credential: 'sk-canary-1234567' })
  return { running, seen }
}

/** Everything that comes back for these bytes, until the other side closes or `answers` answers have begun. We end our side at once, unless answers are counted. */
function raw(port: number, text: string | Buffer, to = '127.0.0.1', answers: number | null = null): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, to, () => { socket.write(text); if (answers === null) socket.end() })
    let read = ''
    socket.setEncoding('utf8').on('data', (piece: string) => {
      read += piece
      if (answers !== null && statuses(read).length >= answers) socket.destroy()
    })
    socket.on('close', () => { resolve(read) })
    socket.on('error', (error) => { if (read === '') reject(error); else resolve(read) })
  })
}

const statuses = (text: string): readonly string[] => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status ?? '')
const body = '{"model":"m-1","messages":[]}'

/** A POST with these header lines in place of the usual ones. */
const post = (port: number, lines: readonly string[], rest: string, target = '/v1/chat/completions'): string =>
  [`POST ${target} HTTP/1.1`, `Host: 127.0.0.1:${port}`, `Authorization: Bearer ${token}`, 'Connection: close', ...lines, '', rest].join('\r\n')
const chunked = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`

describe('requests that two readers would read differently', () => {
  const smuggled = 'POST /v1/chat/completions HTTP/1.1\r\nHost: evil.example\r\n\r\n'
  test.each<[string, readonly string[], string]>([
    ['both lengths', ['Content-Length: 5', 'Transfer-Encoding: chunked'], `0\r\n\r\n${smuggled}`],
    ['both lengths the other way round', ['Transfer-Encoding: chunked', `Content-Length: ${body.length}`], chunked(body)],
    ['two lengths that differ', ['Content-Length: 5', `Content-Length: ${body.length}`], body], ['two lengths that agree', [`Content-Length: ${body.length}`, `Content-Length: ${body.length}`], body],
    ['a list of lengths', [`Content-Length: ${body.length}, ${body.length}`], body], ['a signed length', [`Content-Length: +${body.length}`], body], ['a length in hex', ['Content-Length: 0x1d'], body],
    ['an unknown coding', ['Transfer-Encoding: xchunked'], chunked(body)], ['chunked not last', ['Transfer-Encoding: chunked, identity'], chunked(body)], ['chunked twice in two lines', ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], chunked(body)],
    ['a blank before the colon', ['Transfer-Encoding : chunked'], chunked(body)], ['a folded header', ['Transfer-Encoding:', ' chunked'], chunked(body)], ['a name with a control character', ['Transfer-\u0001Encoding: chunked'], chunked(body)],
    ['a chunk size with a sign', ['Transfer-Encoding: chunked'], `-1\r\n${body}\r\n0\r\n\r\n`], ['a chunk size in 0x', ['Transfer-Encoding: chunked'], `0x1d\r\n${body}\r\n0\r\n\r\n`], ['a chunk size that overflows', ['Transfer-Encoding: chunked'], `ffffffffffffffff1\r\n${body}\r\n0\r\n\r\n`],
    ['a chunk that is longer than it says', ['Transfer-Encoding: chunked'], `5\r\n${body}\r\n0\r\n\r\n`], ['a header line that a bare LF ends', [`X: a\nContent-Length: ${body.length}`], body], ['a header line that a bare CR ends', [`X: a\rContent-Length: ${body.length}`], body],
    ['a second Host', [`Host: 127.0.0.1`, `Content-Length: ${body.length}`], body],
  ])('are refused: %s', async (_what, lines, rest) => {
    const { running, seen } = await bench()
    const read = await raw(running.port, post(running.port, lines, rest))
    expect(statuses(read).filter((status) => status === '200')).toEqual([])
    expect(statuses(read).every((status) => status === '400' || status === '403')).toBe(true)
    expect({ seen, asks: running.asks }).toEqual({ seen: [], asks: [] })
  })

  test('are not made by us: what follows a chunked body is a request of its own, judged on its own', async () => {
    const { running, seen } = await bench()
    const first = post(running.port, ['Transfer-Encoding: chunked'], `${chunked(body)}${smuggled}`).replace('Connection: close\r\n', '')
    const read = await raw(running.port, first, '127.0.0.1', 2)
    expect(statuses(read)).toEqual(['200', '403'])
    expect(seen).toHaveLength(1)
    expect(seen[0]).toMatchObject({ body, headers: { 'content-length': String(body.length) } })
    expect(seen[0]?.headers).not.toHaveProperty('transfer-encoding')
  })

  test('take chunk extensions and trailers for what they are, and hand neither on', async () => {
    const { running, seen } = await bench()
    await raw(running.port, post(running.port, ['Transfer-Encoding: chunked', 'Trailer: authorization'], `${body.length.toString(16)};a="b"\r\n${body}\r\n0\r\nauthorization: Bearer other\r\n\r\n`))
    expect(seen).toMatchObject([{ body, headers: { authorization: 'Bearer sk-canary-1234567' } }])
    expect(seen[0]?.headers).not.toHaveProperty('trailer')
  })
})

describe('headers that a client may try', () => {
  test('reach the vendor only where they are on the list', async () => {
    const { running, seen } = await bench()
    await ask(running, { headers: { 'x-api-key': 'sk-other', 'api-key': 'x', forwarded: 'for=1.2.3.4', 'x-forwarded-for': '1.2.3.4', 'x-forwarded-host': 'evil', cookie: 'a=b', 'openai-organization': 'org', te: 'trailers', 'proxy-authorization': 'Basic eA==', 'x-muse-proxy-path': 'warm', range: 'bytes=0-1', 'content-type': 'application/json; charset=utf-7', 'user-agent': 'opencode/1', 'openai-beta': 'b' } })
    expect(Object.keys(seen[0]?.headers ?? {}).sort()).toEqual(['accept-encoding', 'authorization', 'connection', 'content-length', 'content-type', 'host', 'openai-beta', 'user-agent'])
    expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer sk-canary-1234567', host: new URL(running.baseUrl).host, 'content-type': 'application/json' })
  })

  test.each([['two of them', `Authorization: Bearer ${token}\r\nAuthorization: Bearer ${token}`], ['in a cookie', `Cookie: authorization=Bearer ${token}`], ['in the query', ''], ['with a list', `Authorization: Bearer ${token}, Bearer x`]])('are no token: %s', async (_what, line) => {
    const { running, seen } = await bench()
    const read = await raw(running.port, `POST /v1/chat/completions?token=${token} HTTP/1.1\r\nHost: 127.0.0.1:${running.port}\r\n${line === '' ? '' : `${line}\r\n`}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    expect(statuses(read)).toEqual(['401'])
    expect(seen).toEqual([])
  })
})

describe('paths that a client may try', () => {
  test.each([
    '//v1/chat/completions', '/v1/../v1/chat/completions', '/v1/%2e%2e/v1/chat/completions', '/v1/chat%2fcompletions', '/v1/chat/completions/', '/v1/chat/completions%00', '/V1/chat/completions', '/v1/chat/completions;x=1', '/v1/embeddings', '/',
    'http://evil.example/v1/chat/completions', '*',
  ])('are routes or nothing: %s', async (target) => {
    const { running, seen } = await bench()
    const read = await raw(running.port, post(running.port, [`Content-Length: ${body.length}`], body, target))
    expect(['400', '404']).toContain(statuses(read)[0])
    expect({ seen, asks: running.asks }).toEqual({ seen: [], asks: [] })
  })

  test('change nothing of where a request goes', async () => {
    const { running, seen } = await bench()
    await ask(running, { path: '/v1/chat/completions?base_url=http://evil.example&x=../../y' })
    expect(seen.map(({ url }) => url)).toEqual(['/v1/chat/completions'])
  })

  test('are not tunnelled, upgraded or answered to a page of another origin', async () => {
    const { running, seen } = await bench()
    expect(await raw(running.port, `CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n`)).not.toContain('200')
    expect(statuses(await raw(running.port, `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${running.port}\r\nOrigin: https://evil.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: eA==\r\nSec-WebSocket-Version: 13\r\n\r\n`))).toEqual(['403'])
    const preflight = await ask(running, { method: 'OPTIONS', headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization', 'access-control-request-private-network': 'true' } })
    expect(preflight.status).toBe(403)
    const own = await ask(running, { method: 'OPTIONS', headers: { origin: `http://127.0.0.1:${running.port}` } })
    expect(own.status).toBe(405)
    for (const { headers } of [preflight, own]) expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    expect(seen).toEqual([])
  })
})

describe('bodies that two readers would read differently', () => {
  test.each([
    ['the model twice', '{"model":"m-2","messages":[],"model":"m-1"}'], ['the model in capitals beside', '{"model":"m-1","MODEL":"m-2"}'], ['tools twice', '{"model":"m-1","tools":[{"type":"function"}],"tools":[]}'], ['an escaped name', '{"model":"m-2","\\u006dodel":"m-1"}'],
  ])('are refused: %s', async (_what, text) => {
    const { running, seen } = await bench()
    const reply = await ask(running, { body: text })
    expect([reply.status, codeOf(reply)]).toEqual([400, 'repeated_key'])
    expect(seen).toEqual([])
  })

  test('are taken where names repeat in different objects or in texts', async () => {
    const { running, seen } = await bench()
    const text = '{"model":"m-1","messages":[{"role":"user","content":"{\\"model\\":\\"x\\",\\"model\\":\\"y\\"}"},{"role":"user","content":"a"}],"metadata":{"model":"z"},"stop":["model","model"]}'
    expect((await ask(running, { body: text })).status).toBe(200)
    expect(seen).toMatchObject([{ body: text }])
  })
})

describe('the port', () => {
  test('listens on one loopback address and no other', async () => {
    const { running } = await bench()
    await expect(raw(running.port, 'GET /healthz HTTP/1.1\r\n\r\n', '127.0.0.2')).rejects.toThrow(/ECONNREFUSED/)
  })
})

describe('replies that a vendor may try', () => {
  test('cannot set a path, a cookie or a hop of ours, nor let a page read them', async () => {
    const running = await startProxy(await startVendor((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'x-muse-proxy-path': 'warm', 'set-cookie': 'a=b', 'alt-svc': 'h3=":443"', 'proxy-authenticate': 'Basic', 'access-control-allow-origin': '*', 'Access-Control-Expose-Headers': 'x', 'x-request-id': 'r' })
      response.end('{}')
    }))
    const { headers } = await ask(running)
    expect(headers).toMatchObject({ 'x-muse-proxy-path': 'direct', 'x-request-id': 'r' })
    for (const name of ['set-cookie', 'alt-svc', 'proxy-authenticate', 'access-control-allow-origin', 'access-control-expose-headers']) expect(headers).not.toHaveProperty(name)
  })

  test.each([301, 302, 303, 307, 308])('cannot send us elsewhere: %d', async (status) => {
    let reached = 0
    const elsewhere = await startVendor((_request, response) => { reached++; response.end('{}') })
    const running = await startProxy(await startVendor((_request, response) => { response.writeHead(status, { location: `${elsewhere}/chat/completions` }).end() }), { credential: 'sk-canary-1234567' })
    expect(codeOf(await ask(running))).toBe('upstream_redirect')
    expect(reached).toBe(0)
  })
})

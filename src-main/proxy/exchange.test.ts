import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { TokenExchange } from './exchange.ts'
import { ask, codeOf, releaseAll, releaseLater, startProxy, startVendor } from './proxy.suite.ts'
import { proxyLimits } from './proxy-limits.ts'
import { processTime, type Time } from './time.ts'

afterEach(releaseAll)

interface Asked { readonly method: string; readonly headers: IncomingMessage['headers']; readonly body: string }

/** An exchange that answers each request with the next of `replies`, the last one for ever; `hold` keeps answers back until it is called. */
async function startExchange(replies: readonly ((response: ServerResponse) => void)[]): Promise<{ readonly url: string; readonly asked: Asked[] }> {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (piece: string) => { body += piece }).on('end', () => {
      asked.push({ method: request.method ?? '', headers: request.headers, body })
      ;(replies[asked.length - 1] ?? replies.at(-1))?.(response)
    })
  })
  releaseLater(() => new Promise((done) => { server.close(done); server.closeAllConnections() }))
  await new Promise<void>((done) => { server.listen(0, '127.0.0.1', done) })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/oauth/token`, asked }
}

const gives = (body: object, headers: Record<string, string> = {}) => (response: ServerResponse): void => { response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body)) }

/** Clocks that only this test moves. */
function clocks(startsAt = Date.parse('2026-11-29T12:00:00Z')): { readonly time: Time; pass(ms: number): void; jump(ms: number): void } {
  let [wall, steady] = [startsAt, 0]
  return { time: { now: () => wall, steady: () => steady, after: (ms, run) => processTime.after(ms, run) }, pass: (ms) => { wall += ms; steady += ms }, jump: (ms) => { wall += ms } }
}

function exchangeOn(time: Time): TokenExchange {
  const exchange = new TokenExchange(time)
  releaseLater(() => exchange.close())
  return exchange
}

const hour = 3_600_000

describe('the exchange of a credential', () => {
  test('asks once for calls that come at once, and keeps the token', async () => {
    const { url, asked } = await startExchange([gives({ access_token: 'short-1', expires_in: 3_600 })])
    const exchange = exchangeOn(clocks().time)
    const tokens = await Promise.all(Array.from({ length: 20 }, () => exchange.token({ url, how: 'bearer' }, 'stored')))
    expect(tokens.every((token) => token.ok && token.value === 'short-1')).toBe(true)
    expect(await exchange.token({ url, how: 'bearer' }, 'stored')).toEqual({ ok: true, value: 'short-1' })
    expect(asked).toHaveLength(1)
  })

  test('renews early beside the calls that still use the old token, and never uses one that has ended', async () => {
    const { url, asked } = await startExchange([gives({ access_token: 'short-1', expires_in: 3_600 }), gives({ access_token: 'short-2', expires_in: 3_600 }), gives({ access_token: 'short-3', expires_in: 3_600 })])
    const { time, pass } = clocks()
    const exchange = exchangeOn(time)
    await exchange.token({ url, how: 'bearer' }, 'stored')
    pass(hour - 7 * 60_000)
    expect(await exchange.token({ url, how: 'bearer' }, 'stored')).toEqual({ ok: true, value: 'short-1' })
    expect(asked).toHaveLength(1)
    pass(2 * 60_000)
    expect(await exchange.token({ url, how: 'bearer' }, 'stored')).toEqual({ ok: true, value: 'short-1' })
    await vi.waitFor(async () => { expect(await exchange.token({ url, how: 'bearer' }, 'stored')).toEqual({ ok: true, value: 'short-2' }) })
    expect(asked).toHaveLength(2)
    pass(2 * hour)
    expect(await exchange.token({ url, how: 'bearer' }, 'stored')).toEqual({ ok: true, value: 'short-3' })
  })

  test('measures an end that is told as a date on the vendor’s clock, whatever ours says', async () => {
    for (const skewMs of [-5 * hour, 0, 5 * hour]) {
      const vendorNow = Date.parse('2026-11-29T12:00:00Z')
      const { url, asked } = await startExchange([gives({ token: 'short', expires_at: Math.floor((vendorNow + hour) / 1_000) }, { date: new Date(vendorNow).toUTCString() })])
      const { time, pass } = clocks(vendorNow + skewMs)
      const exchange = exchangeOn(time)
      for (const minutes of [0, 30, 20]) { pass(minutes * 60_000); expect(await exchange.token({ url, how: 'bearer' }, 'stored')).toEqual({ ok: true, value: 'short' }) }
      expect(asked).toHaveLength(1)
      pass(15 * 60_000)
      await exchange.token({ url, how: 'bearer' }, 'stored')
      expect(asked).toHaveLength(2)
    }
  })

  test('survives a wall clock that jumps: back it changes nothing, forward it costs one exchange', async () => {
    const { url, asked } = await startExchange([gives({ access_token: 'short-1', expires_in: 3_600 }), gives({ access_token: 'short-2', expires_in: 3_600 })])
    const { time, pass, jump } = clocks()
    const exchange = exchangeOn(time)
    await exchange.token({ url, how: 'bearer' }, 'stored')
    jump(-48 * hour)
    pass(2 * hour)
    expect(await exchange.token({ url, how: 'bearer' }, 'stored')).toEqual({ ok: true, value: 'short-2' })
    jump(48 * hour)
    await exchange.token({ url, how: 'bearer' }, 'stored')
    expect(asked).toHaveLength(3)
  })

  test('keeps credentials, addresses and scopes apart', async () => {
    const { url, asked } = await startExchange([gives({ access_token: 'a' }), gives({ access_token: 'b' }), gives({ access_token: 'c' })])
    const exchange = exchangeOn(clocks().time)
    expect([await exchange.token({ url, how: 'bearer' }, 'one'), await exchange.token({ url, how: 'bearer' }, 'two'), await exchange.token({ url, how: 'bearer', scope: 's' }, 'one')]).toMatchObject([{ value: 'a' }, { value: 'b' }, { value: 'c' }])
    expect(asked).toHaveLength(3)
  })

  test.each([
    ['bearer', { how: 'bearer' as const, scope: 'chat' }, { method: 'POST', body: '{"scope":"chat"}', headers: { authorization: 'Bearer stored' } }],
    ['bearer by GET', { how: 'bearer' as const, method: 'GET' as const }, { method: 'GET', body: '', headers: { authorization: 'Bearer stored' } }],
    ['client credentials', { how: 'client-credentials' as const, clientId: 'app', scope: 'chat' }, { method: 'POST', body: 'grant_type=client_credentials&client_secret=stored&client_id=app&scope=chat', headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
    ['token exchange', { how: 'token-exchange' as const, audience: 'models' }, { method: 'POST', body: 'grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&subject_token=stored&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token&audience=models', headers: {} }],
  ])('speaks %s', async (_name, how, expected) => {
    const { url, asked } = await startExchange([gives({ access_token: 'short' })])
    await exchangeOn(clocks().time).token({ url, ...how }, 'stored')
    expect(asked).toMatchObject([expected])
  })

  test.each([
    ['an error', (response: ServerResponse) => { response.writeHead(401).end(JSON.stringify({ error: 'invalid_grant', error_description: 'stored-secret-77 is revoked' })) }, 'status 401: [key] is revoked'],
    ['a redirect', (response: ServerResponse) => { response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end() }, 'status 302'],
    ['no token', gives({ ok: true }), 'no token'], ['a token that cannot be sent', gives({ access_token: 'a\r\nb' }), 'no token'], ['a token that has ended', gives({ access_token: 'x', expires_in: 0 }), 'ended already'],
    ['nonsense', (response: ServerResponse) => { response.end('<html>') }, 'no token'], ['too much', (response: ServerResponse) => { response.end('x'.repeat(200_000)) }, 'no token'], ['nothing', (response: ServerResponse) => { response.destroy() }, ''],
  ])('says why on %s, and asks again at the next call', async (_what, reply, words) => {
    const { url, asked } = await startExchange([reply, gives({ access_token: 'short' })])
    const exchange = exchangeOn(clocks().time)
    const failed = await exchange.token({ url, how: 'bearer' }, 'stored-secret-77')
    expect(failed.ok).toBe(false)
    expect(JSON.stringify(failed)).toContain(words)
    expect(JSON.stringify(failed)).not.toContain('stored-secret-77')
    expect(await exchange.token({ url, how: 'bearer' }, 'stored-secret-77')).toEqual({ ok: true, value: 'short' })
    expect(asked).toHaveLength(2)
  })

  test('is given up when it does not answer in time', async () => {
    const { url } = await startExchange([() => undefined])
    const { time } = clocks()
    const hurried: Time = { ...time, after: (ms, run) => processTime.after(ms === proxyLimits.exchangeMs ? 30 : ms, run) }
    expect(await exchangeOn(hurried).token({ url, how: 'bearer' }, 'stored')).toMatchObject({ ok: false, error: expect.stringContaining('did not answer') as string })
  })
})

describe('a provider with an exchange', () => {
  test('gets the short-lived token and never the stored credential', async () => {
    const keys: unknown[] = []
    const { url, asked } = await startExchange([gives({ access_token: 'short-1', expires_in: 3_600 })])
    const running = await startProxy(await startVendor((request, response) => { keys.push(request.headers.authorization); response.end('{}') }), { credential: 'sk-stored', target: { exchange: { url, how: 'bearer' } } })
    await ask(running)
    await ask(running)
    expect(keys).toEqual(['Bearer short-1', 'Bearer short-1'])
    expect(asked).toHaveLength(1)
    expect(JSON.stringify(running.posted)).not.toMatch(/short-1|sk-stored/)
  })

  test('gets a new token after it refused one, and the client its refusal', async () => {
    const { url } = await startExchange([gives({ access_token: 'short-1', expires_in: 3_600 }), gives({ access_token: 'short-2', expires_in: 3_600 })])
    const running = await startProxy(await startVendor((request, response) => { response.writeHead(request.headers.authorization === 'Bearer short-1' ? 401 : 200).end('{"error":{"message":"token short-1 revoked"}}') }), { credential: 'sk-stored', target: { exchange: { url, how: 'bearer' } } })
    expect((await ask(running)).status).toBe(401)
    await vi.waitFor(() => { expect(running.ofKind('call-ended')).toHaveLength(1) })
    expect((await ask(running)).status).toBe(200)
    expect(JSON.stringify(running.posted)).not.toContain('short-1')
  })

  test('is not reached when the exchange fails', async () => {
    let reached = 0
    const { url } = await startExchange([(response) => { response.writeHead(500).end() }])
    for (const api of ['chat', 'responses'] as const) {
      const running = await startProxy(await startVendor((_request, response) => { reached++; response.end('{}') }), { credential: 'sk-stored', target: { api, exchange: { url, how: 'bearer' } } })
      const reply = await ask(running, { path: api === 'chat' ? '/v1/chat/completions' : '/v1/responses' })
      expect([reply.status, codeOf(reply)]).toEqual([502, 'credential_exchange_failed'])
    }
    expect(reached).toBe(0)
  })

  test('gets the token of a key that was changed without a restart, from the next call on', async () => {
    const keys: unknown[] = []
    const { url, asked } = await startExchange([gives({ access_token: 'short-1', expires_in: 3_600 }), gives({ access_token: 'short-2', expires_in: 3_600 })])
    const running = await startProxy(await startVendor((request, response) => { keys.push(request.headers.authorization); response.end('{}') }), { credential: 'sk-old', target: { exchange: { url, how: 'bearer' } } })
    await ask(running)
    await running.regrant({ credential: 'sk-new', target: { baseUrl: running.baseUrl, api: 'chat', modelId: 'm-1', providerLabel: 'Vendor', needsKey: false, exchange: { url, how: 'bearer' } } })
    await ask(running)
    expect(keys).toEqual(['Bearer short-1', 'Bearer short-2'])
    expect(asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer sk-old', 'Bearer sk-new'])
  })
})

describe('what looks like a key', () => {
  const leaked = 'sk-proj-0123456789abcdefghij'

  test.each([
    ['an error reply', (response: ServerResponse) => { response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: `You sent ${leaked} in your prompt` } })) }],
    ['an error in the stream', (response: ServerResponse) => { response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${JSON.stringify({ error: { message: `bad key ${leaked}` } })}\n\n`) }],
    ['an error page', (response: ServerResponse) => { response.writeHead(502).end(`<h1>${leaked}</h1>`) }],
  ])('in %s goes to the client as it came, and into nothing that is logged or journaled', async (_where, play) => {
    const running = await startProxy(await startVendor((_request, response) => { play(response) }), { credential: 'own-key-of-the-vendor' })
    const reply = await ask(running, { body: JSON.stringify({ model: 'm-1', messages: [{ role: 'user', content: leaked }] }) })
    expect(reply.text).toContain(leaked)
    await vi.waitFor(() => { expect(running.ofKind('call-ended')).toHaveLength(1) })
    expect(JSON.stringify(running.posted)).not.toContain(leaked)
    expect(JSON.stringify(running.posted)).toContain('[redacted]')
  })

  test('in the words of a connection that failed is told to nobody', async () => {
    const running = await startProxy('http://127.0.0.1:1/v1', { credential: leaked })
    const reply = await ask(running)
    expect(reply.text + JSON.stringify(running.posted)).not.toContain(leaked)
  })
})

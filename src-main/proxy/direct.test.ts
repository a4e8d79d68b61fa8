import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { plainGoldens as goldens } from './golden.suite.ts'
import { http1Limits } from './http1/http1-limits.ts'
import { proxyLimits } from './proxy-limits.ts'
import { ask, codeOf, releaseAll, startProxy, startVendor, token, type Reply, type RunningProxy } from './proxy.suite.ts'
import { processTime } from './time.ts'

afterEach(releaseAll)

const finish = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'

function stream(response: ServerResponse, text = ''): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
  if (text !== '') response.write(text)
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function endOf(running: RunningProxy): Promise<ReturnType<RunningProxy['ofKind']>[number]> {
  await vi.waitFor(() => expect(running.ofKind('call-ended').length).toBeGreaterThan(0))
  return running.ofKind('call-ended').at(-1) as never
}

describe('the direct path', () => {
  test('hands on the request’s bytes as they are, with the key and without what is ours', async () => {
    const seen: { headers: IncomingMessage['headers']; url: string | undefined; body: Buffer }[] = []
    const baseUrl = await startVendor((request, response) => void bodyOf(request).then((body) => { seen.push({ headers: request.headers, url: request.url, body }); response.end('{}') }))
    const running = await startProxy(`${baseUrl}/?api-version=1`, { credential: 'sk-canary' })
    const body = Buffer.from('{ "model":"m-1",\n "messages" : [ {"role":"user","content":"ü\\u00fc 😀"} ], "x":1.0e2 }')
    await ask(running, { body, headers: { 'x-session-id': 'ses_1', cookie: 'a=b', 'accept-encoding': 'gzip', 'user-agent': 'opencode/1' } })
    expect(seen[0]?.body.equals(body)).toBe(true)
    expect(seen[0]?.url).toBe('/v1/chat/completions?api-version=1')
    expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer sk-canary', 'accept-encoding': 'identity', 'user-agent': 'opencode/1', 'content-type': 'application/json' })
    expect(seen[0]?.headers).not.toHaveProperty('cookie')
    expect(seen[0]?.headers).not.toHaveProperty('x-session-id')
    expect(JSON.stringify(running.posted)).not.toContain('sk-canary')
  })

  test('sends no Authorization where there is no key', async () => {
    const headers: IncomingMessage['headers'][] = []
    const running = await startProxy(await startVendor((request, response) => { headers.push(request.headers); response.end('{}') }))
    await ask(running)
    expect(headers[0]).not.toHaveProperty('authorization')
  })

  test.each(goldens)('hands on $name byte for byte, cut anywhere', async ({ api, text, calls, usage }) => {
    const bytes = Buffer.from(text)
    const step = Math.ceil(bytes.length / 60)
    const running = await startProxy(await startVendor((request, response) => void bodyOf(request).then((body) => {
      const { at } = JSON.parse(body.toString()) as { at: number }
      stream(response)
      response.write(bytes.subarray(0, at), () => setImmediate(() => response.end(bytes.subarray(at))))
    })), { target: { api } })
    const places = Array.from({ length: 61 }, (_unused, index) => Math.min(bytes.length, index * step))
    const replies: Reply[] = []
    for (const at of places) replies.push(await ask(running, { path: api === 'chat' ? '/v1/chat/completions' : '/v1/responses', body: JSON.stringify({ model: 'm-1', at }) }))
    const appended = replies.filter((reply) => !reply.body.equals(bytes)).map((reply) => reply.text.slice(text.length))
    expect(appended).toEqual([])
    expect(replies[0]?.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-muse-proxy-path': 'direct' })
    await vi.waitFor(() => expect(running.ofKind('call-ended')).toHaveLength(places.length))
    expect(running.ofKind('call-ended').every(({ end }) => end.failure === null && end.inputTokens === usage.inputTokens && end.outputTokens === usage.outputTokens)).toBe(true)
    const finals = running.ofKind('preview').filter(({ preview }) => preview.state === 'complete')
    expect(finals).toHaveLength(places.length * calls.length)
  })

  test.each([[400, '{"error":{"message":"bad tool schema"}}'], [401, '{"error":{"message":"Incorrect key sk-canary"}}'], [429, '{"error":{"message":"slow down"}}'], [503, 'upstream down']])('passes the vendor’s own %d through', async (status, body) => {
    const running = await startProxy(await startVendor((_request, response) => { response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '7', 'x-request-id': 'r1' }); response.end(body) }), { credential: 'sk-canary' })
    const reply = await ask(running)
    expect(reply).toMatchObject({ status, text: body, headers: { 'retry-after': '7', 'x-request-id': 'r1' } })
    expect(await endOf(running)).toMatchObject({ end: { status, inputTokens: status < 500 ? 0 : null, failure: { code: 'provider-refused' } } })
    expect(JSON.stringify(running.posted)).not.toContain('sk-canary')
  })

  test('reads usage and model of a reply that is not streamed; unknown stays unknown', async () => {
    const bodies = ['{"model":"m-9","usage":{"prompt_tokens":3,"completion_tokens":0}}', '{"model":"m-9"}', '{"model":"m-9","usage":{"prompt_tokens":"3"}}', 'nonsense']
    const running = await startProxy(await startVendor((_request, response) => { response.writeHead(200, { 'content-type': 'application/json' }); response.end(bodies.shift()) }))
    for (let time = 0; time < 4; time++) await ask(running)
    await vi.waitFor(() => expect(running.ofKind('call-ended')).toHaveLength(4))
    expect(running.ofKind('call-ended').map(({ end }) => [end.modelAnswered, end.inputTokens, end.outputTokens])).toEqual([['m-9', 3, 0], ['m-9', null, null], ['m-9', null, null], [null, null, null]])
  })

  test('follows no redirect', async () => {
    let reached = 0
    const other = await startVendor((_request, response) => { reached++; response.end('{}') })
    const running = await startProxy(await startVendor((_request, response) => { response.writeHead(307, { location: `${other}/chat/completions` }); response.end() }), { credential: 'sk-canary' })
    const reply = await ask(running)
    expect(reply.status).toBe(502)
    expect(codeOf(reply)).toBe('upstream_redirect')
    expect(reached).toBe(0)
  })

  test('says that a vendor cannot be reached', async () => {
    const running = await startProxy('http://127.0.0.1:1/v1')
    const reply = await ask(running)
    expect(reply.status).toBe(502)
    expect(codeOf(reply)).toBe('upstream_unreachable')
    expect(await endOf(running)).toMatchObject({ end: { status: 502, failure: { code: 'provider-unreachable' } } })
  })

  test('sends each byte on before the next one comes', async () => {
    let vendor: ServerResponse | null = null
    const running = await startProxy(await startVendor((_request, response) => { stream(response); vendor = response }))
    const request = httpRequest({ host: '127.0.0.1', port: running.port, path: '/v1/chat/completions', method: 'POST', agent: false, headers: { authorization: `Bearer ${token}` } })
    request.end(JSON.stringify({ model: 'm-1' }))
    const response = await new Promise<IncomingMessage>((resolve) => { request.on('response', resolve) })
    const reader = (response as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
    for (const text of ['d', 'ata: {"choices', '":[]}', '\n', '\n']) {
      ;(vendor as ServerResponse | null)?.write(text)
      expect(String((await reader.next()).value)).toBe(text)
    }
    ;(vendor as ServerResponse | null)?.end(finish)
    expect(String((await reader.next()).value)).toBe(finish)
  })

  test('aborts the vendor when the client goes away', async () => {
    let vendorClosed = false
    const running = await startProxy(await startVendor((_request, response) => { response.on('close', () => { vendorClosed = true }); stream(response, 'data: {"choices":[]}\n\n') }))
    const request = httpRequest({ host: '127.0.0.1', port: running.port, path: '/v1/chat/completions', method: 'POST', agent: false, headers: { authorization: `Bearer ${token}` } })
    request.on('error', () => undefined)
    request.end(JSON.stringify({ model: 'm-1' }))
    const response = await new Promise<IncomingMessage>((resolve) => { request.on('response', resolve) })
    response.on('error', () => undefined)
    response.once('data', () => request.destroy())
    await vi.waitFor(() => expect(vendorClosed).toBe(true))
    expect(await endOf(running)).toMatchObject({ end: { failure: { code: 'cancelled' } } })
  })

  test('holds the vendor back while the client does not read', async () => {
    let accepted = 0
    let drained = false
    const block = Buffer.alloc(64 * 1024, 0x20)
    const running = await startProxy(await startVendor((_request, response) => {
      stream(response)
      const pump = (): void => {
        if (accepted >= 2_000) { response.end(`\n\n${finish}`); return }
        accepted++
        if (response.write(block)) setImmediate(pump)
        else response.once('drain', () => { drained = true; pump() })
      }
      pump()
    }))
    const request = httpRequest({ host: '127.0.0.1', port: running.port, path: '/v1/chat/completions', method: 'POST', agent: false, headers: { authorization: `Bearer ${token}` } })
    request.end(JSON.stringify({ model: 'm-1' }))
    const response = await new Promise<IncomingMessage>((resolve) => { request.on('response', resolve) })
    // Not read yet: what the vendor could hand over is bounded by the sockets' buffers, far from its 125 MiB.
    let before = -1
    await vi.waitFor(() => { const now = accepted; const still = now === before; before = now; expect(still && now > 0).toBe(true) }, { timeout: 10_000, interval: 200 })
    expect(accepted).toBeLessThan(1_000)
    let bytes = 0
    for await (const chunk of response as AsyncIterable<Buffer>) bytes += chunk.length
    expect(bytes).toBe(2_000 * block.length + 2 + finish.length)
    expect(drained).toBe(true)
  })
})

describe('a stream that dies', () => {
  const text = 'data: {"choices":[{"index":0,"delta":{"content":"half"}}]}\n\n'
  const call = 'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"write","arguments":"{\\"filePath\\":\\"a\\""}}]}}]}\n\n'

  test.each([['ends', (response: ServerResponse) => response.end()], ['is reset', (response: ServerResponse) => response.destroy()]])('gets an error frame behind its last byte when it %s without a terminal frame', async (_how, die) => {
    const running = await startProxy(await startVendor((_request, response) => { stream(response); response.write(text + call, () => setImmediate(die, response)) }))
    const reply = await ask(running)
    expect(reply.cut).toBe(false)
    expect(reply.text.startsWith(text + call)).toBe(true)
    expect(JSON.parse(reply.text.slice((text + call).length).replace('data: ', ''))).toMatchObject({ error: { code: 'upstream_stream_incomplete' } })
    expect(running.ofKind('preview').at(-1)).toMatchObject({ preview: { callId: 'call_1', state: 'interrupted' } })
    const end = (await endOf(running)) as { end: { failure: { code: string } } }
    expect(['provider-nonsense', 'provider-unreachable']).toContain(end.end.failure.code)
  })

  test('ends clean when it is reset behind its terminal frame', async () => {
    const running = await startProxy(await startVendor((_request, response) => { stream(response); response.write(text + finish, () => setImmediate(() => response.destroy())) }))
    expect(await ask(running)).toMatchObject({ text: text + finish, cut: false })
    expect(await endOf(running)).toMatchObject({ end: { failure: null } })
  })

  test('cuts the connection where a reply that is no stream breaks off', async () => {
    const running = await startProxy(await startVendor((_request, response) => { response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 }); response.write('{"a":', () => setImmediate(() => response.destroy())) }))
    expect(await ask(running)).toMatchObject({ cut: true, text: '{"a":' })
    expect(await endOf(running)).toMatchObject({ end: { failure: { code: 'provider-unreachable' } } })
  })

  test.each([
    ['says nothing at all', { ...proxyLimits, headMs: 100 }, () => undefined, 502],
    ['sends no byte any more', { ...proxyLimits, byteIdleMs: 100 }, (response: ServerResponse) => stream(response, text), 200],
    ['sends only comments any more', { ...proxyLimits, eventIdleMs: 150 }, (response: ServerResponse) => {
      stream(response, text)
      const beat = setInterval(() => response.write(': alive\n\n'), 20)
      response.on('close', () => clearInterval(beat))
    }, 200],
  ])('is given up when it %s', async (_how, idle, play, status) => {
    let vendorClosed = false
    const running = await startProxy(await startVendor((_request, response) => { response.on('close', () => { vendorClosed = true }); play(response) }), { idle })
    const reply = await ask(running)
    expect(reply.status).toBe(status)
    expect(reply.text).toContain(status === 502 ? 'upstream_timeout' : 'upstream_stream_incomplete')
    await vi.waitFor(() => expect(vendorClosed).toBe(true))
    expect(await endOf(running)).toMatchObject({ end: { failure: { code: 'provider-unreachable' } } })
  })

  test('is ended with its connection when its client stops reading', async () => {
    let vendorClosed = false
    const running = await startProxy(await startVendor((_request, response) => {
      stream(response)
      response.on('close', () => { vendorClosed = true })
      const more = (): void => { while (!response.destroyed && response.write(`data: ${'x'.repeat(60_000)}\n\n`)); }
      response.on('drain', more)
      more()
    }), { time: { ...processTime, after: (ms, run) => processTime.after(ms === http1Limits.sweepMs ? 1 : ms, run) } })
    httpRequest({ host: '127.0.0.1', port: running.port, method: 'POST', path: '/v1/chat/completions', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } }, (response) => { response.pause() }).on('error', () => undefined).end(JSON.stringify({ model: 'm-1', messages: [] }))
    expect(await endOf(running)).toMatchObject({ end: { failure: { code: 'cancelled' } } })
    await vi.waitFor(() => { expect(vendorClosed).toBe(true) })
  })
})

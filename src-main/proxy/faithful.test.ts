import { Agent, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { limits } from '../../src-preload/contract/limits.ts'
import { goldens } from './dialects.suite.ts'
import type { Golden } from './golden.suite.ts'
import { ask, releaseAll, releaseLater, startProxy, startVendor, token, type RunningProxy } from './proxy.suite.ts'

afterEach(releaseAll)

const pathOf = (api: Golden['api']): string => (api === 'chat' ? '/v1/chat/completions' : '/v1/responses')

/** Where a cut is likely to be read wrong: within and around line ends, characters of several bytes, and escapes. */
function isDangerous(bytes: Buffer, at: number): boolean {
  return [bytes[at - 1], bytes[at]].some((unit) => unit === 10 || unit === 13 || unit === 92 || (unit ?? 0) >= 0x80)
}

/** Every place where a stream can be cut with `EVERY_CUT=1`, which takes minutes; else every dangerous one, and a share of the others that is another one for each stream. */
function placesOf(bytes: Buffer, stream: number): readonly number[] {
  const all = Array.from({ length: bytes.length + 1 }, (_unused, at) => at)
  return process.env['EVERY_CUT'] === '1' ? all : all.filter((at) => at === 0 || at === bytes.length || at % 29 === stream % 29 || isDangerous(bytes, at))
}

const connections = 4

describe('a stream through real sockets', () => {
  test.each(goldens.map((golden, stream) => ({ ...golden, stream })))('arrives as it was sent, cut in two at any byte, the first part before the second is sent: $name', async ({ api, text, calls, usage, stream }) => {
    const bytes = Buffer.from(text)
    const goOn = new Map<string, () => void>()
    const running = await startProxy(await startVendor((request, response) => {
      const at = Number(request.headers['user-agent'])
      request.resume()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
      if (at > 0) response.write(bytes.subarray(0, at))
      goOn.set(String(at), () => { response.end(bytes.subarray(at)) })
    }), { target: { api } })
    const agent = new Agent({ keepAlive: true, maxSockets: connections })
    releaseLater(() => { agent.destroy() })
    const changed: number[] = []
    const places = placesOf(bytes, stream)
    const next = places[Symbol.iterator]()
    await Promise.all(Array.from({ length: connections }, async () => {
      for (const at of next) {
        const read = await cutAt(running, agent, pathOf(api), at, () => { goOn.get(String(at))?.() })
        if (!read.equals(bytes)) changed.push(at)
      }
    }))
    expect(changed).toEqual([])
    await vi.waitFor(() => { expect(running.ofKind('call-ended')).toHaveLength(places.length) })
    expect(running.ofKind('call-ended').every(({ end }) => end.failure === null && end.inputTokens === usage.inputTokens && end.outputTokens === usage.outputTokens)).toBe(true)
    const finals = running.ofKind('preview').map(({ preview }) => preview).filter(({ state }) => state !== 'growing')
    for (const { callId, tool, json } of calls) expect(finals.filter((final) => final.state === 'complete' && final.callId === callId && final.tool === tool && final.argumentBytes === Buffer.byteLength(json))).toHaveLength(places.length)
    expect(finals).toHaveLength(places.length * calls.length)
  }, 600_000)

  test.each(goldens)('arrives as it was sent, byte by byte, and its previews are its arguments: $name', async ({ api, text, calls, usage, model }) => {
    const bytes = Buffer.from(text)
    const running = await startProxy(await startVendor((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const send = (at: number): void => {
        if (at >= bytes.length) { response.end(); return }
        response.write(bytes.subarray(at, at + 1))
        // Some bytes meet in a segment and some travel alone.
        if (at % 3 === 0) setImmediate(send, at + 1)
        else send(at + 1)
      }
      send(0)
    }), { target: { api } })
    const reply = await ask(running, { path: pathOf(api) })
    expect(reply.body.equals(bytes)).toBe(true)
    await vi.waitFor(() => { expect(running.ofKind('call-ended')).toHaveLength(1) })
    expect(running.ofKind('call-ended')[0]?.end).toMatchObject({ path: 'direct', status: 200, failure: null, modelAnswered: model, ...usage })
    const finals = running.ofKind('preview').map(({ preview }) => preview).filter(({ state }) => state !== 'growing')
    expect(finals.map(({ callId, tool, argumentBytes, state }) => ({ callId, tool, argumentBytes, state })).sort((a, b) => (a.callId < b.callId ? -1 : 1))).toEqual(
      [...calls].sort((a, b) => (a.callId < b.callId ? -1 : 1)).map(({ callId, tool, json }) => ({ callId, tool, argumentBytes: Buffer.byteLength(json), state: 'complete' })))
  })

  test.each([
    ['an event over several data lines', 'data: {"choices":\ndata: [{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'], ['text that is no JSON', 'data: hello\n\ndata: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'],
    ['an error of vLLM', 'data: {"object":"error","message":"out of memory","type":"InternalServerError","param":null,"code":500}\n\ndata: [DONE]\n\n'], ['an error of OpenRouter', 'data: {"id":"g","choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"error":{"code":502,"message":"provider gone"}}\n\n'],
    ['bytes that are no UTF-8', Buffer.concat([Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"'), Buffer.from([0xff, 0xfe, 0xc3]), Buffer.from('"},"finish_reason":"stop"}]}\n\n')])],
  ])('that holds %s arrives as it was sent', async (_what, sent) => {
    const running = await startProxy(await startVendor((_request, response) => { response.writeHead(200, { 'content-type': 'text/event-stream' }).end(sent) }))
    expect((await ask(running)).body.equals(Buffer.from(sent))).toBe(true)
  })

  test('that is compressed all the same is handed on as it is, and read as unknown', async () => {
    const sent = Buffer.from([0x1f, 0x8b, 0x08, 0, 0, 1, 2, 3])
    const running = await startProxy(await startVendor((_request, response) => { response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }).end(sent) }))
    const reply = await ask(running)
    expect([reply.body.equals(sent), reply.headers['content-encoding']]).toEqual([true, 'gzip'])
    await vi.waitFor(() => { expect(running.ofKind('call-ended')).toMatchObject([{ end: { inputTokens: null } }]) })
  })
})

/** The whole body of a stream that its vendor sends in two parts; `goOn` is called when all of the first has arrived here. */
function cutAt(running: RunningProxy, agent: Agent, path: string, at: number, goOn: () => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port: running.port, agent, path, method: 'POST', headers: { authorization: `Bearer ${token}`, 'user-agent': String(at) } }, (response: IncomingMessage) => {
      const pieces: Buffer[] = []
      let bytes = 0
      if (at === 0) goOn()
      response.on('data', (piece: Buffer) => {
        pieces.push(piece)
        bytes += piece.length
        if (at > 0 && bytes === at) goOn()
      }).on('end', () => { resolve(Buffer.concat(pieces)) }).on('error', reject)
    })
    request.on('error', reject)
    request.end(JSON.stringify({ model: 'm-1', messages: [] }))
  })
}

describe('a request', () => {
  test('of exactly 32 MiB is handed on whole', async () => {
    let bytes = 0
    const running = await startProxy(await startVendor((request, response) => { request.on('data', (piece: Buffer) => { bytes += piece.length }); request.on('end', () => { response.end('{}') }) }))
    const head = '{"model":"m-1","messages":[],"x":"'
    const body = Buffer.concat([Buffer.from(head), Buffer.alloc(limits.proxyBodyBytesMax - head.length - 2, 0x61), Buffer.from('"}')])
    expect(body.length).toBe(limits.proxyBodyBytesMax)
    expect((await ask(running, { body })).status).toBe(200)
    expect(bytes).toBe(limits.proxyBodyBytesMax)
  })

  test('whose client goes before the answer’s head ends at the vendor, too', async () => {
    let [arrived, closed] = [false, false]
    const running = await startProxy(await startVendor((request, response) => { arrived = true; request.resume(); response.on('close', () => { closed = true }) }))
    const sent = httpRequest({ host: '127.0.0.1', port: running.port, path: '/v1/chat/completions', method: 'POST', agent: false, headers: { authorization: `Bearer ${token}` } })
    sent.on('error', () => undefined)
    sent.end(JSON.stringify({ model: 'm-1' }))
    await vi.waitFor(() => { expect(arrived).toBe(true) })
    sent.destroy()
    await vi.waitFor(() => { expect(closed).toBe(true) })
  })

  test('whose client goes in the middle of sending reaches nobody', async () => {
    let reached = 0
    const running = await startProxy(await startVendor((_request, response) => { reached++; response.end('{}') }))
    const socket = connect(running.port, '127.0.0.1')
    await new Promise<void>((sent) => { socket.write(`POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:${running.port}\r\nAuthorization: Bearer ${token}\r\nContent-Length: 1000\r\n\r\n{"model":`, () => { sent() }) })
    socket.destroy()
    await ask(running, { path: '/v1/models', method: 'GET' })
    expect({ reached, asks: running.asks }).toEqual({ reached: 0, asks: [] })
  })
})

describe('a thousand open streams', () => {
  test('do not keep a new request from being served, and each gets its own bytes', async () => {
    const streams = 1_000
    const open: { readonly response: ServerResponse; readonly number: string }[] = []
    const running = await startProxy(await startVendor((request, response) => {
      request.resume()
      const number = String(request.headers['user-agent'])
      if (number === 'new') { response.end('{"model":"m-1"}'); return }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: {"choices":[{"index":0,"delta":{"content":"${number}"}}]}\n\n`)
      open.push({ response, number })
    }))
    const agent = new Agent({ maxSockets: Infinity })
    releaseLater(() => { agent.destroy() })
    const replies = Array.from({ length: streams }, (_unused, number) => streamed(running, agent, String(number)))
    await vi.waitFor(() => { expect(open).toHaveLength(streams) }, { timeout: 15_000 })
    await Promise.all(replies.map(({ began }) => began))
    expect(await ask(running, { headers: { 'user-agent': 'new' } })).toMatchObject({ status: 200, text: '{"model":"m-1"}' })
    for (const { response } of open) response.end('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n')
    const texts = await Promise.all(replies.map(({ text }) => text))
    expect(texts.filter((text, number) => !text.includes(`"content":"${number}"`) || text.includes('error'))).toEqual([])
    await vi.waitFor(() => { expect(running.ofKind('call-ended')).toHaveLength(streams + 1) })
    expect(running.ofKind('call-ended').every(({ end }) => end.failure === null)).toBe(true)
  }, 60_000)
})

function streamed(running: RunningProxy, agent: Agent, number: string): { readonly began: Promise<void>; readonly text: Promise<string> } {
  let begin: () => void = () => undefined
  const began = new Promise<void>((resolve) => { begin = resolve })
  const text = new Promise<string>((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port: running.port, agent, path: '/v1/chat/completions', method: 'POST', headers: { authorization: `Bearer ${token}`, 'user-agent': number } }, (response: IncomingMessage) => {
      let read = ''
      response.setEncoding('utf8').on('data', (piece: string) => { read += piece; begin() }).on('end', () => { resolve(read) }).on('error', reject)
    })
    request.on('error', reject)
    request.end(JSON.stringify({ model: 'm-1', messages: [], stream: true }))
  })
  return { began, text }
}

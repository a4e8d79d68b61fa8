import { request as httpRequest, type ClientRequest } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { FromProxy } from '../core/gateway/messages.ts'
import { ask, codeOf, releaseAll, releaseLater, startProxy, startVendor, token, type ProxyOptions, type RunningProxy } from './proxy.suite.ts'
import { proxyLimits } from './proxy-limits.ts'
import { processTime, type Time } from './time.ts'

afterEach(releaseAll)

type CallEnd = Extract<FromProxy, { is: 'call-ended' }>['end']

const body = JSON.stringify({ model: 'm-1', messages: [{ role: 'user', content: 'hi' }] })
const nothing = { inputTokens: 0, outputTokens: 0, failure: { code: 'cancelled' } }

/** A request whose client can go; what comes back is not read. */
function client(running: RunningProxy): ClientRequest {
  const request = httpRequest({ host: '127.0.0.1', port: running.port, path: '/v1/chat/completions', method: 'POST', agent: false, headers: { authorization: `Bearer ${token}` } })
  request.on('error', () => undefined)
  request.end(body)
  return request
}

/** What was told of the only call's end. */
async function endOf(running: RunningProxy): Promise<CallEnd> {
  await vi.waitFor(() => { expect(running.ofKind('call-ended')).not.toEqual([]) })
  const [end, ...more] = running.ofKind('call-ended').map((message) => message.end)
  expect(more).toEqual([])
  if (end === undefined) throw new Error('it has not ended')
  return end
}

describe('a call whose client goes', () => {
  /** A client that goes while the app decides; then the app admits its call. */
  async function goneUndecided(options: ProxyOptions): Promise<CallEnd> {
    const running = await startProxy(await startVendor((_request, response) => { response.end('{}') }), { ...options, admit: () => null })
    const gone = client(running)
    await vi.waitFor(() => { expect(running.asks).toHaveLength(1) })
    gone.destroy()
    // Another call on another connection: when it is served, the proxy has seen the first connection close.
    await ask(running, { path: '/v1/models', method: 'GET' })
    running.proxy.take({ is: 'admission', callNumber: 1, admission: { admit: true } })
    return endOf(running)
  }

  test('while the app decides has used nothing', async () => {
    expect(await goneUndecided({})).toMatchObject(nothing)
  })

  test('while the app decides has used nothing where only a fallback could have served it', async () => {
    const end = await goneUndecided({ directEnabled: false, target: { fallback: 'vendor' }, serving: { execEnabled: true }, vendor: { start: () => { throw new Error('nobody is to be started') } } })
    expect(end).toMatchObject(nothing)
  })

  test('while the vendor’s connection is opened has used nothing', async () => {
    let reached = false
    // It takes connections and never says a word of TLS.
    const silent = createServer((socket) => { reached = true; socket.on('error', () => undefined); releaseLater(() => { socket.destroy() }) })
    releaseLater(() => { silent.close() })
    await new Promise<void>((done) => { silent.listen(0, '127.0.0.1', done) })
    const running = await startProxy(`https://127.0.0.1:${String((silent.address() as AddressInfo).port)}/v1`)
    const gone = client(running)
    await vi.waitFor(() => { expect(reached).toBe(true) })
    gone.destroy()
    expect(await endOf(running)).toMatchObject(nothing)
  })

  test.each([['is handed on', false], ['is held', true]])('in the middle of a refusal of the vendor’s that %s has used nothing', async (_how, fallback) => {
    let answered = false
    const running = await startProxy(await startVendor((_request, response) => { response.writeHead(403, { 'content-type': 'application/json' }); response.write('{', () => { answered = true }) }), fallback ? { target: { fallback: 'vendor' }, serving: { execEnabled: true } } : {})
    const gone = client(running)
    await vi.waitFor(() => { expect(answered).toBe(true) })
    // Its answer came over the wire before this one did.
    await ask(running, { path: '/v1/models', method: 'GET' })
    gone.destroy()
    expect(await endOf(running)).toMatchObject(nothing)
  })

  test('once the vendor has its request may have used anything', async () => {
    let arrived = false
    const running = await startProxy(await startVendor((request) => { request.resume().on('end', () => { arrived = true }) }))
    const gone = client(running)
    await vi.waitFor(() => { expect(arrived).toBe(true) })
    gone.destroy()
    expect(await endOf(running)).toMatchObject({ inputTokens: null, outputTokens: null, failure: { code: 'cancelled' } })
  })

  test('in the middle of a stream may have used more than its vendor counted by then', async () => {
    const events = ['{"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":25,"completion_tokens":1}}', '{"choices":[{"index":0,"delta":{"content":"b"}}]}'].map((event) => `data: ${event}\n\n`).join('')
    const running = await startProxy(await startVendor((request, response) => { request.resume(); response.writeHead(200, { 'content-type': 'text/event-stream' }); response.write(events) }))
    const gone = client(running)
    gone.once('response', (response) => { response.once('data', () => { gone.destroy() }) })
    expect(await endOf(running)).toMatchObject({ inputTokens: 25, outputTokens: null, failure: { code: 'cancelled' } })
  })
})

describe('a fault of our own', () => {
  test('in a fallback is answered, and told as the end of its call', async () => {
    const running = await startProxy('http://127.0.0.1:1/v1', { directEnabled: false, target: { fallback: 'vendor' }, serving: { execEnabled: true }, vendor: { start: () => { throw new Error('a fault') } } })
    const reply = await ask(running, { body })
    expect([reply.status, codeOf(reply)]).toEqual([500, 'proxy_internal'])
    expect(await endOf(running)).toMatchObject({ callNumber: 1, status: 500, inputTokens: null, outputTokens: null, final: false, failure: { code: 'proxy-failed' } })
    expect(running.ofKind('log')).toMatchObject([{ message: 'a fault' }])
  })

  test('within the call that sends it is answered, and told as its end', async () => {
    const time: Time = { ...processTime, after: (ms, run) => { if (ms === proxyLimits.byteIdleMs) throw new Error('a fault'); return processTime.after(ms, run) } }
    const running = await startProxy('http://127.0.0.1:1/v1', { time })
    const reply = await ask(running, { body })
    expect([reply.status, codeOf(reply)]).toEqual([500, 'proxy_internal'])
    expect(await endOf(running)).toMatchObject({ callNumber: 1, status: 500, failure: { code: 'proxy-failed' } })
  })
})

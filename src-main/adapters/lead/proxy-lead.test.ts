import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createLead } from './proxy-lead.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => { for (const cleanup of cleanups.splice(0).reverse()) await cleanup() })

/** A stand-in for the proxy's Unix socket. */
async function startSocket(handle: (request: IncomingMessage, response: ServerResponse, body: Record<string, unknown>) => void): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'cs-ld-'))
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => handle(request, response, JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>))
  })
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }), () => new Promise((done) => { server.close(done); server.closeAllConnections() }))
  const path = join(folder, 'proxy.sock')
  await new Promise<void>((done) => { server.listen(path, done) })
  return path
}

function askOn(socketPath: string, changes: { api?: 'chat' | 'responses'; signal?: AbortSignal } = {}): { texts: string[]; answer: ReturnType<ReturnType<typeof createLead>['ask']> } {
  const texts: string[] = []
  const turn = { socketPath, token: 'tok', modelId: 'm-1', api: changes.api ?? 'chat', system: 'Be brief.', messages: [{ role: 'user' as const, content: 'one' }, { role: 'assistant' as const, content: 'two' }, { role: 'user' as const, content: 'three' }] }
  return { texts, answer: createLead().ask(turn, (text) => { texts.push(text) }, changes.signal ?? new AbortController().signal) }
}

function streamOf(response: ServerResponse, events: readonly unknown[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join(''))
}

const text = (content: string, finish: string | null = null): unknown => ({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] })

describe('the lead', () => {
  test('asks by chat, streamed and without tools, and hands on the whole text so far', async () => {
    const seen: Record<string, unknown>[] = []
    const socketPath = await startSocket((request, response, body) => {
      seen.push({ ...body, url: request.url, authorization: request.headers.authorization })
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const bytes = Buffer.from(`: hi\n\ndata: ${JSON.stringify(text('grü'))}\n\ndata: ${JSON.stringify(text('ß 😀'))}\n\ndata: ${JSON.stringify(text('', 'stop'))}\n\ndata: [DONE]\n\n`)
      for (const byte of bytes) response.write(Uint8Array.of(byte))
      response.end()
    })
    const { texts, answer } = askOn(socketPath)
    expect(await answer).toEqual({ ok: true, value: { text: 'grüß 😀' } })
    expect(texts.at(-1)).toBe('grüß 😀')
    expect(texts.every((partial) => 'grüß 😀'.startsWith(partial))).toBe(true)
    expect(seen).toEqual([{
      url: '/v1/chat/completions', authorization: 'Bearer tok', model: 'm-1', stream: true, stream_options: { include_usage: true },
      messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'one' }, { role: 'assistant', content: 'two' }, { role: 'user', content: 'three' }],
    }])
  })

  test('asks by the responses API', async () => {
    const seen: Record<string, unknown>[] = []
    const socketPath = await startSocket((request, response, body) => {
      seen.push({ ...body, url: request.url })
      streamOf(response, [{ type: 'response.created', response: { id: 'r', error: null } }, { type: 'response.output_text.delta', delta: 'a' }, { type: 'response.reasoning_summary_text.delta', delta: 'no' }, { type: 'response.output_text.delta', delta: 'b' }, { type: 'response.completed', response: { error: null, usage: {} } }])
    })
    expect(await askOn(socketPath, { api: 'responses' }).answer).toEqual({ ok: true, value: { text: 'ab' } })
    expect(seen[0]).toMatchObject({ url: '/v1/responses', instructions: 'Be brief.', store: false, stream: true, input: [{ role: 'user', content: [{ type: 'input_text', text: 'one' }] }, { role: 'assistant', content: [{ type: 'output_text', text: 'two' }] }, { role: 'user' }] })
    expect(seen[0]).not.toHaveProperty('tools')
  })

  test.each([
    ['chat' as const, { choices: [{ message: { content: 'whole' }, finish_reason: 'stop' }] }],
    ['responses' as const, { output: [{ type: 'reasoning' }, { type: 'message', content: [{ type: 'output_text', text: 'whole' }] }], error: null }],
  ])('takes a reply that came in one piece (%s)', async (api, body) => {
    const socketPath = await startSocket((_request, response) => { response.setHeader('content-type', 'application/json'); response.end(JSON.stringify(body)) })
    const { texts, answer } = askOn(socketPath, { api })
    expect(await answer).toEqual({ ok: true, value: { text: 'whole' } })
    expect(texts).toEqual(['whole'])
  })

  test.each([
    [401, { error: { message: 'Incorrect key', type: 'x', code: 'invalid_api_key' } }, 'provider-refused', 'Incorrect key'],
    [429, { error: { message: 'Slow down', code: 429 } }, 'provider-refused', 'Slow down'],
    [500, 'no json', 'provider-refused', 'status 500'],
    [502, { error: { message: 'Not reached', code: 'upstream_unreachable' } }, 'provider-unreachable', 'Not reached'],
    [502, { error: { message: 'No key', code: 'credential_missing' } }, 'credential-missing', 'No key'],
    [403, { error: { message: 'Used up', code: 'budget_exhausted' } }, 'budget-exhausted', 'Used up'],
    [403, { error: { message: 'Stopped', code: 'stopped' } }, 'cancelled', 'Stopped'],
  ])('maps a refusal with status %d', async (status, body, code, words) => {
    const socketPath = await startSocket((_request, response) => { response.writeHead(status, { 'content-type': 'application/json' }); response.end(typeof body === 'string' ? body : JSON.stringify(body)) })
    expect(await askOn(socketPath).answer).toMatchObject({ ok: false, error: { code, message: expect.stringContaining(words) as string } })
  })

  test.each([['credential_exchange_failed', 'exchange address'], ['upstream_redirect', 'redirects to'], ['client_attestation_denied', 'fallback'], ['direct_disabled', 'Fallbacks'], ['fallbacks_failed', 'vendor’s program'], ['upstream_unreachable', 'base URL']])('says what to look at after %s', async (code, words) => {
    const socketPath = await startSocket((_request, response) => { response.writeHead(502, { 'content-type': 'application/json' }); response.end(JSON.stringify({ error: { message: 'x', code } })) })
    expect(await askOn(socketPath).answer).toMatchObject({ ok: false, error: { todo: expect.stringContaining(words) as string } })
  })

  test.each([
    ['an error frame of the vendor', 'chat' as const, [text('a'), { error: { message: 'overloaded' } }], 'provider-refused'],
    ['the proxy’s frame behind a broken stream', 'chat' as const, [text('a'), { error: { message: 'broke off', code: 'upstream_stream_incomplete' } }], 'provider-nonsense'],
    ['a failed response', 'responses' as const, [{ type: 'response.failed', response: { error: { code: 'server_error', message: 'oops' } } }], 'provider-refused'],
    ['no end', 'chat' as const, [text('a'), '[DONE]'], 'provider-nonsense'],
    ['no event at all', 'chat' as const, ['nonsense'], 'provider-nonsense'],
    ['too much text', 'chat' as const, [text('x'.repeat(300_000), 'stop')], 'provider-nonsense'],
  ])('gives no text for a stream with %s', async (_name, api, events, code) => {
    const socketPath = await startSocket((_request, response) => streamOf(response, events))
    expect(await askOn(socketPath, { api }).answer).toMatchObject({ ok: false, error: { code } })
  })

  test('gives no text for JSON that is no answer', async () => {
    const socketPath = await startSocket((_request, response) => { response.setHeader('content-type', 'application/json'); response.end('{"choices":[]}') })
    expect(await askOn(socketPath).answer).toMatchObject({ ok: false, error: { code: 'provider-nonsense' } })
  })

  test('says that the proxy is not there', async () => {
    expect(await askOn('/nonexistent/proxy.sock').answer).toMatchObject({ ok: false, error: { code: 'proxy-failed' } })
  })

  test('stops in the middle of a stream, and the connection ends', async () => {
    const stop = new AbortController()
    let closed = false
    const socketPath = await startSocket((_request, response) => {
      response.on('close', () => { closed = true })
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify(text('a'))}\n\n`)
    })
    const { texts, answer } = askOn(socketPath, { signal: stop.signal })
    await vi.waitFor(() => expect(texts).toEqual(['a']))
    stop.abort()
    expect(await answer).toMatchObject({ ok: false, error: { code: 'cancelled' } })
    await vi.waitFor(() => expect(closed).toBe(true))
  })

  test('does not begin when it was stopped before', async () => {
    let reached = 0
    const socketPath = await startSocket((_request, response) => { reached++; response.end() })
    const stop = new AbortController()
    stop.abort()
    expect(await askOn(socketPath, { signal: stop.signal }).answer).toMatchObject({ ok: false, error: { code: 'cancelled' } })
    expect(reached).toBe(0)
  })
})

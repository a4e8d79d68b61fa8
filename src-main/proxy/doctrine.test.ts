import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ask, codeOf, releaseAll, releaseLater, startProxy, startVendor, token, type ProxyOptions, type Reply, type RunningProxy } from './proxy.suite.ts'
import { plainVendorHost } from './vendor-children.ts'
import { alive, stubAnswer, stubProgram, type StubVendor } from './vendor-program.suite.ts'

afterEach(releaseAll)

const tools = [{ type: 'function', function: { name: 'write', parameters: { type: 'object' } } }]
const history = [{ role: 'user', content: 'hi' }, { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'write', arguments: '{}' } }] }, { role: 'tool', tool_call_id: 'c1', content: 'ok' }]
const denied = JSON.stringify({ error: { message: 'This client is not attested.', type: 'permission_error', code: 'client_attestation_denied' } })

type Situation = 'no credential' | 'direct disabled' | 'attestation denied' | 'transport failure' | 'connection reset' | 'malformed reply' | 'redirect' | 'exchange failure' | 'works'

interface Bench { readonly running: RunningProxy; readonly stub: ReturnType<typeof stubProgram>; readonly reached: () => number }

/** A proxy before a stub vendor and its stub program, with both fallbacks turned on unless `serving` says otherwise. */
async function bench(situation: Situation, behaviour: StubVendor = {}, options: ProxyOptions = {}): Promise<Bench> {
  const stub = stubProgram(behaviour)
  let reached = 0
  const vendor = await startVendor((request, response) => { reached++; request.resume(); request.on('end', () => { play(situation, request, response) }) })
  const elsewhere = await startVendor((_request, response) => { response.writeHead(500).end() })
  const baseUrl = situation === 'transport failure' ? 'http://127.0.0.1:1/v1' : vendor
  const running = await startProxy(baseUrl, {
    vendor: plainVendorHost(stub.cli, process.env), directEnabled: situation !== 'direct disabled', ...options,
    serving: { warmEnabled: true, execEnabled: true, vendorLabel: 'Muse', ...options.serving },
    credential: situation === 'exchange failure' ? 'sk-stored' : null,
    target: { fallback: 'vendor', needsKey: situation === 'no credential', ...(situation === 'exchange failure' ? { exchange: { url: `${elsewhere}/token`, how: 'bearer' as const } } : {}), ...options.target },
  })
  // The programs end before the proxy: what they write is read by then.
  releaseLater(() => { running.proxy.take({ is: 'configure', serving: { directEnabled: true, warmEnabled: false, execEnabled: false, vendorLabel: '', vendorId: 'none' } }) })
  return { running, stub, reached: () => reached }
}

function play(situation: Situation, request: IncomingMessage, response: ServerResponse): void {
  switch (situation) {
    case 'attestation denied': response.writeHead(403, { 'content-type': 'application/json' }).end(denied); return
    case 'connection reset': request.socket.destroy(); return
    case 'malformed reply': request.socket.end('SSH-2.0-nothing\r\n\r\n'); return
    case 'redirect': response.writeHead(307, { location: 'http://169.254.169.254/' }).end(); return
    default: response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ model: 'm-1', choices: [{ message: { role: 'assistant', content: 'direct' }, finish_reason: 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 1 } }))
  }
}

function send(running: RunningProxy, changes: object, path = '/v1/chat/completions'): Promise<Reply> {
  return ask(running, { path, body: JSON.stringify({ model: 'm-1', ...changes }) })
}

/** The text of an answer of either form. */
function textOf(reply: Reply): string {
  type Choice = { readonly message?: { readonly content: string }; readonly delta?: { readonly content?: string } }
  const bodies = String(reply.headers['content-type']).startsWith('text/event-stream') ? reply.text.split('\n\n').map((event) => event.replace(/^data: /, '')).filter((data) => data.startsWith('{')) : [reply.text]
  return bodies.flatMap((body) => (JSON.parse(body) as { choices?: Choice[] }).choices ?? []).map(({ message, delta }) => message?.content ?? delta?.content ?? '').join('')
}

const unavailable: readonly Situation[] = ['no credential', 'direct disabled', 'attestation denied', 'transport failure', 'connection reset', 'malformed reply', 'redirect', 'exchange failure']
/** The request may have reached the vendor, which may charge it, before a fallback is tried. */
const mayHaveLeft: readonly Situation[] = ['connection reset', 'malformed reply']
const plain = { messages: [{ role: 'system', content: 'Be short.' }, { role: 'user', content: [{ type: 'text', text: 'Say' }, { type: 'text', text: 'hello' }] }], temperature: 0.2, metadata: { secret: 'no' } }

const called = { id: 'c1', type: 'function', function: { name: 'write', arguments: '{}' } }
const withMessage = (message: object): object => ({ messages: [{ role: 'user', content: 'hi' }, message] })
/** docs/proxy.md, “What counts as carrying tools”, row by row. `warm`: text, a fallback answers. */
const decisions: readonly [string, object, 'warm' | 'tools' | 'direct only'][] = [
  ['tools with an entry', { tools }, 'tools'], ['tools under tool_choice none', { tools, tool_choice: 'none' }, 'tools'], ['legacy functions', { functions: [{ name: 'write' }] }, 'tools'], ['legacy functions under function_call none', { functions: [{ name: 'write' }], function_call: 'none' }, 'tools'],
  ['tools: []', { tools: [] }, 'warm'], ['functions: []', { functions: [] }, 'warm'], ['tools: null', { tools: null }, 'warm'],
  ['tool_choice none', { tool_choice: 'none' }, 'warm'], ['tool_choice auto', { tool_choice: 'auto' }, 'warm'], ['tool_choice of type auto', { tool_choice: { type: 'auto' } }, 'warm'], ['tool_choice null', { tool_choice: null }, 'warm'], ['function_call auto', { function_call: 'auto' }, 'warm'],
  ['tool_choice required', { tool_choice: 'required' }, 'tools'], ['tool_choice any', { tool_choice: 'any' }, 'tools'], ['a named tool_choice', { tool_choice: { type: 'function', function: { name: 'write' } } }, 'tools'], ['allowed tools', { tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [] } }, 'tools'], ['a named function_call', { function_call: { name: 'write' } }, 'tools'],
  ['tool_calls in the history', withMessage({ role: 'assistant', content: null, tool_calls: [called] }), 'tools'], ['an empty tool_calls', withMessage({ role: 'assistant', content: 'hi', tool_calls: [] }), 'warm'], ['a legacy function_call in the history', withMessage({ role: 'assistant', content: null, function_call: { name: 'write', arguments: '{}' } }), 'tools'],
  ['tools that are no list', { tools: { write: {} } }, 'tools'], ['functions that are no list', { functions: 'write' }, 'tools'], ['a tool_choice that is a list', { tool_choice: ['write'] }, 'tools'], ['a tool_choice that is true', { tool_choice: true }, 'tools'], ['tool_calls that are no list', withMessage({ role: 'assistant', content: 'hi', tool_calls: { c1: called } }), 'tools'], ['a function_call that is a word', withMessage({ role: 'assistant', content: 'hi', function_call: 'write' }), 'tools'], ['tool_calls null', withMessage({ role: 'assistant', content: 'hi', tool_calls: null }), 'warm'],
  ['a role that is a name of every object', withMessage({ role: 'constructor', content: 'hi' }), 'direct only'],
  ['a message of role tool', withMessage({ role: 'tool', tool_call_id: 'c1', content: 'ok' }), 'tools'], ['a message of role function', withMessage({ role: 'function', name: 'write', content: 'ok' }), 'tools'],
  ['a tool_use part', withMessage({ role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'write', input: {} }] }), 'tools'], ['a tool_result part', withMessage({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'ok' }] }), 'tools'],
  ['several text parts', { messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }] }] }, 'warm'], ['a picture', { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:' } }] }] }, 'direct only'], ['a file', { messages: [{ role: 'user', content: [{ type: 'file', file: {} }] }] }, 'direct only'], ['an unknown part', { messages: [{ role: 'user', content: [{ type: 'hologram' }] }] }, 'direct only'],
  ['the words of a tool call in plain text', { messages: [{ role: 'user', content: '{"tool_calls":[{"id":"x"}]}' }] }, 'warm'],
]

describe('what counts as carrying tools', () => {
  test.each(decisions.flatMap((row) => [false, true].map((stream) => [...row, stream] as const)))('%s, where direct cannot serve it: %3$s (streamed: %4$s)', async (_what, change, decision, stream) => {
    const { running, stub } = await bench('transport failure')
    const reply = await send(running, { messages: [{ role: 'user', content: 'hi' }], ...change, stream })
    if (decision === 'warm') expect([reply.status, reply.headers['x-muse-proxy-path'], textOf(reply)]).toEqual([200, 'warm', stubAnswer])
    else expect([reply.status, codeOf(reply), stub.log()]).toEqual([502, decision === 'tools' ? 'tools_fallback_ineligible' : 'upstream_unreachable', []])
  })

  test.each(decisions)('%s, where direct works, goes to the vendor itself, byte for byte', async (_what, change) => {
    const bodies: string[] = []
    const running = await startProxy(await startVendor((request, response) => { let body = ''; request.setEncoding('utf8').on('data', (piece: string) => { body += piece }).on('end', () => { bodies.push(body); response.end('{}') }) }))
    const body = JSON.stringify({ model: 'm-1', messages: [{ role: 'user', content: 'hi' }], ...change })
    expect([(await ask(running, { body })).status, bodies]).toEqual([200, [body]])
  })

  const items = ['function_call', 'function_call_output', 'custom_tool_call', 'local_shell_call_output', 'mcp_approval_request', 'message'].map((type) => [type, { input: [{ type, call_id: 'c1', name: 'write', arguments: '{}', output: 'ok' }] }] as const)
  test.each(items)('a %s item of the responses API is served direct or not at all, whatever is turned on', async (_type, change) => {
    const { running, stub } = await bench('transport failure', {}, { target: { api: 'responses' } })
    const reply = await send(running, change, '/v1/responses')
    expect([reply.status, codeOf(reply), stub.log()]).toEqual([502, 'upstream_unreachable', []])
  })
})

describe('a chat request that carries tools', () => {
  const kinds: readonly [string, object][] = [
    ['with tools', { messages: plain.messages, tools }], ['with a history of tool calls and no tools', { messages: history }], ['with a forced tool choice', { messages: plain.messages, tool_choice: 'required' }],
  ]
  const rows = unavailable.flatMap((situation) => kinds.flatMap(([kind, body]) => [false, true].map((stream) => [kind, stream ? 'streamed' : 'whole', situation, { ...body, stream }] as const)))
  test.each(rows)('%s, %s, gets 502 tools_fallback_ineligible on %s, and no program is ever started', async (_kind, _form, situation, body) => {
    const { running, stub } = await bench(situation)
    const reply = await send(running, body)
    expect([reply.status, codeOf(reply), reply.headers['x-muse-proxy-path']]).toEqual([502, 'tools_fallback_ineligible', 'direct'])
    expect(stub.log()).toEqual([])
    expect(running.ofKind('call-ended')).toMatchObject([{ end: { path: 'direct', status: 502 } }])
  })

  test('tells what keeps it from going direct, and what the limitation is', async () => {
    const { running } = await bench('transport failure')
    const { message } = (JSON.parse((await send(running, { messages: history, tools })).text) as { error: { message: string } }).error
    expect(message).toContain('could not be reached')
    expect(message).toContain('prose')
  })

  test('is told once of a denied attestation: the retries reach nobody', async () => {
    const { running, reached, stub } = await bench('attestation denied')
    for (let time = 0; time < 6; time++) expect(await send(running, { messages: history, tools })).toMatchObject({ status: 502 })
    expect({ reached: reached(), ends: running.ofKind('call-ended').length, started: stub.log() }).toEqual({ reached: 1, ends: 1, started: [] })
  })

  test('is tried again after a transport failure, since that may pass', async () => {
    const { running, reached } = await bench('connection reset')
    for (let time = 0; time < 2; time++) await send(running, { messages: history, tools })
    expect(reached()).toBe(2)
  })
})

describe('a chat request of text only', () => {
  test.each(unavailable.flatMap((situation) => [false, true].map((stream) => [situation, stream] as const)))('is served warm on %s (streamed: %s)', async (situation, stream) => {
    const { running, stub } = await bench(situation)
    const reply = await send(running, { ...plain, stream })
    expect([reply.status, reply.headers['x-muse-proxy-path'], textOf(reply)]).toEqual([200, 'warm', stubAnswer])
    expect(reply.headers['content-type']).toBe(stream ? 'text/event-stream' : 'application/json')
    expect(stub.starts()).toEqual(['serve'])
    const usage = mayHaveLeft.includes(situation) ? { inputTokens: null, outputTokens: null, directLeft: true } : { inputTokens: 9, outputTokens: 4 }
    expect(running.ofKind('call-ended')).toMatchObject([{ end: { path: 'warm', status: 200, modelAnswered: 'muse-2026', ...usage, failure: null } }])
    expect(running.ofKind('call-ended')[0]?.end.directLeft === true, 'said only where it may be so').toBe(mayHaveLeft.includes(situation))
  })

  test.each(unavailable)('that nobody serves on %s has used nothing where nothing left, and says so where something may have', async (situation) => {
    const { running } = await bench(situation, { serve: 'refuses', exec: 'exit' })
    await send(running, plain)
    expect(running.ofKind('call-ended')).toMatchObject([{ end: { inputTokens: null, outputTokens: null } }])
    expect(running.ofKind('call-ended')[0]?.end.directLeft === true).toBe(mayHaveLeft.includes(situation))
  })

  test('that cannot be exchanged for and has no fallback has used nothing', async () => {
    const { running } = await bench('exchange failure', {}, { serving: { warmEnabled: false, execEnabled: false } })
    expect(codeOf(await send(running, plain))).toBe('credential_exchange_failed')
    expect(running.ofKind('call-ended')).toMatchObject([{ end: { inputTokens: 0, outputTokens: 0 } }])
  })

  test.each(unavailable.flatMap((situation) => [false, true].map((stream) => [situation, stream] as const)))('is served by exec on %s where warm is off (streamed: %s)', async (situation, stream) => {
    const { running, stub } = await bench(situation, {}, { serving: { warmEnabled: false } })
    const reply = await send(running, { ...plain, stream })
    expect([reply.status, reply.headers['x-muse-proxy-path'], textOf(reply)]).toEqual([200, 'exec', stubAnswer])
    expect(stub.starts()).toEqual(['exec'])
    expect(running.ofKind('call-ended')).toMatchObject([{ end: { path: 'exec', modelAnswered: null, inputTokens: null, outputTokens: null, failure: null } }])
    expect(running.ofKind('call-ended')[0]?.end.directLeft === true).toBe(mayHaveLeft.includes(situation))
  })

  test('never starts a program while direct works', async () => {
    const { running, stub } = await bench('works')
    const reply = await send(running, plain)
    expect([reply.status, reply.headers['x-muse-proxy-path'], textOf(reply)]).toEqual([200, 'direct', 'direct'])
    expect(stub.log()).toEqual([])
  })

  test('gives the program nothing but the messages as text, the pinned model and whether to stream', async () => {
    const { running, stub } = await bench('no credential')
    await send(running, { ...plain, stream: true, stream_options: { include_usage: true } })
    const [, request] = stub.log()
    expect(request?.body).toEqual({ model: 'm-1', stream: true, messages: [{ role: 'system', content: 'Be short.' }, { role: 'user', content: 'Say\nhello' }] })
    expect(Object.keys(request?.headers ?? {}).sort()).toEqual(['connection', 'content-length', 'content-type', 'host'])
    expect(request?.env.filter((name) => !['PATH', 'LANG', 'LC_ALL', 'TMPDIR', 'HOME', 'NO_COLOR', 'TERM'].includes(name))).toEqual([])
  })

  test('hands exec one prompt file and approval mode never, in an empty folder', async () => {
    const { running, stub } = await bench('no credential', {}, { serving: { warmEnabled: false } })
    await send(running, plain)
    expect(stub.log()).toMatchObject([{ prompt: '[system]\nBe short.\n\n[user]\nSay\nhello\n', args: ['exec', '--approval-mode', 'never', '--prompt-file', expect.stringContaining('prompt.txt')] }])
  })

  test('reports usage in the stream only where it was asked for, and only what is known', async () => {
    const { running } = await bench('no credential')
    expect((await send(running, { ...plain, stream: true })).text).not.toContain('usage')
    expect((await send(running, { ...plain, stream: true, stream_options: { include_usage: true } })).text).toContain('"usage":{"prompt_tokens":9')
    const unknown = await bench('no credential', { serve: 'no-usage' })
    expect((await send(unknown.running, { ...plain, stream: true, stream_options: { include_usage: true } })).text).not.toContain('usage')
    expect(unknown.running.ofKind('call-ended')).toMatchObject([{ end: { inputTokens: null, outputTokens: null } }])
  })

  test.each(['refuses', 'dies', 'calls-a-tool', 'calls-a-function', 'ends-for-tools', 'ends-for-a-function', 'ends-oddly', 'says-nothing'] as const)('goes to exec when the server %s before a byte went out', async (serve) => {
    for (const stream of [false, true]) {
      const { running, stub } = await bench('no credential', { serve })
      const reply = await send(running, { ...plain, stream })
      expect([reply.status, reply.headers['x-muse-proxy-path'], textOf(reply)]).toEqual([200, 'exec', stubAnswer])
      expect(stub.starts()).toEqual(['serve', 'exec'])
    }
  })

  test('goes to exec when the server does not come up, and does not wait for it again at once', async () => {
    const { running, stub } = await bench('no credential', { serve: 'never-listens' }, { limits: { warmReadyMs: 4_000, warmBackoffMs: 60_000, warmBackoffMsMax: 60_000 } })
    for (let time = 0; time < 2; time++) expect((await send(running, plain)).headers['x-muse-proxy-path']).toBe('exec')
    expect(stub.starts()).toEqual(['serve', 'exec', 'exec'])
  })

  test.each(['dies-late', 'errors-late', 'calls-late', 'ends-late-for-tools'] as const)('gets an error in the stream, never a second answer, when the server %s', async (serve) => {
    const { running, stub } = await bench('no credential', { serve })
    const reply = await send(running, { ...plain, stream: true })
    expect([reply.status, reply.headers['x-muse-proxy-path'], reply.cut]).toEqual([200, 'warm', false])
    expect(textOf(reply)).toBe(stubAnswer.slice(0, Math.floor(stubAnswer.length / 2)))
    expect(JSON.parse(reply.text.trimEnd().split('\n\n').at(-1)?.replace('data: ', '') ?? '')).toMatchObject({ error: { code: 'fallback_failed', type: 'api_error' } })
    expect(reply.text).not.toContain('[DONE]')
    expect(stub.starts()).toEqual(['serve'])
    expect(running.ofKind('call-ended')).toMatchObject([{ end: { path: 'warm', status: 200, failure: { code: 'provider-unreachable' } } }])
  })

  test('is served warm where the server says that it calls nothing, and is told why the answer ended', async () => {
    for (const stream of [false, true]) {
      const { running } = await bench('no credential', { serve: 'calls-none' })
      const reply = await send(running, { ...plain, stream })
      expect([reply.status, reply.headers['x-muse-proxy-path'], textOf(reply)]).toEqual([200, 'warm', stubAnswer])
      expect(reply.text).toContain('"finish_reason":"length"')
    }
  })

  test('goes to exec when a whole answer breaks off, since no byte of it went out', async () => {
    const { running } = await bench('no credential', { serve: 'dies-late' })
    expect((await send(running, plain)).headers['x-muse-proxy-path']).toBe('exec')
  })

  test.each(['exit', 'silent', 'half-then-exit'] as const)('gets 502 with each reason when exec fails too (%s)', async (exec) => {
    const { running } = await bench('transport failure', { serve: 'refuses', exec })
    const reply = await send(running, { ...plain, stream: true })
    expect([reply.status, codeOf(reply), reply.headers['x-muse-proxy-path']]).toEqual([502, 'fallbacks_failed', 'exec'])
    for (const words of ['could not be reached', '(warm)', '(exec)']) expect(reply.text).toContain(words)
  })

  test('ends a run that takes too long, with its process', async () => {
    const { running, stub } = await bench('no credential', { exec: 'hangs' }, { serving: { warmEnabled: false }, limits: { execMs: 400 } })
    expect(await send(running, plain)).toMatchObject({ status: 502 })
    expect(alive(stub.log()[0]?.pid ?? 0)).toBe(false)
  })

  test('ends the run of a client that has gone', async () => {
    const { running, stub } = await bench('no credential', { exec: 'hangs' }, { serving: { warmEnabled: false } })
    const request = httpRequest({ host: '127.0.0.1', port: running.port, path: '/v1/chat/completions', method: 'POST', agent: false, headers: { authorization: `Bearer ${token}` } })
    request.on('error', () => undefined)
    request.end(JSON.stringify({ model: 'm-1', ...plain }))
    await vi.waitFor(() => { expect(stub.starts()).toEqual(['exec']) }, 5_000)
    request.destroy()
    await vi.waitFor(() => { expect(running.ofKind('call-ended')).toMatchObject([{ end: { path: 'exec', failure: { code: 'cancelled' } } }]) }, 5_000)
    expect(alive(stub.log()[0]?.pid ?? 0)).toBe(false)
  })

  test('ends the request of a client that has gone at the server, which stays up', async () => {
    const { running, stub } = await bench('no credential', { serve: 'hangs' })
    const request = httpRequest({ host: '127.0.0.1', port: running.port, path: '/v1/chat/completions', method: 'POST', agent: false, headers: { authorization: `Bearer ${token}` } })
    request.on('error', () => undefined)
    request.end(JSON.stringify({ model: 'm-1', ...plain }))
    await vi.waitFor(() => { expect(stub.log().map(({ did }) => did)).toEqual(['start', 'request']) }, 5_000)
    request.destroy()
    await vi.waitFor(() => { expect(stub.log().map(({ did }) => did)).toEqual(['start', 'request', 'end']) }, 5_000)
    expect(alive(stub.log()[0]?.pid ?? 0)).toBe(true)
  })

  test('shares one server among calls, also when they come at once', async () => {
    const { running, stub } = await bench('no credential')
    const replies = await Promise.all([1, 2, 3, 4].map(() => send(running, plain)))
    expect(replies.map(({ headers }) => headers['x-muse-proxy-path'])).toEqual(['warm', 'warm', 'warm', 'warm'])
    expect(stub.starts()).toEqual(['serve'])
  })

  test('gets a server that died started again', async () => {
    const { running, stub } = await bench('no credential')
    await send(running, plain)
    process.kill(stub.log()[0]?.pid ?? 0, 'SIGKILL')
    await vi.waitFor(async () => { expect((await send(running, plain)).headers['x-muse-proxy-path']).toBe('warm'); expect(stub.starts().filter((kind) => kind === 'serve')).toHaveLength(2) }, 8_000)
  })

  test.each([
    ['several answers', { n: 2 }], ['a fixed format', { response_format: { type: 'json_schema' } }], ['probabilities', { logprobs: true }], ['audio', { modalities: ['text', 'audio'] }], ['a search', { web_search_options: {} }],
    ['a picture', { messages: [{ role: 'user', content: [{ type: 'text', text: 'what is this' }, { type: 'image_url', image_url: { url: 'data:' } }] }] }], ['no message of the user', { messages: [{ role: 'system', content: 'x' }] }],
  ])('is not served by a program when it asks for %s', async (_what, changes) => {
    const { running, stub } = await bench('no credential')
    const reply = await send(running, { ...plain, ...changes })
    expect([reply.status, codeOf(reply)]).toEqual([502, 'credential_missing'])
    expect(stub.log()).toEqual([])
  })

  test('starts no program that is not turned on, or not allowed for this task', async () => {
    for (const options of [{ serving: { warmEnabled: false, execEnabled: false } }, { target: { fallback: 'another' } }]) {
      const { running, stub } = await bench('no credential', {}, options)
      expect(await send(running, plain)).toMatchObject({ status: 502 })
      expect(stub.log()).toEqual([])
    }
  })

  test('is served by what the owner turns on meanwhile, also after a final refusal', async () => {
    const { running, stub } = await bench('no credential', {}, { serving: { warmEnabled: false, execEnabled: false } })
    expect(await send(running, plain)).toMatchObject({ status: 502 })
    running.proxy.take({ is: 'configure', serving: { directEnabled: true, warmEnabled: false, execEnabled: true, vendorLabel: 'Muse', vendorId: 'vendor' } })
    expect((await send(running, plain)).headers['x-muse-proxy-path']).toBe('exec')
    expect(stub.starts()).toEqual(['exec'])
  })

  test('gets the vendor’s own denial where no fallback is turned on', async () => {
    const { running } = await bench('attestation denied', {}, { serving: { warmEnabled: false, execEnabled: false } })
    expect(await send(running, plain)).toMatchObject({ status: 403, text: denied, headers: { 'x-muse-proxy-path': 'direct' } })
  })
})

describe('a responses request', () => {
  const rows: readonly [Situation, number, string][] = [
    ['no credential', 404, 'credential_missing'], ['direct disabled', 404, 'direct_disabled'], ['exchange failure', 502, 'credential_exchange_failed'],
    ['transport failure', 502, 'upstream_unreachable'], ['connection reset', 502, 'upstream_unreachable'], ['malformed reply', 502, 'upstream_unreachable'], ['redirect', 502, 'upstream_redirect'],
  ]
  test.each(rows.flatMap((row) => [false, true].map((stream) => [...row, stream] as const)))('gets an error on %s: %d %s (streamed: %s%s), and no program is touched', async (situation, status, code, stream) => {
    const { running, stub } = await bench(situation, {}, { target: { api: 'responses' } })
    const reply = await send(running, { input: 'hi', stream }, '/v1/responses')
    expect([reply.status, codeOf(reply)]).toEqual([status, code])
    expect(stub.log()).toEqual([])
  })

  test('gets a denied attestation as the vendor said it', async () => {
    const { running, stub } = await bench('attestation denied', {}, { target: { api: 'responses' } })
    expect(await send(running, { input: 'hi' }, '/v1/responses')).toMatchObject({ status: 403, text: denied })
    expect(stub.log()).toEqual([])
  })
})

describe('the vendor’s own errors', () => {
  const rows = [400, 401, 403, 404, 409, 422, 429, 500, 503].flatMap((status) => (['chat', 'responses'] as const).flatMap((api) => [false, true].map((withTools) => [status, api, withTools] as const)))
  test.each(rows)('%d on %s (tools: %s) passes byte for byte, with its Retry-After, and is not hidden by a program', async (status, api, withTools) => {
    const stub = stubProgram()
    const body = `{"error": {"message":"no – ${status}" ,\n"code": null}}`
    const running = await startProxy(await startVendor((_request, response) => { response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '7' }).end(body) }), { vendor: plainVendorHost(stub.cli, process.env), serving: { warmEnabled: true, execEnabled: true }, target: { api, fallback: 'vendor' } })
    const reply = await send(running, { ...(api === 'chat' ? plain : { input: 'hi' }), ...(withTools ? { tools } : {}) }, api === 'chat' ? '/v1/chat/completions' : '/v1/responses')
    expect(reply).toMatchObject({ status, text: body, headers: { 'retry-after': '7', 'x-muse-proxy-path': 'direct' } })
    expect(stub.log()).toEqual([])
  })

  test('a 403 that is too long to hold passes, too', async () => {
    const body = JSON.stringify({ error: { code: 'client_attestation_denied', message: 'x'.repeat(100_000) } })
    const stub = stubProgram()
    const running = await startProxy(await startVendor((_request, response) => { response.writeHead(403, { 'content-type': 'application/json' }).end(body) }), { vendor: plainVendorHost(stub.cli, process.env), serving: { warmEnabled: true, execEnabled: true }, target: { fallback: 'vendor' } })
    expect(await send(running, plain)).toMatchObject({ status: 403, text: body })
  })
})

describe('a request with tools, served direct', () => {
  const argumentsText = '{"filePath":"/workspace/ü.ts","content":"a\\u00fc\\n😀"}'
  const item = { type: 'function_call', call_id: 'c1', name: 'write', arguments: argumentsText }
  test.each([
    ['chat', 'application/json', JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'write', arguments: argumentsText } }] }, finish_reason: 'tool_calls' }] })],
    ['responses', 'application/json', JSON.stringify({ id: 'r1', object: 'response', status: 'completed', output: [item] })],
    ['responses', 'text/event-stream', [{ type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } }, { type: 'response.function_call_arguments.delta', output_index: 0, delta: argumentsText }, { type: 'response.output_item.done', output_index: 0, item }, { type: 'response.completed', response: { id: 'r1', status: 'completed', output: [item], usage: { input_tokens: 1, output_tokens: 2 } } }].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')],
  ] as const)('of the %s API gets the vendor’s own %s, byte for byte, and no program is touched', async (api, contentType, body) => {
    const stub = stubProgram()
    const running = await startProxy(await startVendor((_request, response) => { response.writeHead(200, { 'content-type': contentType }).end(body) }), { vendor: plainVendorHost(stub.cli, process.env), serving: { warmEnabled: true, execEnabled: true }, target: { api, fallback: 'vendor' } })
    const reply = await send(running, api === 'chat' ? { messages: history, tools } : { input: 'hi', tools, stream: contentType === 'text/event-stream' }, api === 'chat' ? '/v1/chat/completions' : '/v1/responses')
    expect([reply.status, reply.body.equals(Buffer.from(body)), reply.headers['x-muse-proxy-path'], stub.log()]).toEqual([200, true, 'direct', []])
  })

  test('gets real tool calls, arguments byte-exact, and their finish reason', async () => {
    const events = [
      { choices: [{ index: 0, delta: { role: 'assistant', tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'write', arguments: argumentsText.slice(0, 20) } }] } }] },
      { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: argumentsText.slice(20) } }] } }] }, { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    ].map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') + 'data: [DONE]\n\n'
    const stub = stubProgram()
    const running = await startProxy(await startVendor((_request, response) => { response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events) }), { vendor: plainVendorHost(stub.cli, process.env), serving: { warmEnabled: true, execEnabled: true }, target: { fallback: 'vendor' } })
    expect(await send(running, { messages: history, tools, stream: true })).toMatchObject({ status: 200, text: events, headers: { 'x-muse-proxy-path': 'direct' } })
    expect(stub.log()).toEqual([])
  })
})

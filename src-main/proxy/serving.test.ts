import { request as httpRequest } from 'node:http'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ask, codeOf, releaseAll, startProxy, startVendor, token, type ProxyOptions, type RunningProxy } from './proxy.suite.ts'
import { proxyLimits } from './proxy-limits.ts'
import { processTime, type Time } from './time.ts'
import { carriesTools } from './tools-gate.ts'

afterEach(releaseAll)

const tools = [{ type: 'function', function: { name: 'write', parameters: {} } }]

async function withVendor(options: ProxyOptions): Promise<{ running: RunningProxy; reached: () => number }> {
  let reached = 0
  const running = await startProxy(await startVendor((_request, response) => { reached++; response.end('{}') }), options)
  return { running, reached: () => reached }
}

describe('what the proxy serves', () => {
  test.each([
    ['with tools, without a key', { target: { needsKey: true } }, { tools }, 502, 'tools_fallback_ineligible'],
    ['with tools, direct disabled', { directEnabled: false }, { tools }, 502, 'tools_fallback_ineligible'],
    ['with a history of tool calls, without a key', { target: { needsKey: true } }, { messages: [{ role: 'assistant', tool_calls: [{ id: 'a' }] }] }, 502, 'tools_fallback_ineligible'],
    ['text only, without a key', { target: { needsKey: true } }, {}, 502, 'credential_missing'],
    ['text only, direct disabled', { directEnabled: false }, {}, 502, 'direct_disabled'],
    ['for another model', {}, { model: 'm-2' }, 403, 'model_not_pinned'],
    ['for no model', {}, { model: undefined }, 403, 'model_not_pinned'],
    ['for the other API', { target: { api: 'responses' as const } }, {}, 404, 'api_not_offered'],
  ])('refuses a chat request %s, and no vendor is reached', async (_name, options, changes, status, code) => {
    const { running, reached } = await withVendor(options)
    const reply = await ask(running, { body: JSON.stringify({ model: 'm-1', messages: [], ...changes }) })
    expect(reply.status).toBe(status)
    expect(codeOf(reply)).toBe(code)
    expect(reply.headers['x-muse-proxy-path']).toBe('direct')
    expect({ reached: reached(), asks: running.asks }).toEqual({ reached: 0, asks: [] })
    expect(running.ofKind('call-ended')).toMatchObject([{ end: { status, failure: expect.anything() as unknown } }])
  })

  test('answers 404 with a name to a responses request without a key', async () => {
    const { running, reached } = await withVendor({ target: { api: 'responses', needsKey: true } })
    const reply = await ask(running, { path: '/v1/responses', body: JSON.stringify({ model: 'm-1', input: 'hi' }) })
    expect([reply.status, codeOf(reply), reached()]).toEqual([404, 'credential_missing', 0])
  })

  test('gives a final refusal once; six tries tell the app of one', async () => {
    const { running, reached } = await withVendor({ target: { needsKey: true } })
    const body = JSON.stringify({ model: 'm-1', messages: [], tools })
    for (let time = 0; time < 6; time++) expect(await ask(running, { body })).toMatchObject({ status: 502 })
    expect(running.ofKind('call-ended')).toHaveLength(1)
    await ask(running, { body: JSON.stringify({ model: 'm-1', messages: [1], tools }) })
    expect(running.ofKind('call-ended')).toHaveLength(2)
    expect(reached()).toBe(0)
  })

  test('asks the app before each call leaves, with what leaves', async () => {
    const { running, reached } = await withVendor({ admit: (asked) => (asked.callNumber === 1 ? { admit: true } : { admit: false, code: 'deadline-passed', message: 'Too late.' }) })
    const body = JSON.stringify({ model: 'm-1', messages: [] })
    expect(await ask(running, { body })).toMatchObject({ status: 200 })
    const refused = await ask(running, { body })
    expect([refused.status, codeOf(refused)]).toEqual([403, 'deadline-passed'])
    expect(await ask(running, { body })).toMatchObject({ status: 403 })
    expect(running.asks).toEqual([1, 2].map((callNumber) => ({ callNumber, taskId: 'task_1', bot: 'coder', model: 'm-1', bodyBytes: body.length, api: 'chat', streams: false, outputTokensAsked: null })))
    expect(reached()).toBe(1)
  })

  test('lets a call be asked again that the app could not put on record, and serves it once it can', async () => {
    const { running, reached } = await withVendor({ admit: (asked) => (asked.callNumber === 1 ? { admit: false, code: 'disk-full', message: 'No space is left.', again: true } : { admit: true }) })
    const body = JSON.stringify({ model: 'm-1', messages: [] })
    const refused = await ask(running, { body })
    expect([refused.status, codeOf(refused), reached()]).toEqual([503, 'disk-full', 0])
    expect(await ask(running, { body })).toMatchObject({ status: 200 })
    expect(reached()).toBe(1)
  })

  test('asks the app again for a call that only what others held was in the way of, with the same answer until then', async () => {
    const { running, reached } = await withVendor({ admit: (asked) => (asked.callNumber < 3 ? { admit: false, code: 'budget_exhausted', message: 'All is reserved.', passing: true } : { admit: true }) })
    for (const [status, asks] of [[403, 1], [403, 2], [200, 3]]) expect([(await ask(running)).status, running.asks.length]).toEqual([status, asks])
    expect(reached()).toBe(1)
  })

  test('says to the app how many answers are asked for', async () => {
    const { running } = await withVendor({})
    await ask(running, { body: JSON.stringify({ model: 'm-1', messages: [], n: 4, max_tokens: 9 }) })
    expect(running.asks).toMatchObject([{ outputTokensAsked: 9, choices: 4 }])
  })

  test('lets nothing out while the app is silent, and takes no answer that was not asked for', async () => {
    const { running, reached } = await withVendor({ admit: () => null })
    const reply = ask(running)
    await vi.waitFor(() => expect(running.asks).toHaveLength(1))
    expect(reached()).toBe(0)
    running.proxy.take({ is: 'admission', callNumber: 999, admission: { admit: true } })
    running.proxy.take('nonsense')
    running.proxy.take({ is: 'admission', callNumber: 1, admission: { admit: true } })
    expect(await reply).toMatchObject({ status: 200 })
    expect(running.ofKind('log')).toHaveLength(1)
  })
})

describe('a call whose circumstances change', () => {
  test('never reaches the vendor when its client goes while the app decides', async () => {
    const { running, reached } = await withVendor({ admit: () => null })
    const request = httpRequest({ host: '127.0.0.1', port: running.port, path: '/v1/chat/completions', method: 'POST', agent: false, headers: { authorization: `Bearer ${token}` } })
    request.on('error', () => undefined)
    request.end(JSON.stringify({ model: 'm-1' }))
    await vi.waitFor(() => expect(running.asks).toHaveLength(1))
    request.destroy()
    // Another call on another connection: when it is served, the proxy has seen the first connection close.
    await ask(running, { path: '/v1/models', method: 'GET' })
    running.proxy.take({ is: 'admission', callNumber: 1, admission: { admit: true } })
    await vi.waitFor(() => expect(running.ofKind('call-ended')).toMatchObject([{ end: { callNumber: 1, failure: { code: 'cancelled' } } }]))
    expect(reached()).toBe(0)
  })

  test('is not served, and ends, when the app does not answer in time', async () => {
    const overdue: (() => void)[] = []
    const time: Time = { now: () => Date.now(), steady: () => performance.now(), after: (ms, run) => { if (ms !== proxyLimits.admissionMs) return processTime.after(ms, run); overdue.push(run); return () => undefined } }
    const { running, reached } = await withVendor({ admit: () => null, time })
    const reply = ask(running)
    await vi.waitFor(() => expect(running.asks).toHaveLength(1))
    for (const run of overdue) run()
    expect([(await reply).status, codeOf(await reply)]).toEqual([503, 'admission_unanswered'])
    running.proxy.take({ is: 'admission', callNumber: 1, admission: { admit: true } })
    expect(running.ofKind('call-ended')).toMatchObject([{ end: { callNumber: 1, status: 503, failure: { code: 'proxy-failed' } } }])
    expect(reached()).toBe(0)
  })

  test('is served after all once the key has come', async () => {
    const { running, reached } = await withVendor({ target: { needsKey: true } })
    const body = JSON.stringify({ model: 'm-1', messages: [], tools })
    expect(await ask(running, { body })).toMatchObject({ status: 502 })
    await running.regrant({ credential: 'sk-new' })
    expect(await ask(running, { body })).toMatchObject({ status: 200 })
    expect(reached()).toBe(1)
  })
})

describe('the tools gate', () => {
  test.each([
    ['a list of tools', { tools }, true], ['an empty list', { tools: [] }, false], ['legacy functions', { functions: [{ name: 'a' }] }, true],
    ['tool_choice auto', { tool_choice: 'auto' }, false], ['tool_choice none', { tool_choice: 'none' }, false], ['tool_choice required', { tool_choice: 'required' }, true],
    ['a named tool_choice', { tool_choice: { type: 'function', function: { name: 'a' } } }, true], ['tool calls in the history', { messages: [{ role: 'assistant', tool_calls: [{}] }] }, true],
    ['an empty tool_calls', { messages: [{ role: 'assistant', tool_calls: [] }] }, false], ['a tool message', { messages: [{ role: 'tool', content: 'x' }] }, true],
    ['a function call item', { input: [{ type: 'function_call' }] }, true], ['its output', { input: [{ type: 'function_call_output' }] }, true], ['plain text', { messages: [{ role: 'user', content: 'tool' }], input: 'x' }, false],
  ])('reads %s', (_name, body, carries) => {
    expect(carriesTools(body)).toBe(carries)
  })
})

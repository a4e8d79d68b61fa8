import { request as httpRequest } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { StreamPreviews } from '../core/preview/stream-previews.ts'
import { briefing, coderRequest, leadRequest, type Message } from './demo.suite.ts'
import { pacedArguments } from './pace.ts'
import { solvedShipping } from './script/solution.ts'
import { startDemoUpstream, type DemoUpstream } from './upstream-server.ts'

let upstream: DemoUpstream
test('listens where it is told, and elsewhere where that is taken', async () => {
  const first = await startDemoUpstream(0)
  const beside = await startDemoUpstream(0, first.port)
  expect(beside.port).not.toBe(first.port)
  first.close()
  beside.close()
  const again = await startDemoUpstream(0, beside.port)
  expect(again.port).toBe(beside.port)
  again.close()
})

beforeEach(async () => { upstream = await startDemoUpstream(0) })
afterEach(() => upstream.close())

async function post(path: string, body: unknown): Promise<{ status: number; text: string }> {
  const reply = await fetch(`http://127.0.0.1:${upstream.port}${path}`, { method: 'POST', body: JSON.stringify(body) })
  return { status: reply.status, text: await reply.text() }
}

const events = (text: string): unknown[] => text.split('\n\n').flatMap((frame) => {
  const data = /^data: (\{.*)$/m.exec(frame)?.[1]
  return data === undefined ? [] : [JSON.parse(data) as unknown]
})

const done = (id: string, tool: string, result: string): Message[] => [{ role: 'assistant', content: '', tool_calls: [{ id, type: 'function', function: { name: tool, arguments: '{}' } }] }, { role: 'tool', tool_call_id: id, content: result }]
const beforeWrite: Message[] = [{ role: 'user', content: 'shipping' }, ...done('a', 'read', 'x'), ...done('b', 'question', '1.90')]
const asItems = (messages: readonly Message[]): unknown[] => messages.flatMap((message): unknown[] => message.tool_calls !== undefined
  ? message.tool_calls.map((call) => ({ type: 'function_call', call_id: call.id, name: call.function.name, arguments: call.function.arguments }))
  : message.role === 'tool' ? [{ type: 'function_call_output', call_id: message.tool_call_id, output: message.content }] : [{ role: message.role, content: [{ type: 'input_text', text: message.content }] }])

describe('the demo provider', () => {
  test.each(['chat', 'responses'] as const)('streams a write in small pieces, with usage and a terminal frame (%s)', async (api) => {
    const request = coderRequest(beforeWrite)
    const { status, text } = api === 'chat' ? await post('/v1/chat/completions', request)
      : await post('/v1/responses', { model: 'demo', stream: true, tools: [{ type: 'function', name: 'read' }, { type: 'function', name: 'write' }, { type: 'function', name: 'bash' }, { type: 'function', name: 'question' }], instructions: 'You are Bot B, the coder.', input: asItems(beforeWrite) })
    expect(status).toBe(200)
    const previews = new StreamPreviews(api)
    const changed = events(text).flatMap((event) => previews.accept(event))
    const preview = previews.preview(changed[0]?.key ?? '')
    expect(preview).toMatchObject({ tool: 'write', target: '/workspace/src/shipping.ts', state: 'complete', tailOf: 'content', tail: solvedShipping })
    expect(changed.length).toBeGreaterThan(50)
    if (api === 'chat') expect(events(text).at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: expect.any(Number) as number, completion_tokens: expect.any(Number) as number } })
    else expect(events(text).at(-1)).toMatchObject({ type: 'response.completed', response: { usage: { input_tokens: expect.any(Number) as number, output_tokens: expect.any(Number) as number } } })
  })

  test('answers the same request with the same bytes, another with other call ids', async () => {
    const first = await post('/v1/chat/completions', { ...coderRequest(beforeWrite), stream: false })
    expect(await post('/v1/chat/completions', { ...coderRequest(beforeWrite), stream: false })).toEqual(first)
    const other = await post('/v1/chat/completions', { ...coderRequest([{ role: 'user', content: 'Task: shipping' }, ...beforeWrite.slice(1)]), stream: false })
    expect(/call_\w+/.exec(other.text)?.[0]).not.toBe(/call_\w+/.exec(first.text)?.[0])
  })

  test.each(['/v1/chat/completions', '/v1/responses'])('answers without a stream where none is asked for (%s)', async (path) => {
    const request = leadRequest('brief', briefing)
    const body = path === '/v1/responses' ? { model: 'demo', instructions: (request['messages'] as Message[])[0]?.content, input: briefing } : request
    const reply = JSON.parse((await post(path, body)).text) as { choices?: { message: { content: string } }[]; output?: { content: { text: string }[] }[] }
    expect(JSON.parse(reply.choices?.[0]?.message.content ?? reply.output?.[0]?.content[0]?.text ?? '')).toMatchObject({ testCommand: 'bun test' })
  })

  test('refuses nonsense, unknown routes, and pages of a browser', async () => {
    expect(await post('/v1/chat/completions', { messages: 'x' })).toMatchObject({ status: 400 })
    expect(await post('/v1/embeddings', {})).toMatchObject({ status: 404 })
    const status = await new Promise<number | undefined>((resolve, reject) => {
      httpRequest({ host: '127.0.0.1', port: upstream.port, path: '/v1/models', headers: { host: 'evil.example' } }, (response) => { response.resume(); resolve(response.statusCode) }).on('error', reject).end()
    })
    expect(status).toBe(403)
  })
})

describe('the hold', () => {
  const json = JSON.stringify({ filePath: '/workspace/src/a.ts', content: 'x'.repeat(1_000) })

  test('pauses a write once, after the file name and half of the content', () => {
    const pieces = pacedArguments('write', json, 10_000)
    const at = pieces.findIndex((piece) => piece.waitMs === 10_000)
    const sent = pieces.slice(0, at).map((piece) => piece.text).join('')
    expect(sent).toContain('"/workspace/src/a.ts"')
    expect(sent.length).toBeGreaterThan(500)
    expect(sent.length).toBeLessThan(560)
    expect(pieces.filter((piece) => piece.waitMs > 25)).toHaveLength(1)
    expect(pieces.map((piece) => piece.text).join('')).toBe(json)
  })

  test.each([['bash', 10_000], ['write', 0]])('leaves %s alone with %d ms', (tool, holdMs) => {
    expect(pacedArguments(tool, json, holdMs).every((piece) => piece.waitMs <= 25)).toBe(true)
  })
})

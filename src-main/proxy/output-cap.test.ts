import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { OutputCap } from './output-cap.ts'
import { ask, releaseAll, startProxy, startVendor, type Reply, type RunningProxy } from './proxy.suite.ts'

afterEach(releaseAll)

const text = (content: string, more: object = {}): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }], ...more })}\n\n`
const tool = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 'c1', function: { name: 'write', arguments: '{"filePath":"a",' } }] } }] })}\n\n`
const finish = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`

/** The cap of what was left of a budget. */
const left = (tokensMax: number): OutputCap => new OutputCap({ tokensMax, whole: false })

interface Vendor { readonly running: RunningProxy; readonly closed: () => boolean }

/** A vendor that streams `events` one by one, then says nothing more; the app admits `outputTokensMax`. */
async function bench(events: readonly string[], outputTokensMax: number | undefined, api: 'chat' | 'responses' = 'chat', whole = false): Promise<Vendor> {
  let closed = false
  const running = await startProxy(await startVendor((request, response: ServerResponse) => {
    request.resume()
    response.on('close', () => { closed = true })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (at: number): void => {
      const event = events[at]
      if (event === undefined) return
      response.write(event, () => setImmediate(send, at + 1))
      if (event.includes('[DONE]') || event.includes('response.completed')) response.end()
    }
    send(0)
  }), { target: { api }, admit: () => ({ admit: true, ...(outputTokensMax === undefined ? {} : { outputTokensMax }), ...(whole ? { outputWhole: true } : {}) }) })
  return { running, closed: () => closed }
}

const errorOf = (reply: Reply): unknown => JSON.parse(reply.text.trimEnd().split('\n\n').at(-1)?.replace(/^(event: .*\n)?data: /, '') ?? '')

describe('a stream that reaches its cap', () => {
  test('is not cut where a tool call came in the same read behind the words that passed it', async () => {
    const sent = [text('a'.repeat(400)) + tool, finish]
    const { running } = await bench(sent, 50)
    expect((await ask(running)).text).toBe(sent.join(''))
  })

  test('is cut with a clear error behind the vendor’s last byte, and the vendor is aborted', async () => {
    const sent = ['a'.repeat(60), 'b'.repeat(60)].map((piece) => text(piece))
    const { running, closed } = await bench(sent, 50)
    const reply = await ask(running)
    expect(reply.text.startsWith(sent.join(''))).toBe(true)
    expect([reply.status, reply.cut]).toEqual([200, false])
    expect(errorOf(reply)).toMatchObject({ error: { code: 'budget_exhausted', type: 'api_error', message: expect.stringContaining('50 tokens') as string } })
    await vi.waitFor(() => { expect(closed()).toBe(true) })
    expect(running.ofKind('call-ended')).toMatchObject([{ end: { status: 200, inputTokens: null, outputTokens: null, failure: { code: 'budget-exhausted' } } }])
  })

  test('is cut on the responses API in the frames that OpenCode does not repeat', async () => {
    const delta = `event: response.output_text.delta\ndata: ${JSON.stringify({ type: 'response.output_text.delta', delta: 'x'.repeat(200) })}\n\n`
    const { running } = await bench([delta], 50, 'responses')
    const reply = await ask(running, { path: '/v1/responses' })
    expect(reply.text).toContain('event: response.failed')
    expect(errorOf(reply)).toMatchObject({ type: 'error', error: { code: 'budget_exhausted' } })
  })

  test('is never cut once a tool call was forwarded', async () => {
    const events = [text('a'.repeat(90)), tool, ...Array.from({ length: 20 }, () => text('b'.repeat(90))), finish]
    const { running } = await bench(events, 50)
    expect(await ask(running)).toMatchObject({ text: events.join(''), cut: false })
    await vi.waitFor(() => { expect(running.ofKind('call-ended')).toMatchObject([{ end: { failure: null } }]) })
  })

  test('goes by the vendor’s own count where it reports one on the way', async () => {
    const events = [text('a'.repeat(400), { usage: { prompt_tokens: 1, completion_tokens: 20 } }), text('b', { usage: { prompt_tokens: 1, completion_tokens: 60 } })]
    const { running } = await bench(events, 50)
    const reply = await ask(running)
    expect(reply.text.startsWith(events.join(''))).toBe(true)
    expect(errorOf(reply)).toMatchObject({ error: { code: 'budget_exhausted' } })
    // It was counting still: what its vendor has put out in the end is not known.
    await vi.waitFor(() => { expect(running.ofKind('call-ended')).toMatchObject([{ end: { outputTokens: null } }]) })
  })

  test.each([0, 1])('is cut all the same where the vendor’s count stays at the %i of its first chunk', async (tokens) => {
    const counted = { usage: { prompt_tokens: 10, completion_tokens: tokens } }
    for (const later of [{}, counted]) {
      const sent = [text('', counted), ...['a', 'b', 'c'].map((letter) => text(letter.repeat(60), later))]
      const { running } = await bench(sent, 50)
      expect(errorOf(await ask(running))).toMatchObject({ error: { code: 'budget_exhausted' } })
      await vi.waitFor(() => { expect(running.ofKind('call-ended')).toMatchObject([{ end: { outputTokens: null, failure: { code: 'budget-exhausted' } } }]) })
    }
  })

  test('is whole where it ends in the same breath, and where there is no cap', async () => {
    const events = [text('a'.repeat(400)) + finish]
    for (const cap of [50, undefined]) expect(await ask((await bench(events, cap)).running)).toMatchObject({ text: events.join('') })
  })
})

describe('a stream for which all was reserved that it was asked for', () => {
  const words = (bytes: number): string[] => Array.from({ length: bytes / 100 }, () => text('x'.repeat(100)))

  test('is not cut where it puts out as many tokens, of few bytes or of many', async () => {
    for (const bytesPerToken of [1, 4, 8]) {
      const sent = [...words(100 * bytesPerToken), finish]
      expect((await ask((await bench(sent, 100, 'chat', true)).running)).text).toBe(sent.join(''))
    }
  })

  test('is cut well beyond them, and is settled as unknown', async () => {
    const { running, closed } = await bench(words(10_000), 100, 'chat', true)
    const reply = await ask(running)
    expect(errorOf(reply)).toMatchObject({ error: { code: 'budget_exhausted', message: expect.stringContaining('more than the 100 tokens of output that were reserved') as string } })
    await vi.waitFor(() => { expect(closed()).toBe(true) })
    expect(running.ofKind('call-ended')).toMatchObject([{ end: { outputTokens: null, failure: { code: 'budget-exhausted' } } }])
  })

  test('is cut where the vendor counts more', async () => {
    const { running } = await bench([text('a', { usage: { completion_tokens: 100 } }), text('b', { usage: { completion_tokens: 117 } })], 100, 'chat', true)
    expect(errorOf(await ask(running))).toMatchObject({ error: { code: 'budget_exhausted' } })
  })

  test('is never cut once a tool call was forwarded', async () => {
    const sent = [...words(1_000), tool, ...words(5_000), finish]
    expect((await ask((await bench(sent, 100, 'chat', true)).running)).text).toBe(sent.join(''))
  })

  test('is not read word by word before it can have passed them', () => {
    const cap = new OutputCap({ tokensMax: 100, whole: true })
    expect([cap.counts(1_600), cap.counts(1)]).toEqual([false, true])
    expect(left(100).counts(1)).toBe(true)
  })
})

describe('what counts as output', () => {
  test.each<[string, object, number]>([
    ['words', { choices: [{ delta: { content: 'abcd' } }] }, 2], ['reasoning', { choices: [{ delta: { reasoning_content: 'abcd', reasoning: 'ab' } }] }, 3], ['a refusal', { choices: [{ delta: { refusal: 'ab' } }] }, 1], ['several choices', { choices: [{ delta: { content: 'ab' } }, { delta: { content: 'ab' } }] }, 2],
    
    ['words in a list of parts', { choices: [{ delta: { content: [{ type: 'text', text: 'abcd' }, { type: 'thinking', thinking: [{ type: 'text', text: 'ab' }] }] } }] }, 3], ['reasoning in parts', { choices: [{ delta: { reasoning_details: [{ type: 'reasoning.text', text: 'abcd', format: 'anthropic-claude-v1', index: 0, signature: 'x'.repeat(99) }] } }] }, 2],
    ['what is said twice under two names, once', { choices: [{ delta: { content: '', reasoning: 'abcd', reasoning_details: [{ type: 'reasoning.text', text: 'abcd' }] } }] }, 2], ['a message in place of a delta', { choices: [{ message: { role: 'assistant', content: 'abcd' } }] }, 2],
    ['names and roles, not at all', { choices: [{ delta: { role: 'assistant', id: 'msg_1', content: 'ab' } }] }, 1], ['audio by its words', { choices: [{ delta: { audio: { id: 'a', data: 'A'.repeat(999), transcript: 'ab' } } }] }, 1],
    ['what nests without end, not at all', { choices: [{ delta: { content: JSON.parse(`${'['.repeat(500)}"abcd"${']'.repeat(500)}`) as unknown } }] }, 0],
    ['bytes, not characters', { choices: [{ delta: { content: '😀' } }] }, 2], ['text of the responses API', { type: 'response.output_text.delta', delta: 'abcd' }, 2], ['nothing', { choices: [{ delta: {} }] }, 0], ['nonsense', { choices: 'x', delta: 5 }, 0],
  ])('%s', (_what, event, tokens) => {
    expect(left(tokens).read(event, null)).toBe(false)
    if (tokens > 0) expect(left(tokens - 1).read(event, null)).toBe(true)
  })

  test('what came behind the last count that grew is added to it', () => {
    const say = (bytes: number): object => ({ choices: [{ delta: { content: 'x'.repeat(bytes) } }] })
    const cap = left(100)
    // The count of an event covers its own words.
    for (const [bytes, reported] of [[400, 10], [100, 10], [78, 10]] as const) expect(cap.read(say(bytes), reported)).toBe(false)
    expect(cap.read(say(3), 10)).toBe(true)
    // A count that grows is believed again, one that falls is not.
    expect([cap.read(say(3), 99), cap.read(say(2), 50), cap.read(say(1), 50)]).toEqual([false, false, true])
  })

  test.each([
    { choices: [{ message: { tool_calls: [{}] } }] }, { choices: [{ delta: { tool_calls: [{}] } }] }, { choices: [{ delta: { function_call: { name: 'x' } } }] }, { type: 'response.output_item.added', item: { type: 'function_call' } }, { type: 'response.function_call_arguments.delta', delta: '{' }, { type: 'response.custom_tool_call_input.delta', delta: '{' },
  ])('no longer, after %j', (event) => {
    const cap = left(1)
    cap.read(event, null)
    expect(cap.read({ choices: [{ delta: { content: 'x'.repeat(100) } }] }, 1_000)).toBe(false)
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mayMatter } from './skim.ts'
import { SseReader, type SseEvent } from './sse-reader.ts'

const chat = (delta: object, more: object = {}): string => `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`

describe('what may matter in a chat stream', () => {
  test.each<[string, string]>([
    ['a word', chat({ content: 'word' })], ['reasoning', chat({ reasoning_content: 'word' })], ['a usage that is null', chat({ content: 'a' }, { usage: null })], ['no tool calls', chat({ content: 'a', tool_calls: null })], ['an empty list of them', chat({ content: 'a', tool_calls: [] })], ['an error that is null', chat({ content: 'a' }, { error: null })],
    ['the names within the words', chat({ content: '"tool_calls": [{ "usage": {' })], ['a comment', ': keep-alive\n\n'],
  ])('not %s', (_what, event) => { expect(mayMatter('chat')(Buffer.from(event))).toBe(false) })

  test.each<[string, string]>([
    ['a tool call', chat({ tool_calls: [{ index: 0 }] })], ['one with blanks', 'data: {"choices": [{"delta": {"tool_calls": [ {"index": 0}]}}]}\n\n'], ['the legacy call', chat({ function_call: { name: 'a' } })], ['usage', chat({}, { usage: { prompt_tokens: 1 } })],
    ['an end', 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'], ['an end with blanks', 'data: {"choices":[{"index":0,"delta":{},"finish_reason" : "stop"}]}\n\n'], ['an error', 'data: {"error":{"message":"x"}}\n\n'], ['an error in a word', 'data: {"error":"x"}\n\n'], ['an error of vLLM', 'data: {"object":"error","message":"x"}\n\n'],
  ])('%s', (_what, event) => { expect(mayMatter('chat')(Buffer.from(event))).toBe(true) })
})

test('the quick look passes over nothing that matters, however it is written and wherever it stands', () => {
  const blanks = fc.string({ unit: fc.constantFrom(' ', '\t', '\n'), maxLength: 3 })
  const said = fc.constantFrom<readonly [string, string]>(['tool_calls', '[{"index":0}]'], ['function_call', '{"name":"a"}'], ['usage', '{"prompt_tokens":1}'], ['usage', '{"output_tokens":1}'], ['finish_reason', '"stop"'], ['error', '{"message":"x"}'], ['error', '"x"'], ['object', '"error"'])
  const around = fc.array(fc.constantFrom(chat({ content: 'a_b _re "usage" _rea' }), chat({ content: 'x' }, { usage: null, system_fingerprint: 'fp_1' }), ': x\n\n'), { maxLength: 5 })
  fc.assert(fc.property(around, around, said, blanks, blanks, (before, behind, [name, value], left, right) => {
    const event = `data: {"choices":[{"delta":{},"${name}"${left}:${right}${value}}]}\n\n`
    expect(mayMatter('chat')(Buffer.from(before.join('') + event + behind.join('')))).toBe(true)
  }))
})

describe('what may matter in a responses stream', () => {
  const of = (event: object): boolean => mayMatter('responses')(Buffer.from(`data: ${JSON.stringify(event)}\n\n`))
  test('all but the growing texts', () => {
    expect([of({ type: 'response.output_text.delta', delta: 'a' }), of({ type: 'response.reasoning_summary_text.delta', delta: 'a' })]).toEqual([false, false])
    for (const event of [{ type: 'response.created', response: { model: 'm' } }, { type: 'response.completed', response: {} }, { type: 'response.output_item.added', item: { type: 'function_call' } }, { type: 'response.function_call_arguments.delta', delta: '{' }, { type: 'error', message: 'x' }, { type: 'response.failed', response: { error: {} } }]) expect(of(event)).toBe(true)
  })
})

describe('a reader that passes over what does not matter', () => {
  test('reads the first events and those that matter, and tells of the others', () => {
    const seen: SseEvent[] = []
    let skipped = 0
    const reader = new SseReader({ onEvent: (event) => { seen.push(event) }, onGaveUp: () => undefined, matters: mayMatter('chat'), onSkipped: () => { skipped++ } })
    for (let count = 0; count < 10; count++) reader.take(Buffer.from(chat({ content: `word ${count}` })))
    reader.take(Buffer.from(chat({ tool_calls: [{ index: 0 }] })))
    reader.finish()
    expect([seen.length, skipped]).toEqual([2, 9])
  })

  test('gives up an event that does not end, and nothing else', () => {
    let gaveUp = 0
    const reader = new SseReader({ onEvent: () => undefined, onGaveUp: () => { gaveUp++ } })
    const piece = Buffer.alloc(1024 * 1024, 0x61)
    for (let count = 0; count < 20; count++) reader.take(piece)
    reader.finish()
    expect(gaveUp).toBe(1)
  })
})

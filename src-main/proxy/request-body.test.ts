import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { limits } from '../../src-preload/contract/limits.ts'
import { outputAsked, parseBody } from './request-body.ts'

const parsed = (bytes: Buffer): unknown => { const read = parseBody(bytes); return read.ok ? read.value.json : read.error.code }

/** What a strict reader of UTF-8 makes of it. */
function strictly(bytes: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : 'invalid_json'
  } catch {
    return 'invalid_json'
  }
}

describe('a request’s body', () => {
  test('is read as a strict reader of UTF-8 reads it: of one byte a character or of more, with a byte order mark, and broken', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 40 })
    fc.assert(fc.property(text, fc.boolean(), fc.option(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }))), (content, marked, broken) => {
      const bytes = Buffer.from(`${marked ? '\ufeff' : ''}${JSON.stringify({ model: 'm', content })}`)
      if (broken !== null) bytes[broken[0] % bytes.length] = broken[1]
      const [ours, theirs] = [parsed(bytes), strictly(bytes)]
      if (ours !== 'repeated_key') expect(ours).toEqual(theirs)
    }), { numRuns: 500 })
  })

  test.each([
    ['{"model":"a","model":"b"}'], ['{"model":"a","MODEL":"b"}'], ['{"mod\\u0065l":"a","model":"b"}'], ['{"a":{"x":1},"b":["}"],"a":2}'], ['{"__proto__":1,"__proto__":{}}'],
    // Letters beside ASCII that readers who do not care for case (Go's among them) take for `s` and `k`.
    ['{"max_token\u017f":90000,"max_tokens":1}'], ['{"max_to\u212aens":90000,"max_tokens":1}'],
  ])('with a key said twice is refused: %s', (text) => { expect(parsed(Buffer.from(text))).toBe('repeated_key') })

  test.each([['{"a":{"x":1,"x":2}}'], ['{"a":"\\"b\\":","b":1}'], ['{"a":[{"a":1}],"b":"a"}']])('with the same key elsewhere is not: %s', (text) => { expect(typeof parsed(Buffer.from(text))).toBe('object') })

  const pad = `"pad":"${',[{\\"'.repeat(20_000)}"`
  const [{ proxyBodyValuesMax: values, proxyBodyDepthMax: depth }, nested] = [limits, (levels: number): string => `{${pad},"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`]
  const listed = (count: number): string => `{${pad},"a":[${Array.from({ length: count - 2 }, () => '0').join(',')}]}`

  test('of many values, or of many levels, is refused unread, and of one less it is not; what stands in strings does not count', () => {
    expect([parsed(Buffer.from(listed(values + 1))), parsed(Buffer.from(nested(depth + 1)))]).toEqual(['request_too_complex', 'request_too_complex'])
    expect([typeof parsed(Buffer.from(listed(values))), typeof parsed(Buffer.from(nested(depth)))]).toEqual(['object', 'object'])
  })

  test.each([['a string without an end', `{${pad},"a":"${'x'.repeat(99)}`], ['brackets without a beginning', `${']'.repeat(70_000)}${'['.repeat(70_000)}`], ['an escape at its end', `{${pad},"a":"\\`]])('that is large and no JSON is refused as such: %s', (_what, text) => {
    expect(parsed(Buffer.from(text))).toBe('invalid_json')
  })

  test.each<['chat' | 'responses', object, number | null]>([
    ['chat', {}, null], ['chat', { max_tokens: 5 }, 5], ['chat', { max_tokens: 5, max_completion_tokens: 7 }, 7], ['chat', { max_tokens: '9', max_completion_tokens: -1 }, null], ['chat', { max_tokens: 0 }, null], ['chat', { max_output_tokens: 1 }, null],
    ['responses', { max_output_tokens: 5, n: 3 }, 5], ['responses', { max_tokens: 1, max_completion_tokens: 1 }, null],
  ])('asks for output in the names of its own API alone: %s %j', (api, json, outputTokensAsked) => {
    expect(outputAsked(api, { json: json as Record<string, unknown> })).toEqual({ outputTokensAsked })
  })

  test.each<[unknown, number]>([[2, 2], [100, 100], [1.5, 2], ['3', 3], [1e300, 1_000_000]])('asks for %j answers', (n, choices) => {
    expect(outputAsked('chat', { json: { n, max_tokens: 5 } })).toEqual({ outputTokensAsked: 5, choices })
  })

  test.each([[1], [0], [-4], [null], [true], ['many'], [[7]]])('asks for one answer with %j', (n) => { expect(outputAsked('chat', { json: { n } })).toEqual({ outputTokensAsked: null }) })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../digest.ts'
import { genesisHash, payloadText, rowText } from './chain.ts'

const name = fc.string({ unit: 'grapheme' })

describe('journal chain', () => {
  it('hashes exactly the canonical JSON of row and predecessor', () => {
    fc.assert(fc.property(fc.record({ seq: fc.nat(), stream: name, version: fc.nat(), at: fc.nat(), commandId: name, actor: name, type: name }), fc.jsonValue(), (row, value) => {
      const payload = payloadText(value, (text) => text)
      expect(rowText({ ...row, payload }, genesisHash)).toBe(canonicalJson({ ...row, payload: JSON.parse(payload) as unknown, prev: genesisHash }))
    }))
  })

  it('refuses a name that UTF-8 cannot say', () => {
    expect(() => rowText({ seq: 1, stream: '\ud800', version: 1, at: 0, commandId: 'c', actor: 'owner', type: 't', payload: 'null' }, genesisHash)).toThrow(TypeError)
  })

  it('redacts every string of a payload, at any depth, and leaves numbers and names alone', () => {
    const text = payloadText({ secret: 'secret', list: ['a secret', { deep: 'secret' }], n: 1, none: null, gone: undefined }, (value) => value.replaceAll('secret', '[redacted]'))
    expect(JSON.parse(text)).toEqual({ secret: '[redacted]', list: ['a [redacted]', { deep: '[redacted]' }], n: 1, none: null })
  })

  it('mends lone surrogates instead of losing the commit', () => {
    expect(payloadText({ text: 'a\ud800b' }, (text) => text)).toBe('{"text":"a\ufffdb"}')
  })

  it('writes the very text that the library for RFC 8785 writes of the same value', () => {
    const odd = fc.constantFrom<unknown>(undefined, -0, 1e21, 1e-7, 5e-324, 0.1 + 0.2, '\u0000\u001f"\\\u2028', '\ud83d\ude00')
    const value = fc.anything({ key: name, values: [fc.string({ unit: 'grapheme' }), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), fc.boolean(), fc.constant(null), odd], maxDepth: 5, withNullPrototype: false })
    fc.assert(fc.property(fc.record({ 'a': value, 'B': value, 'é': value, '\ufb33': value, '\ud83d\ude00': value, '__proto__x': value, '10': value, '9': value }), (payload) => {
      expect(payloadText(payload, (text) => text)).toBe(canonicalJson(payload))
    }), { numRuns: 2_000 })
    const hostile = JSON.parse('{"__proto__":{"a":1},"constructor":2}') as unknown
    expect(payloadText(hostile, (text) => text)).toBe(canonicalJson(hostile))
  })

  it('mends names, too, and refuses what JSON cannot say', () => {
    expect(payloadText({ ['a\ud800']: 1, b: 2 }, (text) => text)).toBe('{"a\ufffd":1,"b":2}')
    for (const value of [undefined, Number.NaN, Number.POSITIVE_INFINITY, 1n, { a: Number.NaN }, () => 1]) expect(() => payloadText(value, (text) => text)).toThrow()
  })

  it('refuses a payload without a bottom', () => {
    let value: unknown = 'x'
    for (let depth = 0; depth < 100; depth++) value = [value]
    expect(() => payloadText(value, (text) => text)).toThrow(RangeError)
  })
})

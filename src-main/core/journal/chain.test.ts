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

  it('refuses a payload without a bottom', () => {
    let value: unknown = 'x'
    for (let depth = 0; depth < 100; depth++) value = [value]
    expect(() => payloadText(value, (text) => text)).toThrow(RangeError)
  })
})

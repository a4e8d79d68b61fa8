import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { digestSchema } from '../../src-preload/contract/ids.ts'
import { canonicalJson, digestOf, digestOfBytes, digestOfText, isWellFormed, wellFormed } from './digest.ts'

const shaOf = (text: string): string => `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`

describe('digest', () => {
  it('agrees with an independent SHA-256 for any well-formed text', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(digestOfText(text)).toBe(shaOf(text))
      expect(digestOfBytes(new Uint8Array(Buffer.from(text)))).toBe(shaOf(text))
    }))
  })

  it('is the same for the same value whatever the order of members', () => {
    expect(digestOf({ b: 1, a: { d: [2], c: 'x' } })).toBe(digestOf({ a: { c: 'x', d: [2] }, b: 1 }))
    expect(digestOf({ a: 1, b: undefined })).toBe(digestOf({ a: 1 }))
    expect(digestOf({ a: 1 })).toBe(shaOf('{"a":1}'))
  })

  it('tells values apart that a concatenation would merge', () => {
    expect(digestOf(['ab', 'c'])).not.toBe(digestOf(['a', 'bc']))
    expect(digestOf(1)).not.toBe(digestOf('1'))
  })

  it('passes the contract\'s digest schema', () => {
    expect(digestSchema.safeParse(digestOf(null)).success).toBe(true)
  })

  it('refuses what has no canonical form', () => {
    for (const value of [undefined, Number.NaN, Number.POSITIVE_INFINITY, ['\ud800'], { '\udc00': 1 }]) expect(() => canonicalJson(value)).toThrow()
    expect(() => digestOfText('a\ud800')).toThrow(TypeError)
  })

  it('mends text of models as a UTF-8 encoder would', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('', '\ud800', '\udfff', '\udc00\ud800'), (text, tail) => {
      const mended = wellFormed(text + tail)
      expect(isWellFormed(mended)).toBe(true)
      expect(mended).toBe(Buffer.from(text + tail, 'utf8').toString('utf8'))
    }))
  })
})

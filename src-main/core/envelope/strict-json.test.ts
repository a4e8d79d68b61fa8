import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseStrict } from './strict-json.ts'

describe('strict JSON', () => {
  it('agrees with JSON.parse on everything that it accepts', () => {
    const integers = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 5 }, fc.maxSafeInteger(), fc.string({ unit: 'grapheme' }), fc.boolean(), fc.constant(null), fc.array(tie('value')), fc.dictionary(fc.string(), tie('value'))),
    })).value
    fc.assert(fc.property(integers, fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      fc.pre(!text.includes('-0'))
      expect(parseStrict(text, 64)).toEqual({ ok: true, value: JSON.parse(text) })
    }))
  })

  it('accepts nothing that JSON.parse refuses', () => {
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', 'a', ':', ',', '\\', 'u0041', 'n', '1', '0', '-', ' ', 'true', 'null', '\n') }), (text) => {
      const parsed = parseStrict(text, 64)
      if (parsed.ok) expect(parsed.value).toEqual(JSON.parse(text))
    }), { numRuns: 2_000 })
  })

  it('keeps a member named __proto__ a member', () => {
    const parsed = parseStrict('{"__proto__":{"polluted":1}}', 8)
    expect(parsed.ok && Object.keys(parsed.value as object)).toEqual(['__proto__'])
    expect(({} as { polluted?: number }).polluted).toBe(undefined)
  })

  it('counts depth over objects and arrays together', () => {
    expect(parseStrict('[{"a":[1]}]', 3).ok).toBe(true)
    expect(parseStrict('[{"a":[1]}]', 2)).toMatchObject({ ok: false, error: { reason: 'too-deep' } })
  })
})

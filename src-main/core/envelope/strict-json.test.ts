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

describe('strict JSON refuses', () => {
  it.each<[string, string, string, string]>([
    ['nothing', '', 'not-json', 'no JSON value (character 0)'], ['no value', ' x', 'not-json', 'no JSON value (character 1)'], ['a word before a number', '[x,1]', 'not-json', 'no JSON value (character 1)'], ['text after the value', '{} x', 'not-json', 'text after the value (character 3)'], ['a second value', '1 2', 'not-json', 'text after the value (character 2)'],
    ['a member without a name', '{1:2}', 'not-json', 'a member name is missing (character 1)'], ['a comma before the end of an object', '{"a":1,}', 'not-json', 'a member name is missing (character 7)'], ['a member without a colon', '{"a" 1}', 'not-json', 'a colon is missing (character 5)'],
    ['an open object', '{"a":1', 'not-json', 'an object is not closed (character 6)'], ['an object that an array closes', '{"a":1]', 'not-json', 'an object is not closed (character 6)'], ['an open array', '[1', 'not-json', 'an array is not closed (character 2)'], ['a comma before the end of an array', '[1,]', 'not-json', 'no JSON value (character 3)'],
    ['a name twice', '{"a":1,"a":2}', 'duplicate-key', 'a member name twice in one object (character 10)'], ['a name twice, once escaped', '{"a":1,"\\u0061":2}', 'duplicate-key', 'a member name twice in one object (character 15)'],
    ['an open string', '"abc', 'not-json', 'a string is not closed, or holds a raw control character (character 4)'], ['a raw line break', '"a\nb"', 'not-json', 'a string is not closed, or holds a raw control character (character 2)'], ['the last raw control character', '"\u001f"', 'not-json', 'a string is not closed, or holds a raw control character (character 1)'],
    ['an escape of its own', '"\\x41"', 'not-json', 'an unknown escape (character 1)'], ['an escape cut off', '"\\u12"', 'not-json', 'an unknown escape (character 1)'], ['an escape of other digits', '"\\u12g4"', 'not-json', 'an unknown escape (character 1)'],
    ['a high surrogate alone', '"\ud800"', 'lone-surrogate', 'half of a surrogate pair (character 1)'], ['a low surrogate alone', '"\udc00"', 'lone-surrogate', 'half of a surrogate pair (character 1)'], ['the last low surrogate alone', '"\udfff"', 'lone-surrogate', 'half of a surrogate pair (character 1)'], ['the last low surrogate alone, escaped', '"\\udfff"', 'lone-surrogate', 'half of a surrogate pair (character 1)'], ['two low ones', '"\udc00\udc00"', 'lone-surrogate', 'half of a surrogate pair (character 1)'],
    ['two high ones', '"\ud800\ud800"', 'lone-surrogate', 'half of a surrogate pair (character 1)'],
    ['a high surrogate and a letter', '"\ud800a"', 'lone-surrogate', 'half of a surrogate pair (character 1)'], ['an escaped high surrogate alone', '"\\ud800"', 'lone-surrogate', 'half of a surrogate pair (character 1)'], ['an escaped low surrogate first', '"\\udc00\\ud800"', 'lone-surrogate', 'half of a surrogate pair (character 1)'],
    ['an escaped high surrogate and a letter', '"\\ud800\\u0041"', 'lone-surrogate', 'half of a surrogate pair (character 1)'], ['the last high surrogate with what is no low one', '"\\udbff\\ue000"', 'lone-surrogate', 'half of a surrogate pair (character 1)'],
    ['nesting beyond the bound', '[[[[1]]]]', 'too-deep', 'nested deeper than 3 (character 3)'],
  ])('%s', (_what, text, reason, detail) => { expect(parseStrict(text, 3)).toEqual({ ok: false, error: { reason, path: '', detail } }) })

  it.each(['-0', '01', '1.0', '1e3', '1E3', '-', '+1', '1-', '9007199254740992', '-9007199254740992', '1.', '0x10', '--1', '-01', `1${'0'.repeat(80)}`])('the number %.20s', (text) => {
    expect(parseStrict(text, 3).ok).toBe(false)
  })

  it('a number that is none in its shortest form, with where it stands', () => {
    expect(parseStrict('[1,1.5]', 3)).toEqual({ ok: false, error: { reason: 'not-safe-integer', path: '', detail: 'a number that is no safe integer in its shortest form (character 3)' } })
  })
})

describe('strict JSON takes', () => {
  it.each<[string, unknown]>([
    ['0', 0], ['-1', -1], ['10', 10], ['9007199254740991', 9007199254740991], ['-9007199254740991', -9007199254740991], ['null', null], ['true', true], ['false', false], ['""', ''], ['{}', {}], ['[]', []], [' \t\r\n[ \t\r\n] \t\r\n', []], ['{ "a" : [ 1 , 2 ] , "b" : { } }', { a: [1, 2], b: {} }],
    ['"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\/\b\f\n\r\t'], ['"\\u0041\\u00e9\\u20AC"', 'Aé€'], ['"a\\nb\\nc"', 'a\nb\nc'], ['"\\ud83d\\ude00"', '😀'], ['"\\uDBFF\\uDFFF"', '\u{10ffff}'], ['"\\ud800\\udc00x"', '\u{10000}x'], ['"x\u{10000}y\u{10ffff}"', 'x\u{10000}y\u{10ffff}'], ['"\\ud7ff\\ue000"', '\ud7ff\ue000'], ['"\u007f \u2028"', '\u007f \u2028'], ['[[[1]]]', [[[1]]]],
  ])('%j', (text, value) => { expect(parseStrict(text, 3)).toEqual({ ok: true, value }) })

  it('no other space between its signs', () => {
    for (const space of ['\v', '\f', '\u00a0', '\u2028', '\ufeff']) expect(parseStrict(`[${space}1]`, 3).ok, JSON.stringify(space)).toBe(false)
  })
})

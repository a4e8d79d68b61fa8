import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { closeJson } from './json-closer.ts'

describe('closing JSON that breaks off', () => {
  test.each([['', 'null'], ['{"a":[tr', 'ue]}'], ['{"a', '":null}'], ['{"a"', ':null}'], ['{"a":1,', '"":null}'], ['[1,', 'null]'], ['-', '0'], ['1.', '0'], ['1e+', '0'], ['"x\\', '\\"'], ['"\\u00', '00"'], ['"\\\\u00', '"'], ['{"a":"\\\\"}', ''], ['{} ', '']])('closes %j with %j', (text, end) => {
    expect(closeJson(text)).toBe(end)
  })

  test('makes every beginning of every JSON text a whole one', () => {
    fc.assert(fc.property(fc.json(), fc.boolean(), (json, indented) => {
      const text = indented ? JSON.stringify(JSON.parse(json), null, 1) : json
      for (let at = 0; at <= text.length; at++) expect(() => { JSON.parse(text.slice(0, at) + closeJson(text.slice(0, at))) }).not.toThrow()
    }), { numRuns: 60 })
  })

  test('leaves a whole text alone', () => {
    fc.assert(fc.property(fc.json(), (json) => { expect(closeJson(json)).toBe('') }))
  })
})

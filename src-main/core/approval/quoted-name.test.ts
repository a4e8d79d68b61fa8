import { createTwoFilesPatch } from 'diff'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { unquotedName } from './quoted-name.ts'

const asWritten = (name: string): string => /^\+\+\+ (".*")$/m.exec(createTwoFilesPatch(name, name, 'a', 'b'))?.[1] ?? 'not in quotes'

describe('a name in quotes', () => {
  it('is the name that the diff was made of, whatever signs it holds', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (rest) => { expect(unquotedName(asWritten(`/"${rest}`))).toBe(`/"${rest}`) }), { numRuns: 1_000 })
  })

  it('is read escape by escape', () => {
    expect(unquotedName('"\\a\\b\\t\\n\\v\\f\\r\\"\\\\"')).toBe('\u0007\b\t\n\v\f\r"\\')
    expect(unquotedName('"/w/\\303\\244 100%25.ts \\\\101"')).toBe('/w/ä 100%25.ts \\101')
    expect(unquotedName('"ä"')).toBe('ä')
  })

  it.each(['a', '"a', 'a"', 'x"a"', '"a"x', '"a"b"', '"\\x41"', '"\\400"', '"\\08"', '"\\12"', '"\\1"', '"\\"', '"\\303"', '"\\303a"', '"\\377"', '"'])('is not %s', (written) => { expect(unquotedName(written)).toBe(null) })
})

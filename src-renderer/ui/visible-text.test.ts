import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { markCount, plainPieces, visiblePieces, type Piece } from './visible-text.ts'

const raw = (pieces: readonly Piece[]): string => pieces.map((piece) => (piece.is === 'text' ? piece.text : piece.raw)).join('')
const marks = (text: string, strictness: 'command' | 'prose' = 'command'): string[] => visiblePieces(text, strictness).flatMap((piece) => (piece.is === 'mark' ? [piece.label] : []))

describe('visiblePieces', () => {
  it('gives back the exact text, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('command' as const, 'prose' as const), (text, strictness) => {
        expect(raw(visiblePieces(text, strictness))).toBe(text)
      }),
    )
  })

  it('leaves an ordinary command alone', () => {
    expect(visiblePieces('bun test --bail && cat "src/a b.ts" | head -n 3\n\techo done', 'command')).toEqual([
      { is: 'text', text: 'bun test --bail && cat "src/a b.ts" | head -n 3\n\techo done' },
    ])
  })

  it.each([
    ['a right-to-left override', 'rm \u202Efdp.txt', 'U+202E'],
    ['a zero width space', 'ls\u200B -la', 'U+200B'],
    ['a tag character', 'ls\u{E0041}', 'U+E0041'],
    ['a no-break space', 'rm\u00A0-rf', 'U+00A0'],
    ['an escape sequence', 'echo \u001B[2K', 'ESC'],
    ['a carriage return that overwrites the line', 'rm -rf /\rls', 'CR'],
    ['a backspace', 'rm\u0008\u0008ls', 'BS'],
    ['a variation selector', 'a\uFE0F', 'U+FE0F'],
    ['a Hangul filler', 'x\u3164', 'U+3164'],
    ['half of a surrogate pair', 'a\uD800b', 'U+D800'],
    ['a C1 control', 'a\u0085b', 'U+0085'],
  ])('spells out %s', (_what, text, label) => {
    expect(marks(text)[0]).toBe(label)
  })

  it('marks a foreign letter inside a Latin word, in prose too', () => {
    expect(marks('curl p\u0430ypal.example', 'prose')).toEqual(['\u0430 U+0430'])
  })

  it('marks a command written wholly in look-alikes, but not a foreign sentence', () => {
    expect(markCount(visiblePieces('\u0441\u0430\u0442 file', 'command'))).toBe(3)
    expect(marks('Привет, мир', 'prose')).toEqual([])
    expect(marks('naïve café über', 'command')).toEqual([])
  })

  it('marks signs that pass for shell signs in a command, and lets prose have its dashes', () => {
    expect(marks('rm \u2212rf \u2215tmp')).toEqual(['\u2212 U+2212', '\u2215 U+2215'])
    expect(marks('20–50 euros — “free”', 'prose')).toEqual([])
  })

  it('marks full-width and mathematical letters anywhere', () => {
    expect(marks('\uFF52m', 'prose')).toEqual(['\uFF52 U+FF52'])
    expect(marks('\u{1D5CB}m', 'prose')).toEqual(['\u{1D5CB} U+1D5CB'])
  })

  it('shows padding as a number, so that it can push nothing out of view', () => {
    expect(marks(`ls${' '.repeat(400)}; rm -rf ~`)).toEqual(['400 spaces'])
    expect(marks(`ls${'\n'.repeat(200)}rm -rf ~`)).toEqual(['199 empty lines'])
    expect(marks(`${' '.repeat(100)}rm`)).toEqual(['100 spaces'])
  })

  it('takes indentation for what it is', () => {
    expect(marks(`if x {\n${' '.repeat(16)}y\n}`)).toEqual([])
  })

  it('is linear enough for the largest command that can be held', () => {
    const text = 'a \u200B'.repeat(20_000)
    expect(markCount(visiblePieces(text, 'command'))).toBe(20_000)
  })
})

describe('plainPieces', () => {
  it('gives back the exact text, whatever it is', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => { expect(raw(plainPieces(text))).toBe(text) }))
  })

  it.each(['\u202E', '\u202B', '\u2066', '\u200F', '\u001B', '\u0008', '\u0000', '\u009B', '\u2028'])('lets nothing in prose reorder or control what is around it: %j', (char) => {
    expect(plainPieces(`a${char}b`)).toMatchObject([{ is: 'text', text: 'a' }, { is: 'mark', raw: char }, { is: 'text', text: 'b' }])
  })

  it.each(['Ça va\u00A0? Non\u202F!', 'done \u2714\uFE0F \u{1F468}\u200D\u{1F4BB}', 'one\r\n\ttwo', 'नमस्ते क\u094D\u200Dष', '– “quoted” …'])('leaves ordinary prose alone: %j', (text) => {
    expect(plainPieces(text)).toEqual([{ is: 'text', text }])
  })
})

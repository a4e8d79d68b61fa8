import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { limits } from '../../../src-preload/contract/limits.ts'
import { isWellFormed } from '../digest.ts'
import { ArgumentScanner } from './argument-scanner.ts'

function scan(pieces: readonly string[]): ArgumentScanner {
  const scanner = new ArgumentScanner()
  for (const piece of pieces) scanner.feed(piece)
  return scanner
}

function cut(text: string, places: readonly number[]): string[] {
  const edges = [0, ...[...places].sort((a, b) => a - b), text.length]
  return edges.slice(1).map((edge, index) => text.slice(edges[index], edge))
}

const content = 'const naïve = "ü\\n😀"\n\tline\u2028two\r\n\u0000\ud83d end\\'
const written = JSON.stringify({ filePath: '/workspace/src/größe "a".ts', content, nested: { content: 'no', list: ['}', { path: 'no' }] }, n: -1.5e3, yes: true })

describe('the argument scanner', () => {
  test('tells target, content, lines and bytes of arguments cut at every place', () => {
    for (let at = 0; at <= written.length; at++) {
      const preview = scan(cut(written, [at])).preview()
      expect(preview).toEqual({
        argumentBytes: Buffer.byteLength(written), target: '/workspace/src/größe "a".ts', tail: content, tailOf: 'content', contentLines: 3, before: null, closed: true,
        fields: [{ name: 'nested', value: '{…}' }, { name: 'n', value: '-1500' }, { name: 'yes', value: 'true' }],
      })
    }
  })

  test('gives the same whatever the pieces are', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.array(fc.nat(400)), fc.boolean(), (path, text, places, escaped) => {
      const plain = JSON.stringify({ filePath: path, content: text })
      const json = escaped ? plain.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`) : plain
      expect(scan(cut(json, places.map((place) => place % (json.length + 1)))).preview()).toEqual(scan([json]).preview())
    }))
  })

  test('tells what an edit replaces beside what it puts there, cut at every place', () => {
    const edit = JSON.stringify({ filePath: 'a.ts', oldString: 'one "old"\nline ü', newString: 'two 😀\nlines\n', replaceAll: true })
    for (let at = 0; at <= edit.length; at++) expect(scan(cut(edit, [at])).preview()).toMatchObject({ target: 'a.ts', before: 'one "old"\nline ü', tail: 'two 😀\nlines\n', tailOf: 'newString', contentLines: 2, fields: [{ name: 'replaceAll', value: 'true' }] })
    expect(scan(['{"filePath":"a.ts","oldString":"on']).preview()).toMatchObject({ before: 'on', tail: '', tailOf: null })
  })

  test('tells other arguments as they are written, bounded', () => {
    expect(scan(['{"pattern":"fo']).preview().fields).toEqual([{ name: 'pattern', value: 'fo' }])
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`key${index}`, 'v'.repeat(1_000)]))
    const { fields } = scan([JSON.stringify(many)]).preview()
    expect(fields).toHaveLength(12)
    for (const { value } of fields) expect(value).toBe(`${'v'.repeat(160)}…`)
    expect(isWellFormed(scan([JSON.stringify({ half: `${'v'.repeat(159)}😀` })]).preview().fields[0]!.value)).toBe(true)
  })

  test('names the target before the content has begun', () => {
    expect(scan(['{"filePath":"/workspace/a', '.ts']).preview().target).toBeNull()
    expect(scan(['{"filePath":"/workspace/a', '.ts"']).preview()).toMatchObject({ target: '/workspace/a.ts', tail: '', tailOf: null, contentLines: null })
  })

  test.each([
    ['{"path":"/a/b","pattern":"x"}', '/a/b'],
    ['{"file":"b.ts"}', 'b.ts'],
    ['{"command":"bun test\\n","description":"x"}', 'bun test\n'],
    ['{"command":"cat a","filePath":"a"}', 'a'],
    ['{"filePath":"a","path":"b"}', 'a'],
    ['{"filePath":"","path":"b"}', 'b'],
    ['{"patchText":"*** Begin Patch\\n*** Update File: src/a b.ts\\n@@', 'src/a b.ts'],
    ['{"patchText":"*** Begin Patch\\r\\n*** Add File: b.ts\\r\\n+x', 'b.ts'],
    ['{"patchText":"*** Delete File: gone.ts"}', 'gone.ts'],
    ['{"patchText":"*** Update File: unfinished', null],
    ['{"other":"x","deep":{"filePath":"no"}}', null],
    ['{"filePath":{"a":1},"pattern":"x"}', null],
  ])('takes the target of %s', (json, target) => {
    for (let at = 0; at <= json.length; at++) expect(scan(cut(json, [at])).preview().target).toBe(target)
  })

  test('shows the growing text of an edit, not the text that it replaces', () => {
    expect(scan(['{"filePath":"a","oldString":"old\\n","newString":"one\\ntw']).preview()).toMatchObject({ tail: 'one\ntw', tailOf: 'newString', contentLines: 2 })
  })

  test('shows a command while it is typed', () => {
    expect(scan(['{"command":"bun te']).preview()).toMatchObject({ target: null, tail: 'bun te', tailOf: 'command' })
  })

  test('counts four bytes for a pair that two pieces share', () => {
    expect(scan(['{"content":"\ud83d', '\ude00']).preview()).toMatchObject({ argumentBytes: 16, tail: '😀' })
    expect(scan(['{"content":"\\ud83d', '\\ude00']).preview().tail).toBe('😀')
    expect(scan(['{"content":"a\ud83d']).preview().tail).toBe('a')
  })

  test.each(['', 'not json', '[1,2]', '"text"', '{x}', '{"a" 1}', '{"a":}', '{"a":1 "b"', '{"content":"\\uZZZZ', '{"a":"b"]', '\u0000', '}}}}', '{"a":[}]]]]}', '{}{"content":"x"}', `{"${'k'.repeat(500)}":"v"`])('survives %j and counts it', (text) => {
    for (let at = 0; at <= text.length; at++) expect(scan(cut(text, [at, 1])).preview()).toMatchObject({ argumentBytes: Buffer.byteLength(text), target: null })
  })

  test('never throws, whatever comes', () => {
    const noise = fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', 'u', 'n', ':', ',', 'content', 'filePath', 'patchText', '*** Add File: ', '\n', '\ud800', 'é', '0') })
    fc.assert(fc.property(fc.array(noise), (pieces) => {
      expect(scan(pieces).preview().argumentBytes).toBeGreaterThanOrEqual(pieces.join('').length)
    }))
  })

  test('costs the same for each character, whatever the size and the pieces', () => {
    const costPerChar = (chars: number, pieceChars: number): number => {
      const json = JSON.stringify({ filePath: '/workspace/big.ts', content: 'const line = "ü"\n'.repeat(Math.ceil(chars / 17)) })
      const scanner = new ArgumentScanner()
      for (let at = 0; at < json.length; at += pieceChars) scanner.feed(json.slice(at, at + pieceChars))
      return scanner.steps / json.length
    }
    const perChar = [costPerChar(10_000, 60), costPerChar(146_000, 60), costPerChar(1_460_000, 60), costPerChar(1_460_000, 1), costPerChar(1_460_000, 1_000_000)]
    for (const cost of perChar) expect(cost).toBeLessThanOrEqual(3.1)
  })

  test('holds less than 64 KiB of ten megabytes and goes on counting', () => {
    const scanner = scan(['{"filePath":"a","content":"'])
    const piece = 'x'.repeat(1_000) + '\\n'
    let heldMax = 0
    for (let index = 0; index < 10_000; index++) {
      scanner.feed(piece)
      heldMax = Math.max(heldMax, scanner.heldChars)
    }
    expect(heldMax * 2).toBeLessThanOrEqual(limits.previewHeldBytesMax)
    const preview = scanner.preview()
    expect(preview.argumentBytes).toBe(27 + 10_000 * 1_002)
    expect(preview.contentLines).toBe(10_000)
    expect(preview.tail).toHaveLength(limits.previewTailCharsMax)
  })

  test('marks a target that was too long to hold whole', () => {
    const target = scan([`{"command":"${'x'.repeat(5_000)}"}`]).preview().target
    expect(target).toBe(`${'x'.repeat(1_000)}…`)
  })
})

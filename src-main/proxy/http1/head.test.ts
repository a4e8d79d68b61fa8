import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases, edited } from './fuzz.suite.ts'
import { HeadReader, type HeadRead } from './head.ts'

const head = (...lines: readonly string[]): Buffer => Buffer.from(`${['POST /v1/x HTTP/1.1', 'Host: a', ...lines].join('\r\n')}\r\n\r\n`, 'latin1')

/** What a reading says, without what only tells it from another. */
function said(read: HeadRead): unknown {
  if (typeof read === 'string') return read
  const fields: string[] = []
  read.fields.each((lower, value, name) => { fields.push(lower, value, name) })
  return { startLine: read.startLine, fields, bytes: read.bytes }
}

describe('the heads of a connection', () => {
  test('are read, each, as if it were the first, whatever came before it', () => {
    const wholes = [head('Content-Length: 3', 'X-Request-Id: 1').toString('latin1'), head('Content-Length: 30', 'X-Request-Id: 22').toString('latin1'), head().toString('latin1')]
    fc.assert(fc.property(fc.array(edited(wholes), { minLength: 1, maxLength: 4 }), fc.integer({ min: 20, max: 200 }), (heads, bytesMax) => {
      const reader = new HeadReader(bytesMax)
      reader.read(head('Content-Length: 3', 'X-Request-Id: 1'))
      for (const bytes of heads) expect(said(reader.read(bytes))).toEqual(said(new HeadReader(bytesMax).read(bytes)))
    }), { numRuns: cases })
  })

  test('are alike when they differ in the value of their content-length only', () => {
    const reader = new HeadReader(1_000)
    const likenesses = [head('Content-Length: 3', 'X: 1'), head('Content-Length: 12345', 'X: 1'), head('Content-Length: 3', 'X: 1'), head('Content-Length: 3', 'X: 2'), head('Content-Type: 3', 'X: 1'), head('X: 1', 'Content-Length: 3')]
      .map((bytes) => { const read = reader.read(bytes); return typeof read === 'string' ? read : read.likeness })
    const [first, ...others] = likenesses
    expect(others.map((likeness) => likeness === first)).toEqual([true, true, false, false, false])
  })

  test('that were read last are not changed by the next', () => {
    const reader = new HeadReader(1_000)
    const first = reader.read(head('Content-Length: 3', 'X: 1'))
    const before = said(first)
    reader.read(head('Content-Length: 4', 'X: 2'))
    expect(said(first)).toEqual(before)
  })
})

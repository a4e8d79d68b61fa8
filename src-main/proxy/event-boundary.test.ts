import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EventBoundary } from './event-boundary.ts'

describe('the end of the last whole event', () => {
  test.each<[string, number]>([
    ['', 0], ['data: a', 0], ['data: a\n', 0], ['data: a\n\n', 9], ['data: a\n\ndata: b', 9], ['a\r\n\r\n', 5], ['a\r\n\r\nb\r\n', 5], ['a\r\n', 0], ['a\r\n\r', 0], ['a\r\rb', 3], ['a\n\r\nb', 4], ['a\n\nb\r\n\r\nc', 8], ['a\r\n\r\nb\n\nc', 8], ['\n\n', 2], ['a\n\n\n', 4],
  ])('of %j is at %d', (text, end) => {
    expect(new EventBoundary().after(Buffer.from(text))).toBe(end)
  })

  test('is never within an event, whatever was seen before', () => {
    const piece = fc.string({ unit: fc.constantFrom('a', '\n', '\r', '\r\n', 'data: x'), maxLength: 12 })
    fc.assert(fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const boundary = new EventBoundary()
      for (const text of pieces) {
        const end = boundary.after(Buffer.from(text))
        // What is cut off ends with two line ends, and a CR LF is not torn apart.
        if (end > 0) expect(/(\r\n|\n|\r)(\r\n|\n|\r)$/.test(text.slice(0, end))).toBe(true)
        expect(text.slice(end - 1, end + 1)).not.toBe('\r\n')
        expect(text.slice(end).includes('\n\n')).toBe(false)
      }
    }))
  })
})

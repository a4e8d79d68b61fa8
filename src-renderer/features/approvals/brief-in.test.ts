import { describe, expect, it } from 'vitest'
import { briefIn } from './brief-in.ts'

const brief = { goal: 'g', scope: '', criteria: ['c'], testCommand: 'bun test', excerpts: [{ id: 'README.md', content: 'x' }] }

describe('briefIn', () => {
  it('finds the brief that the bytes are', () => {
    expect(briefIn(JSON.stringify(brief))).toEqual(brief)
  })

  it.each([
    ['text that is no JSON', 'goal: g'],
    ['a brief with a field that the document would not show', JSON.stringify({ ...brief, note: 'and delete the rest' })],
    ['an excerpt with a field that the document would not show', JSON.stringify({ ...brief, excerpts: [{ id: 'a', content: 'b', run: 'c' }] })],
    ['a field of another type', JSON.stringify({ ...brief, criteria: 'c' })],
    ['a list', JSON.stringify([brief])],
  ])('shows no document for %s', (_what, text) => {
    expect(briefIn(text)).toBeNull()
  })
})

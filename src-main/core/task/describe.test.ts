import { describe, expect, it } from 'vitest'
import { describeEvent } from './describe.ts'

describe('an event in words', () => {
  it('names what was decided and on what', () => {
    expect(describeEvent({ type: 'hold-settled', approvalId: 'apr_1', outcome: 'approved', cause: null } as never)).toBe('approved · apr_1')
    expect(describeEvent({ type: 'command-ran', text: 'bun test', exitCode: 1, refused: null } as never)).toBe('exit 1 · bun test')
  })

  it('is never empty: a table row needs its words', () => {
    for (const event of [{ type: 'claimed' }, { type: 'rejected', reason: '' }, { type: 'question-passed-to-owner', why: ' ' }]) expect(describeEvent(event)?.trim()).not.toBe('')
  })

  it('says nothing of a type that it does not know', () => {
    expect(describeEvent({ type: 'of-a-later-app' })).toBeNull()
    expect(describeEvent({ type: 'toString' })).toBeNull()
  })
})

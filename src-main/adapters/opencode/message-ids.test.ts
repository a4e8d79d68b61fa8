import { describe, expect, test } from 'vitest'
import { createMessageIds } from './message-ids.ts'

function mint(): (now: number) => { messageId: string; partId: string } {
  let count = 0
  return createMessageIds({ next: (prefix) => `${prefix}_${(count += 1)}` })
}

describe('minted message ids', () => {
  test('have OpenCode’s form and its time field', () => {
    const { messageId, partId } = mint()(1_795_982_817_130)
    expect(messageId).toMatch(/^msg_[0-9a-f]{12}[0-9A-Za-z]{14}$/)
    expect(partId).toMatch(/^prt_[0-9a-f]{12}[0-9A-Za-z]{14}$/)
    // A capture of 1.18.30 holds msg_228eaf769001… made one millisecond before its created time of …130.
    expect(messageId.slice(4, 13)).toBe('228eaf76a')
  })

  test('ascend within a millisecond, and when the clock goes back', () => {
    const ids = mint()
    const minted = [1_000, 1_000, 1_000, 400, 1_001].flatMap((now) => Object.values(ids(1_795_982_817_000 + now)).map((id) => id.slice(4)))
    expect(minted).toEqual(minted.toSorted())
    expect(new Set(minted).size).toBe(minted.length)
  })

  test('differ in their random part', () => {
    const ids = mint()
    const ends = Array.from({ length: 200 }, () => ids(1_795_982_817_000).messageId.slice(16))
    expect(new Set(ends).size).toBe(200)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CallId } from '../../../src-preload/contract/ids.ts'
import { SeenCalls } from './seen-calls.ts'

describe('calls that have ended', () => {
  it('are what was put into this very set, whatever others that came from it or before it hold', () => {
    const step = fc.record({ from: fc.nat(20), id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f') })
    fc.assert(fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const all = [{ seen: SeenCalls.none(), told: new Set<string>() }]
      for (const { from, id } of steps) {
        const before = all[from % all.length]!
        all.push({ seen: before.seen.with(id as CallId), told: new Set([...before.told, id]) })
      }
      for (const { seen, told } of all) {
        for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) expect(seen.has(id as CallId)).toBe(told.has(id))
        expect(seen.size).toBe(told.size)
      }
    }))
  })

  it('cost the same however many there are', () => {
    let seen = SeenCalls.none()
    // A copy at each of them would be 20,000,000,000 entries.
    for (let call = 0; call < 200_000; call += 1) seen = seen.with(`call_${call}` as CallId)
    expect(seen.size).toBe(200_000)
    expect(seen.has('call_199999' as CallId)).toBe(true)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { taskIdSchema } from '../../../src-preload/contract/ids.ts'
import { createIds } from './ids.ts'

describe('ids', () => {
  it('ascend in the order they were minted, whatever the clock does, and never repeat', () => {
    fc.assert(fc.property(fc.array(fc.nat({ max: 5 }), { minLength: 2, maxLength: 60 }), (times) => {
      let now = 0
      const ids = createIds({ now: () => now })
      const minted = times.map((time) => {
        now = 1_800_000_000_000 + time
        return ids.next('task')
      })
      expect([...minted].sort()).toEqual(minted)
      expect(new Set(minted).size).toBe(minted.length)
    }))
  })

  it('carry their prefix, at least 96 random bits, and fit the contract', () => {
    const one = createIds({ now: () => 1 })
    const other = createIds({ now: () => 1 })
    const [a, b] = [one.next('env'), other.next('env')]
    expect(a).toMatch(/^env_[0-9A-Z]{30}$/)
    expect(taskIdSchema.safeParse(a).success).toBe(true)
    expect(a.slice(0, 14)).toBe(b.slice(0, 14))
    // Two minters in one millisecond share the time and nothing of the 20 random digits but by chance.
    const same = [...a.slice(14)].filter((digit, index) => digit === b.slice(14)[index]).length
    expect(same).toBeLessThan(10)
  })
})

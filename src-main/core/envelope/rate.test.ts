import { describe, expect, it } from 'vitest'
import { admitArrival, envelopeRate, type RateState } from './rate.ts'

const rate = { windowMs: 1_000, envelopesMax: 3, bytesMax: 100 }

function sent(arrivals: readonly (readonly [at: number, bytes: number])[]): { readonly admitted: readonly boolean[]; readonly state: RateState } {
  let state: RateState = []
  const admitted = arrivals.map(([at, bytes]) => {
    const result = admitArrival(state, bytes, at, rate)
    if (result.ok) state = result.value
    return result.ok
  })
  return { admitted, state }
}

describe('envelope rate', () => {
  it('refuses what is too many within the window, and takes again after it', () => {
    expect(sent([[0, 1], [1, 1], [2, 1], [3, 1], [999, 1], [1_000, 1]]).admitted).toEqual([true, true, true, false, false, true])
  })

  it('refuses what is too much in bytes, before anything is parsed', () => {
    expect(sent([[0, 60], [1, 41], [2, 40], [3, 101]]).admitted).toEqual([true, false, true, false])
    expect(admitArrival([], 101, 0, rate)).toMatchObject({ ok: false, error: { reason: 'rate-exceeded' } })
  })

  it('remembers no more than it needs', () => {
    expect(sent(Array.from({ length: 50 }, (_, n) => [n, 1] as const)).state).toHaveLength(3)
  })

  it('is not opened by a clock that jumps back', () => {
    expect(sent([[5_000, 1], [5_001, 1], [5_002, 1], [10, 1]]).admitted).toEqual([true, true, true, false])
  })
})

describe('what is told of a rate', () => {
  it('is the bound that was passed, in words', () => {
    const many: RateState = [{ at: 0, bytes: 1 }, { at: 0, bytes: 1 }, { at: 0, bytes: 1 }]
    expect(admitArrival(many, 1, 0, { ...rate, windowMs: 60_000 })).toEqual({ ok: false, error: { reason: 'rate-exceeded', path: '', detail: 'more than 3 envelopes in 60 s' } })
    expect(admitArrival([], 101, 0, rate)).toEqual({ ok: false, error: { reason: 'rate-exceeded', path: '', detail: 'more than 100 bytes in 1 s' } })
  })

  it('is by default 120 envelopes and 1 MiB a minute', () => {
    expect(envelopeRate).toEqual({ windowMs: 60_000, envelopesMax: 120, bytesMax: 1_048_576 })
  })
})

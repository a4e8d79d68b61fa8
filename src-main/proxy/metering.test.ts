import { describe, expect, test } from 'vitest'
import { Meter } from './metering.ts'

describe('what a call used', () => {
  const read = (...events: readonly (readonly [object, boolean])[]): unknown[] => {
    const meter = new Meter()
    for (const [usage, ended] of events) meter.read({ usage }, ended)
    return [meter.metered.inputTokens, meter.metered.outputTokens, meter.outputSoFar]
  }

  test('is known from a report with or behind the terminal frame, and the last of them counts', () => {
    expect(read([{ prompt_tokens: 9, completion_tokens: 1 }, false])).toEqual([9, null, 1])
    expect(read([{ prompt_tokens: 9, completion_tokens: 1 }, false], [{ completion_tokens: 5 }, true])).toEqual([9, 5, 5])
    expect(read([{ input_tokens: 9, output_tokens: 5 }, true], [{ output_tokens: 6 }, true])).toEqual([9, 6, 6])
  })

  test('is not known where its number is above a thousand million, or no number', () => {
    expect(read([{ prompt_tokens: 1_000_000_000, completion_tokens: 1_000_000_000 }, true])).toEqual([1_000_000_000, 1_000_000_000, 1_000_000_000])
    expect(read([{ prompt_tokens: 3, completion_tokens: 4 }, true], [{ prompt_tokens: 1_000_000_001, completion_tokens: Number.MAX_SAFE_INTEGER }, true])).toEqual([null, null, null])
    expect(read([{ prompt_tokens: '3', completion_tokens: -1 }, true])).toEqual([null, null, null])
  })
})

import { describe, expect, it } from 'vitest'
import { fuzzedPromises } from './properties.ts'

/** The share of `npm run fuzz-envelopes` that every run of the unit tests takes: together about ten seconds of an idle machine. New inputs each time; the report names the seed. */
const shareRuns = 500

describe('whatever arrives', () => {
  it.each(fuzzedPromises)('$promise', ({ check }) => {
    expect(check({ seed: Date.now() % 1_000_000_000, numRuns: shareRuns }).report).toBe('')
  })
})

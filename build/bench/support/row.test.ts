import { expect, test } from 'vitest'
import { tallyOf, verdictOf } from './row.ts'

test('counts a gate that could not be judged as skipped, and what is only shown not at all', () => {
  const rows = [{ pass: true }, { pass: 'skipped' as const }, { pass: null }, { pass: false }, { pass: 'skipped' as const }]
  expect(tallyOf(rows)).toEqual({ passed: 1, failed: 1, skipped: 2 })
  expect(rows.map(verdictOf)).toEqual(['pass', 'skipped', '', 'FAIL', 'skipped'])
})

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { closingLine, playwrightTally, saidTally, total, vitestTally } from './tally.ts'

function report(content: unknown): string {
  const path = join(mkdtempSync(join(tmpdir(), 'tally-')), 'report.json')
  writeFileSync(path, JSON.stringify(content))
  return path
}

test('sums runners into one closing line', () => {
  const sum = total([
    { passed: 2, failed: 0, skipped: 1 },
    { passed: 3, failed: 1, skipped: 0 },
  ])
  expect(closingLine(sum)).toBe('5 passed, 1 failed, 1 skipped')
})

test('reads the last closing line that a runner said, and nothing else', () => {
  expect(saidTally('As root:\n3 passed, 0 failed, 1 skipped\nin all:\n5 passed, 1 failed, 2 skipped\n')).toEqual({ passed: 5, failed: 1, skipped: 2 })
  expect(saidTally('about 5 passed, 1 failed, 2 skipped or so\n')).toBeUndefined()
  expect(saidTally('')).toBeUndefined()
})

test('counts a flaky Playwright test as failed', () => {
  expect(playwrightTally(report({ stats: { expected: 4, unexpected: 1, flaky: 1, skipped: 0 } }))).toEqual({ passed: 4, failed: 2, skipped: 0 })
})

test('counts a test file that could not be loaded as a failure', () => {
  const broken = { numPassedTests: 3, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, numFailedTestSuites: 1 }
  expect(vitestTally(report(broken))).toEqual({ passed: 3, failed: 1, skipped: 0 })
})

test('refuses a report of another shape', () => {
  expect(() => vitestTally(report({ hello: 1 }))).toThrow('numFailedTestSuites')
})

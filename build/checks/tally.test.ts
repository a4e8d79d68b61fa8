import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { closingLine, playwrightFailures, playwrightTally, saidTally, total, vitestFailures, vitestTally } from './tally.ts'

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

test('tells of each failed vitest test its file, its name and the start of its message, and of a file that could not be loaded why', () => {
  const message = `\u001B[31mAssertionError\u001B[39m: expected 1 to be 2\n\n${'    at somewhere\n'.repeat(30)}`
  const told = vitestFailures(report({
    testResults: [
      { name: 'a.test.ts', status: 'failed', assertionResults: [{ status: 'passed', fullName: 'works' }, { status: 'failed', fullName: 'group breaks', failureMessages: [message] }] },
      { name: 'b.test.ts', status: 'failed', message: 'SyntaxError: no', assertionResults: [] },
      { name: 'c.test.ts', status: 'passed', assertionResults: [{ status: 'passed', fullName: 'works' }] },
    ],
  }))
  expect(told).toHaveLength(2)
  expect(told[0]?.split('\n').slice(0, 2)).toEqual(['a.test.ts › group breaks', '    AssertionError: expected 1 to be 2'])
  expect(told[0]?.split('\n').length).toBeLessThan(12)
  expect(told[1]).toBe('b.test.ts › could not be run\n    SyntaxError: no')
})

test('tells of each failed or flaky Playwright test, however deep it stands, and of what kept all from running', () => {
  const spec = (title: string, status: string) => ({ title, file: 'x.spec.ts', tests: [{ status, results: [{ errors: status === 'expected' ? [] : [{ message: `why ${title}` }] }, { errors: [] }] }] })
  const told = playwrightFailures(report({
    suites: [{ specs: [spec('one', 'unexpected'), spec('two', 'expected')], suites: [{ specs: [spec('three', 'flaky')], suites: [] }] }],
    errors: [{ message: 'no browser' }],
  }))
  expect(told).toEqual(['x.spec.ts › one\n    why one', 'x.spec.ts › three\n    why three', 'playwright › could not run\n    no browser'])
})

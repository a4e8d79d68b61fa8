import { describe, expect, test } from 'vitest'
import { judgeVersion } from './version.ts'

describe('the version rule', () => {
  test.each([['1.17.18\n', '1.17.18'], ['v1.18.30', '1.18.30'], ['1.18.34', '1.18.34'], ['1.99.0+build.5', '1.99.0']])('accepts %s', (printed, version) => {
    expect(judgeVersion(printed)).toEqual({ ok: true, value: version })
  })

  test.each([
    ['0.15.0', 'too old'], ['1.17.17', 'too old'], ['1.0.0', 'too old'], ['2.0.0', 'new generation'], ['1.19.0-beta', 'pre-release'],
    ['1.18.30-0', 'pre-release'], ['', 'no version'], ['2.0', 'no version'], ['opencode 1.18.30', 'no version'], ['1.18.30 and more', 'no version'], ['\u001b[31mhello', 'no version'],
  ])('refuses %j with the reason “%s”', (printed, reason) => {
    const judged = judgeVersion(printed)
    if (judged.ok) throw new Error('accepted')
    expect(judged.error.code).toBe('opencode-unsupported')
    expect(judged.error.message).toContain(reason)
    expect(judged.error.message).not.toContain('\u001b')
  })
})

import { describe, expect, test } from 'vitest'
import { Fields } from './http1/fields.ts'
import { retryAfterMs } from './retry-after.ts'

const now = Date.UTC(2026, 10, 30, 12, 0, 0)

function asked(...fields: readonly (readonly [name: string, value: string])[]): number | null {
  const all = new Fields(fields.map(([name, value]) => ({ name, lower: name.toLowerCase(), value })))
  return retryAfterMs(all, now)
}

describe('after how long a provider wants to be asked again', () => {
  test('is read as seconds, as a date, or in a field of its own in milliseconds, which counts first', () => {
    expect(asked(['Retry-After', '20'])).toBe(20_000)
    expect(asked(['retry-after', '0'])).toBe(0)
    expect(asked(['Retry-After', '1.5'])).toBe(1_500)
    expect(asked(['Retry-After', 'Mon, 30 Nov 2026 12:00:30 GMT'])).toBe(30_000)
    expect(asked(['Retry-After', 'Mon, 30 Nov 2026 11:00:00 GMT']), 'past already').toBe(0)
    expect(asked(['Retry-After', '20'], ['retry-after-ms', '750'])).toBe(750)
  })

  test('is not known where it says something else, twice, or what nobody would wait for', () => {
    expect(asked()).toBeNull()
    for (const value of ['', 'soon', '-3', '1e3', '20 s', '99999999999', '86401', 'Mon, 30 Nov 2099 12:00:30 GMT']) expect(asked(['Retry-After', value]), value).toBeNull()
    expect(asked(['Retry-After', '1'], ['Retry-After', '2'])).toBeNull()
  })
})

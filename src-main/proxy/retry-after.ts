import type { Fields } from './http1/fields.ts'

/** Nobody waits longer for an answer; what says so is no time to wait for. */
const dayMs = 24 * 3_600_000

/**
 * After how many milliseconds a provider that refused wants to be asked again: `retry-after-ms`, else `retry-after` in seconds or as a
 * date (RFC 9110, 10.2.3). Null where it does not say so, or something else than that.
 */
export function retryAfterMs(fields: Fields, now: number): number | null {
  const own = numberOf(fields.only('retry-after-ms'))
  if (own !== null) return bounded(own)
  const value = fields.only('retry-after')
  if (value === null) return null
  const seconds = numberOf(value)
  if (seconds !== null) return bounded(seconds * 1_000)
  const date = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} /.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? null : bounded(Math.max(0, date - now))
}

function numberOf(value: string | null): number | null {
  return value !== null && /^\d{1,9}(?:\.\d{1,6})?$/.test(value.trim()) ? Number(value) : null
}

function bounded(ms: number): number | null {
  return ms <= dayMs ? ms : null
}

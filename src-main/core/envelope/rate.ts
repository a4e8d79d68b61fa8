import type { Millis } from '../../../src-preload/contract/ids.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import { refusal, type Refusal } from './refusal.ts'

/** What one producer may send in any window of `windowMs`, counted on raw bytes before anything is parsed. */
export interface RateLimits { readonly windowMs: number; readonly envelopesMax: number; readonly bytesMax: number }
/** Arrivals of one producer that still count, oldest first; at most `envelopesMax` of them. */
export type RateState = readonly { readonly at: Millis; readonly bytes: number }[]

/** The default: far above what two bots within their budgets send. */
export const envelopeRate: RateLimits = { windowMs: 60_000, envelopesMax: 120, bytesMax: 1024 * 1024 }

/** Counts an arrival of `bytes` at `now`, or refuses it. A refused arrival is not counted. A clock that jumped back counts as no time passed. */
export function admitArrival(state: RateState, bytes: number, now: Millis, rate: RateLimits): Result<RateState, Refusal> {
  const recent = state.filter((arrival) => now - arrival.at < rate.windowMs)
  if (recent.length >= rate.envelopesMax) return err(refusal('rate-exceeded', '', `more than ${rate.envelopesMax} envelopes in ${rate.windowMs / 1_000} s`))
  const sum = recent.reduce((total, arrival) => total + arrival.bytes, bytes)
  if (sum > rate.bytesMax) return err(refusal('rate-exceeded', '', `more than ${rate.bytesMax} bytes in ${rate.windowMs / 1_000} s`))
  return ok([...recent, { at: now, bytes }])
}

import { limits } from '../../src-preload/contract/limits.ts'
import { pause } from './pause.ts'
import type { Coder, Timers } from './ports.ts'

const againMax = 3
/** Behind the moment at which an unknown answer is forgotten: a timer may be a little early by another clock. */
const marginMs = 50

/**
 * The coder's version for whoever cannot go on without it. A first look at a binary that is not in memory yet, on a busy machine, can take longer than
 * the probe's bound, and says nothing then: it is repeated when that answer has expired, three times, unless the signal aborts.
 */
export async function knownVersion(probe: Coder['probe'], timers: Timers, signal: AbortSignal): ReturnType<Coder['probe']> {
  for (let again = 0; ; again += 1) {
    const probed = await probe()
    if (probed.ok || probed.error.code !== 'opencode-probe-timeout' || again === againMax || signal.aborted) return probed
    await pause(timers, limits.versionUnknownForMs + marginMs, signal)
  }
}

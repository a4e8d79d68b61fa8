import type { Clock } from '../../engine/ports.ts'

/** The wall clock. It jumps: by sleep, by the operator, by time servers. */
export const systemClock: Clock = { now: () => Date.now() }

import { randomBytes } from 'node:crypto'
import type { Clock, Ids } from '../../engine/ports.ts'

// Crockford's base 32 without I, L, O, U: its digits sort as their characters do.
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const timeDigits = 10
const randomDigits = 20
const randomMax = 1n << 100n

/**
 * Ids as `prefix_` + 10 digits of milliseconds + 20 digits (100 bits) of randomness, the layout of ULID with a longer tail.
 * They ascend in the order they were minted, also within one millisecond and when the clock jumps back.
 */
export function createIds(clock: Clock): Ids {
  let lastMs = 0
  let tail = 0n
  return {
    next: (prefix) => {
      const now = clock.now()
      if (now > lastMs) {
        lastMs = now
        tail = freshTail()
      } else {
        tail += 1n
        if (tail >= randomMax) {
          lastMs += 1
          tail = freshTail()
        }
      }
      return `${prefix}_${digits(BigInt(lastMs), timeDigits)}${digits(tail, randomDigits)}`
    },
  }
}

/** The highest bit stays free, so that counting up within a millisecond does not overflow. */
function freshTail(): bigint {
  return BigInt(`0x${randomBytes(13).toString('hex')}`) >> 5n
}

function digits(value: bigint, count: number): string {
  let text = ''
  for (let rest = value, left = count; left > 0; rest >>= 5n, left--) text = (alphabet[Number(rest & 31n)] ?? '') + text
  return text
}

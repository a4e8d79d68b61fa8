import { createHash } from 'node:crypto'
import type { Ids } from '../../engine/ports.ts'
import type { Millis } from '../../../src-preload/contract/ids.ts'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const low48 = (1n << 48n) - 1n

/** A message id and the id of its one text part. */
export interface MintedIds { readonly messageId: string; readonly partId: string }

/**
 * Returns a mint of ids as OpenCode makes them: prefix, 12 hex digits of the low 48 bits of ms·4096+counter, 14 base62 digits
 * (opencode.md, “Identity”). Version 1.17.18 orders messages by id, so each is above every one minted before; the field
 * wraps once in 2.2 years. OpenCode's own ids come from the same clock, so ours do not run ahead of it by more than the counter.
 */
export function createMessageIds(ids: Ids): (now: Millis) => MintedIds {
  let last = 0n
  const stamp = (now: Millis): string => {
    const byClock = BigInt(now) * 4096n
    last = byClock > last ? byClock : last + 1n
    return (last & low48).toString(16).padStart(12, '0')
  }
  return (now) => ({ messageId: `msg_${stamp(now)}${suffix(ids)}`, partId: `prt_${stamp(now)}${suffix(ids)}` })
}

/** 14 base62 digits from an id's random bits (83 bits are kept). */
function suffix(ids: Ids): string {
  let number = BigInt(`0x${createHash('sha256').update(ids.next('r')).digest('hex').slice(0, 32)}`)
  let text = ''
  for (let digit = 0; digit < 14; digit += 1) {
    text += base62.charAt(Number(number % 62n))
    number /= 62n
  }
  return text
}

import { createHash } from 'node:crypto'
import { digestSchema, type Digest } from '../../../src-preload/contract/ids.ts'
import { sandboxLimits } from './sandbox-limits.ts'

/** Digest and bounded tail of a command's whole output, taken as it passes. */
export interface LogRecord {
  add(chunk: Uint8Array): void
  bytes(): number
  /** SHA-256 over every byte, and the last bytes as text (at most `logTailBytesMax`, cut at a character). Can be asked once. */
  finish(): { readonly logDigest: Digest; readonly logTail: string }
}

/** Skips the rest of a character whose beginning was cut off (UTF-8 continuation bytes are 10xxxxxx). */
function afterCut(bytes: Buffer): Buffer {
  let start = 0
  while (start < Math.min(3, bytes.length) && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1
  return bytes.subarray(start)
}

/** Starts an empty record. */
export function startLogRecord(): LogRecord {
  const hash = createHash('sha256')
  let tail = Buffer.alloc(0)
  let total = 0
  return {
    add(chunk) {
      hash.update(chunk)
      total += chunk.length
      const both = Buffer.concat([tail, chunk.subarray(Math.max(0, chunk.length - sandboxLimits.logTailBytesMax))])
      tail = Buffer.from(both.subarray(Math.max(0, both.length - sandboxLimits.logTailBytesMax)))
    },
    bytes: () => total,
    finish: () => ({ logDigest: digestSchema.parse(`sha256:${hash.digest('hex')}`), logTail: (total > tail.length ? afterCut(tail) : tail).toString('utf8') }),
  }
}

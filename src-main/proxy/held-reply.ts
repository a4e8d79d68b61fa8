import { recordOf } from '../core/preview/json-shape.ts'
import type { Fields } from './http1/fields.ts'
import { parsedOrNull } from './json-text.ts'
import { proxyLimits } from './proxy-limits.ts'

/**
 * A 403 of which it must be known, before its first byte goes on, whether it says `client_attestation_denied`. At most 64 KiB are
 * held; a longer one is some other 403.
 */
export class HeldReply {
  readonly fields: Fields
  readonly #chunks: Buffer[] = []
  #bytes = 0

  constructor(fields: Fields) {
    this.fields = fields
  }

  /** Copies the next bytes; false when they are more than can be held. */
  take(chunk: Buffer): boolean {
    this.#chunks.push(Buffer.from(chunk))
    this.#bytes += chunk.length
    return this.#bytes <= proxyLimits.errorHeldBytesMax
  }

  /** Everything held so far, byte for byte. */
  get bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }

  /** Whether the body is the vendor's word that it does not take this client. */
  get deniesAttestation(): boolean {
    const value = parsedOrNull(this.bytes.toString('utf8'))
    const error = recordOf(recordOf(value)?.['error']) ?? recordOf(value)
    return [error?.['code'], error?.['type']].includes(attestationDenied)
  }
}

const attestationDenied = 'client_attestation_denied'

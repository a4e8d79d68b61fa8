import { sha256 } from '@noble/hashes/sha2'
import { bytesToHex } from '@noble/hashes/utils'
import canonicalize from 'canonicalize'
import type { Digest } from '../../src-preload/contract/ids.ts'

/** Whether `text` is well-formed UTF-16, that is, can be written as UTF-8 without loss. Two texts with lone surrogates could share one digest. */
export function isWellFormed(text: string): boolean {
  return text.isWellFormed()
}

/** `text` with each lone surrogate replaced by U+FFFD, as a UTF-8 encoder would. For text of models and processes, at the edge. */
export function wellFormed(text: string): string {
  return text.toWellFormed()
}

/**
 * The one canonical serialisation: RFC 8785 (JSON Canonicalization Scheme). Members whose value is undefined are left out.
 * Throws on what JSON cannot say: lone surrogates, NaN, infinities, cycles, a bare undefined or function.
 */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('no JSON value: nothing to canonicalise')
  return text
}

/** SHA-256 of the canonical JSON (RFC 8785) of `value`. Throws as `canonicalJson` does. */
export function digestOf(value: unknown): Digest {
  return prefixed(sha256(canonicalJson(value)))
}

/** SHA-256 of the UTF-8 bytes of `text`. Throws on lone surrogates; see `wellFormed`. */
export function digestOfText(text: string): Digest {
  if (!isWellFormed(text)) throw new TypeError('lone surrogate: the text has no UTF-8 form')
  return prefixed(sha256(text))
}

/** SHA-256 of `bytes`. */
export function digestOfBytes(bytes: Uint8Array): Digest {
  return prefixed(sha256(bytes))
}

function prefixed(hash: Uint8Array): Digest {
  return `sha256:${bytesToHex(hash)}` as Digest
}

/** Number of bytes of `text` in UTF-8; a lone surrogate counts as the three bytes of U+FFFD. */
export function utf8Bytes(text: string): number {
  let bytes = 0
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return bytes
}

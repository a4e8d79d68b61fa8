import type { Fields } from './fields.ts'

/** Where a message's body ends. */
export type Framing = { readonly is: 'length'; readonly bytes: number } | { readonly is: 'chunked' } | { readonly is: 'until-close' }

/** Fewer than 2^53, so that a length is a number that counts. */
const lengthDigitsMax = 15

/**
 * How a request's body is framed; null when it cannot be told for certain. H2. Exactly one of the two ways may be there, said once: both
 * lengths, a list of lengths, a coding other than `chunked`, or a coding in HTTP/1.0 are what smuggling is made of.
 * Source: RFC 9112, 6.1 and 6.3
 */
export function requestFraming(fields: Fields, minor: 0 | 1): Framing | null {
  const coded = transferCoding(fields, minor)
  if (coded === null) return null
  if (coded) return { is: 'chunked' }
  const length = contentLength(fields)
  return length === null ? null : { is: 'length', bytes: length ?? 0 }
}

/** How a reply's body is framed; null when it cannot be told for certain. `status`: that of the reply, to a request that is no HEAD. */
export function responseFraming(status: number, fields: Fields, minor: 0 | 1): Framing | null {
  const coded = transferCoding(fields, minor)
  const length = coded === true ? undefined : contentLength(fields)
  if (coded === null || length === null) return null
  if (status < 200 || status === 204 || status === 304) return { is: 'length', bytes: 0 }
  if (coded) return { is: 'chunked' }
  return length === undefined ? { is: 'until-close' } : { is: 'length', bytes: length }
}

/** Whether the body is chunked; null: the field is there and is not exactly that, or a length stands beside it. */
function transferCoding(fields: Fields, minor: 0 | 1): boolean | null {
  if (!fields.has('transfer-encoding')) return false
  const only = fields.only('transfer-encoding')
  return only?.toLowerCase() === 'chunked' && minor === 1 && !fields.has('content-length') ? true : null
}

/** The told length; undefined: none is told; null: it is no plain number, or told more than once. */
function contentLength(fields: Fields): number | null | undefined {
  const only = fields.only('content-length')
  if (only === null) return fields.has('content-length') ? null : undefined
  return only.length <= lengthDigitsMax && /^[0-9]+$/.test(only) ? Number(only) : null
}

import { limits } from '../../src-preload/contract/limits.ts'
import { err, ok, type Result } from '../../src-preload/contract/result.ts'
import { countOf } from '../core/preview/json-shape.ts'
import { refusal, type Refusal } from './errors.ts'
import type { RequestHead } from './http1/client-connection.ts'
import { repeatedKey } from './repeated-key.ts'

/** A request's bytes, kept as they came, and its parsed form for the checks. */
export interface RequestBody { readonly bytes: Buffer; readonly json: Readonly<Record<string, unknown>> }

// It keeps nothing between two bodies: each is decoded whole.
const utf8 = new TextDecoder('utf-8', { fatal: true })

const tooLarge = refusal(413, 'request_too_large', `The request is larger than ${limits.proxyBodyBytesMax / 1024 / 1024} MiB.`)

/** Why a body is not even read; null if it is: a coding that we do not unpack, or more bytes told than are taken. */
export function bodyRefused({ fields, bodyBytes }: RequestHead): Refusal | null {
  if (fields.all('content-encoding').some((coding) => coding !== 'identity')) return refusal(415, 'encoding_unsupported', 'Send the request body without a content encoding.')
  return (bodyBytes ?? 0) > limits.proxyBodyBytesMax ? tooLarge : null
}

/** How many tokens of output a request asks for at most, in any of the names that the APIs have for it; null: it says nothing of it. */
export function outputTokensAsked({ json }: RequestBody): number | null {
  const asked = ['max_completion_tokens', 'max_output_tokens', 'max_tokens'].map((name) => countOf(json[name])).filter((count) => count !== null)
  return asked.length === 0 ? null : Math.max(...asked)
}

/** A whole body, parsed as a JSON object (else 400). */
export function parseBody(bytes: Buffer | 'too-large'): Result<RequestBody, Refusal> {
  if (bytes === 'too-large') return err(tooLarge)
  try {
    const text = utf8.decode(bytes)
    const json: unknown = JSON.parse(text)
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) {
      const repeated = repeatedKey(text)
      if (repeated !== null) return err(refusal(400, 'repeated_key', `The request says “${repeated.slice(0, 50)}” twice, which two readers would read differently.`))
      return ok({ bytes, json: json as Record<string, unknown> })
    }
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error
  }
  return err(refusal(400, 'invalid_json', 'The request body is not a JSON object in UTF-8.'))
}

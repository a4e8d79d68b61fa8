import type { IncomingMessage } from 'node:http'
import { limits } from '../../src-preload/contract/limits.ts'
import { err, ok, type Result } from '../../src-preload/contract/result.ts'
import { countOf } from '../core/preview/json-shape.ts'
import { refusal, type Refusal } from './errors.ts'
import { repeatedKey } from './repeated-key.ts'

/** A request's bytes, kept as they came, and its parsed form for the checks. */
export interface RequestBody { readonly bytes: Buffer; readonly json: Readonly<Record<string, unknown>> }

const tooLarge = refusal(413, 'request_too_large', `The request is larger than ${limits.proxyBodyBytesMax / 1024 / 1024} MiB.`)

/**
 * Reads the whole body (at most 32 MiB, else 413) and parses it as a JSON object (else 400). The rest of a body that is
 * too large is thrown away as it comes, so that the client can read the answer. A client that goes away gives null.
 */
export async function readBody(request: IncomingMessage): Promise<Result<RequestBody, Refusal> | null> {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') return discard(request, refusal(415, 'encoding_unsupported', 'Send the request body without a content encoding.'))
  if (Number(request.headers['content-length'] ?? 0) > limits.proxyBodyBytesMax) return discard(request, tooLarge)
  const whole = await collect(request)
  if (whole === 'gone') return null
  return whole === 'too-large' ? discard(request, tooLarge) : parse(whole)
}

/** The whole body; `gone` when the client's connection ended before it. */
function collect(request: IncomingMessage): Promise<Buffer | 'gone' | 'too-large'> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const take = (chunk: Buffer): void => {
      bytes += chunk.length
      chunks.push(chunk)
      if (bytes <= limits.proxyBodyBytesMax) return
      request.off('data', take)
      resolve('too-large')
    }
    request.on('data', take)
    request.once('end', () => { resolve(chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks, bytes)) })
    request.once('close', () => { resolve('gone') })
    // The one thing that fails here is the client's connection, and `close` tells it.
    request.on('error', () => undefined)
  })
}

/** How many tokens of output a request asks for at most, in any of the names that the APIs have for it; null: it says nothing of it. */
export function outputTokensAsked({ json }: RequestBody): number | null {
  const asked = ['max_completion_tokens', 'max_output_tokens', 'max_tokens'].map((name) => countOf(json[name])).filter((count) => count !== null)
  return asked.length === 0 ? null : Math.max(...asked)
}

function parse(bytes: Buffer): Result<RequestBody, Refusal> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
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

function discard(request: IncomingMessage, refused: Refusal): Result<RequestBody, Refusal> {
  request.resume()
  return err(refused)
}

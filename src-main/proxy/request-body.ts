import { isAscii, isUtf8 } from 'node:buffer'
import { limits } from '../../src-preload/contract/limits.ts'
import { err, ok, type Result } from '../../src-preload/contract/result.ts'
import { countOf } from '../core/preview/json-shape.ts'
import { refusal, type Refusal } from './errors.ts'
import type { RequestHead } from './http1/client-connection.ts'
import { membersWithin, parsedOrNull } from './json-text.ts'
import { repeatedKey } from './repeated-key.ts'

/** A request's bytes, kept as they came, and its parsed form for the checks; both for as long as it may have to be sent, or refused, another way. */
export class RequestBody {
  #bytes: Buffer
  #json: Readonly<Record<string, unknown>>

  constructor(bytes: Buffer, json: Readonly<Record<string, unknown>>) {
    this.#bytes = bytes
    this.#json = json
  }

  get bytes(): Buffer {
    return this.#bytes
  }

  get json(): Readonly<Record<string, unknown>> {
    return this.#json
  }

  /** Its answer has begun: nobody looks at it again. A stream can last for minutes, and a body be as large as a context. */
  letGo(): void {
    this.#bytes = noBytes
    this.#json = {}
  }
}

const noBytes = Buffer.alloc(0)

const tooLarge = refusal(413, 'request_too_large', `The request is larger than ${limits.proxyBodyBytesMax / 1024 / 1024} MiB.`)

const tooMany = refusal(503, 'proxy_busy', 'Too many large requests are being read at the same time. Try again in a moment.')

/** While one body is read nothing else is served, so that what takes long to read is not: a call of any model has far fewer values. */
const bounds = { valuesMax: limits.proxyBodyValuesMax, depthMax: limits.proxyBodyDepthMax }
const tooComplex = refusal(400, 'request_too_complex', `The request holds more than ${limits.proxyBodyValuesMax} values, or nests deeper than ${limits.proxyBodyDepthMax} levels.`)

/** Why a body is not even read; null if it is: a coding that we do not unpack, or more bytes told than are taken. */
export function bodyRefused({ fields, bodyBytes }: RequestHead): Refusal | null {
  if (fields.has('content-encoding') && fields.all('content-encoding').some((coding) => coding !== 'identity')) return refusal(415, 'encoding_unsupported', 'Send the request body without a content encoding.')
  return (bodyBytes ?? 0) > limits.proxyBodyBytesMax ? tooLarge : null
}

/** A name of the other API is none: a vendor may pass over it. */
const outputNames = { chat: ['max_completion_tokens', 'max_tokens'], responses: ['max_output_tokens'] } as const

/** More answers than any vendor gives to one request. */
const choicesMax = 1_000_000

/**
 * What a request asks for at most: tokens of output for each answer, null where it says nothing of it, or 0, which vendors take for nothing;
 * and how many answers, where it is more than one.
 */
export function outputAsked(api: 'chat' | 'responses', { json }: Pick<RequestBody, 'json'>): { readonly outputTokensAsked: number | null; readonly choices?: number } {
  let most = 0
  for (const name of outputNames[api]) most = Math.max(most, countOf(json[name]) ?? 0)
  const choices = api === 'chat' ? choicesAsked(json['n']) : 1
  return { outputTokensAsked: most === 0 ? null : most, ...(choices === 1 ? {} : { choices }) }
}

/** Some vendors take a number in quotes, too. */
function choicesAsked(n: unknown): number {
  const count = typeof n === 'number' || typeof n === 'string' ? Math.ceil(Number(n)) : 1
  return count > 1 ? Math.min(count, choicesMax) : 1
}

/** A whole body, parsed as a JSON object (else 400). One with very many values or levels is refused unread. */
export function parseBody(bytes: Buffer | 'too-large' | 'too-many'): Result<RequestBody, Refusal> {
  if (bytes === 'too-large') return err(tooLarge)
  if (bytes === 'too-many') return err(tooMany)
  const text = textOf(bytes)
  if (text === null) return err(noObject)
  const members = membersWithin(text, bounds)
  if (members === null) return err(tooComplex)
  const json = parsedOrNull(text)
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return err(noObject)
  const repeated = repeatedKey(text, json, members)
  if (repeated !== null) return err(refusal(400, 'repeated_key', `The request says “${repeated.slice(0, 50)}” twice, which two readers would read differently.`))
  return ok(new RequestBody(bytes, json as Record<string, unknown>))
}

const noObject = refusal(400, 'invalid_json', 'The request body is not a JSON object in UTF-8.')

/** The text that these bytes are in UTF-8, without a byte order mark; null where they are none. Most are ASCII, which need only be copied. */
function textOf(bytes: Buffer): string | null {
  if (isAscii(bytes)) return bytes.toString('latin1')
  if (!isUtf8(bytes)) return null
  const text = bytes.toString('utf8')
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

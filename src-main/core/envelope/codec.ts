import type { z } from 'zod'
import type { Digest } from '../../../src-preload/contract/ids.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import { canonicalJson, digestOfText, isWellFormed, utf8Bytes } from '../digest.ts'
import { refusal, type Refusal, type RefusalReason } from './refusal.ts'
import { envelopeKinds, envelopeSchemas, type Envelope, type EnvelopeKind, type EnvelopePayload } from './schema.ts'
import { parseStrict } from './strict-json.ts'

export type { Envelope, EnvelopeKind, EnvelopePayload } from './schema.ts'

/** An envelope before it was checked: the fields of version 1, with any kind's payload. */
export interface EnvelopeDraft {
  readonly version: 1
  readonly kind: EnvelopeKind
  readonly eventId: string
  readonly taskId: string
  readonly turnId: string | null
  readonly inReplyTo: string | null
  readonly generation: number
  readonly seq: number
  readonly inputVersion: number
  readonly inputDigest: string | null
  readonly payload: EnvelopePayload[EnvelopeKind]
}

/** Thrown by `encodeEnvelope`: the host made an envelope that no receiver would take. Check first where the content is not ours. */
export class EnvelopeRefused extends Error {
  readonly refusal: Refusal
  constructor(because: Refusal) {
    super(`envelope refused: ${because.reason} ${because.path}: ${because.detail}`)
    this.refusal = because
  }
}

/** Nesting of an envelope's JSON, at most; the deepest of version 1 is 4. */
const depthMax = 8

/**
 * The one serialisation of an envelope, RFC 8785, and the SHA-256 of its UTF-8 bytes. What it returns, `decodeEnvelope` accepts.
 * Throws `EnvelopeRefused` when the draft breaks a limit or rule.
 */
export function encodeEnvelope(draft: EnvelopeDraft): { readonly text: string; readonly digest: Digest } {
  const checked = checkEnvelope(draft)
  if (!checked.ok) throw new EnvelopeRefused(checked.error)
  const text = canonicalJson(checked.value)
  return { text, digest: digestOfText(text) }
}

/**
 * Reads an envelope from the bytes that arrived. Order: size, UTF-8, strict JSON, canonical form, version, kind, fields, payload sizes;
 * the first that does not hold is the refusal. Accepts only the canonical bytes, so that one envelope has one digest.
 */
export function decodeEnvelope(bytes: Uint8Array): Result<Envelope, Refusal> {
  if (bytes.length > limits.envelopeBytesMax) return err(refusal('too-large', '', `${bytes.length} bytes, at most ${limits.envelopeBytesMax}`))
  const text = utf8(bytes)
  if (text === null) return err(refusal('not-utf8', '', 'the bytes are not UTF-8'))
  const parsed = parseStrict(text, depthMax)
  if (!parsed.ok) return parsed
  if (canonicalJson(parsed.value) !== text) return err(refusal('not-canonical', '', 'not the canonical serialisation (RFC 8785) of this value'))
  return checkEnvelope(parsed.value)
}

/** Whether `value` is an envelope that may be encoded: version, kind, fields and sizes. Returns it typed; never throws. */
export function checkEnvelope(value: unknown): Result<Envelope, Refusal> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return err(refusal('wrong-type', '', 'an envelope is an object'))
  const { version, kind } = value as { readonly version?: unknown; readonly kind?: unknown }
  if (version !== 1) return err(refusal('unknown-version', 'version', 'this app speaks version 1'))
  const known = envelopeKinds.find((one) => one === kind)
  if (known === undefined) return err(refusal('unknown-kind', 'kind', 'not a kind of version 1'))
  const checked = envelopeSchemas[known].safeParse(value)
  if (!checked.success) return err(issueRefusal(checked.error.issues[0], value))
  return checkSizes(checked.data)
}

function checkSizes(envelope: Envelope): Result<Envelope, Refusal> {
  // A request either begins the work, or corrects the result that it replies to, in a turn of its own.
  if (envelope.kind === 'request' && (envelope.turnId === null) !== (envelope.inReplyTo === null)) return err(refusal('missing-field', envelope.turnId === null ? 'turnId' : 'inReplyTo', details['missing-field'] ?? ''))
  const surrogates = firstLoneSurrogate(envelope.payload, 'payload')
  if (surrogates !== null) return err(refusal('lone-surrogate', surrogates, 'half of a surrogate pair'))
  const payloadBytes = utf8Bytes(canonicalJson(envelope.payload))
  if (envelope.kind === 'request' && payloadBytes > limits.taskInputBytesMax) return err(refusal('input-too-large', 'payload', `${payloadBytes} bytes, at most ${limits.taskInputBytesMax}`))
  if (envelope.kind === 'result' && payloadBytes > limits.resultBytesMax) return err(refusal('result-too-large', 'payload', `${payloadBytes} bytes, at most ${limits.resultBytesMax}`))
  const bytes = utf8Bytes(canonicalJson(envelope))
  if (bytes > limits.envelopeBytesMax) return err(refusal('too-large', '', `${bytes} bytes, at most ${limits.envelopeBytesMax}`))
  return ok(envelope)
}

function firstLoneSurrogate(value: unknown, path: string): string | null {
  if (typeof value === 'string') return isWellFormed(value) ? null : path
  if (typeof value !== 'object' || value === null) return null
  for (const [name, item] of Object.entries(value)) {
    const found = firstLoneSurrogate(item, `${path}.${name}`)
    if (found !== null) return found
  }
  return null
}

function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (notUtf8) {
    if (notUtf8 instanceof TypeError) return null
    throw notUtf8
  }
}

const reasons: Readonly<Partial<Record<z.core.$ZodIssue['code'], RefusalReason>>> = { unrecognized_keys: 'unknown-field', invalid_type: 'wrong-type', too_big: 'too-long' }
const details: Readonly<Partial<Record<RefusalReason, string>>> = { 'unknown-field': 'a field that version 1 does not have', 'wrong-type': 'a value of another type', 'missing-field': 'a required field is not there', 'bad-value': 'a value that is not allowed here' }

/** In our words: a checker's message may quote what was sent. */
function issueRefusal(issue: z.core.$ZodIssue | undefined, value: object): Refusal {
  if (issue === undefined) return refusal('bad-value', '', 'not an envelope')
  const missing = issue.path.reduce<unknown>((inner, name) => (inner as Record<PropertyKey, unknown> | undefined)?.[name], value) === undefined
  const reason = missing ? 'missing-field' : (reasons[issue.code] ?? 'bad-value')
  const detail = issue.code === 'too_big' ? `more than ${String(issue.maximum)}` : (details[reason] ?? reason)
  return refusal(reason, issue.path.map(String).join('.'), detail)
}

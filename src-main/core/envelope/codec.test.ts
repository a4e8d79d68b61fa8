import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../digest.ts'
import { checkEnvelope, decodeEnvelope, encodeEnvelope, EnvelopeRefused, type EnvelopeDraft } from './codec.ts'
import { refusal, refusalReasons } from './refusal.ts'
import { envelopeKinds, payloadSchemas } from './schema.ts'

interface Vectors {
  readonly good: readonly { readonly name: string; readonly text: string; readonly digest: string }[]
  readonly bad: readonly { readonly name: string; readonly text: string; readonly reason: string }[]
  readonly badBytes: readonly { readonly name: string; readonly hex: string; readonly reason: string }[]
  readonly rfc8785: readonly { readonly name: string; readonly input: string; readonly hex: string }[]
  readonly numbers: readonly { readonly bits: string; readonly text: string | null }[]
}
const vectors = JSON.parse(readFileSync(join(import.meta.dirname, 'vectors.json'), 'utf8')) as Vectors
const good = (name: string): EnvelopeDraft => JSON.parse(vectors.good.find((vector) => vector.name === name)?.text ?? '') as EnvelopeDraft

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'utf8'))

describe('envelope vectors', () => {
  it.each(vectors.good)('accepts and reproduces: $name', ({ text, digest }) => {
    const decoded = decodeEnvelope(bytesOf(text))
    if (!decoded.ok) throw new Error(JSON.stringify(decoded.error))
    expect(encodeEnvelope(decoded.value)).toEqual({ text, digest })
  })

  it.each(vectors.bad)('refuses: $name', ({ text, reason }) => {
    expect(decodeEnvelope(bytesOf(text))).toMatchObject({ ok: false, error: { reason } })
  })

  it.each(vectors.badBytes)('refuses: $name', ({ hex, reason }) => {
    expect(decodeEnvelope(new Uint8Array(Buffer.from(hex, 'hex')))).toMatchObject({ ok: false, error: { reason } })
  })

  const request = good('request')
  const result = good('result')
  const large = [
    { name: 'progress over 2,000 characters', draft: { ...good('progress'), payload: { text: 'x'.repeat(2_001) } }, reason: 'too-long' },
    { name: 'input over 16 KiB', draft: { ...request, payload: { ...request.payload, excerpts: ['a', 'b', 'c'].map((excerpt) => ({ id: excerpt, content: 'x'.repeat(8_000) })) } }, reason: 'input-too-large' },
    { name: 'input over 16 KiB in bytes, not in characters', draft: { ...request, payload: { ...request.payload, requirement: '€'.repeat(6_000) } }, reason: 'input-too-large' },
    { name: 'result over 16 KiB', draft: { ...result, payload: { ...result.payload, summary: '€'.repeat(4_000), testCommand: '€'.repeat(4_000) } }, reason: 'result-too-large' },
  ]
  it.each(large)('refuses: $name', ({ draft, reason }) => {
    expect(decodeEnvelope(bytesOf(canonicalJson(draft)))).toMatchObject({ ok: false, error: { reason } })
    expect(checkEnvelope(draft)).toMatchObject({ ok: false, error: { reason } })
  })

  it('refuses what is over 32 KiB before it looks at it', () => {
    expect(decodeEnvelope(new Uint8Array(32 * 1024 + 1).fill(0xff))).toMatchObject({ ok: false, error: { reason: 'too-large' } })
    expect(decodeEnvelope(new Uint8Array(32 * 1024).fill(0xff))).toMatchObject({ ok: false, error: { reason: 'not-utf8' } })
    expect(decodeEnvelope(bytesOf('['.repeat(32 * 1024)))).toMatchObject({ ok: false, error: { reason: 'too-deep' } })
  })

  it('cover every kind, and every reason that one envelope alone can meet', () => {
    expect(new Set(vectors.good.map(({ text }) => (JSON.parse(text) as { kind: string }).kind))).toEqual(new Set(envelopeKinds))
    expect(new Set([...vectors.bad, ...vectors.badBytes, ...large, { reason: 'too-large' }].map(({ reason }) => reason))).toEqual(new Set(refusalReasons.filter((reason) => reason !== 'rate-exceeded')))
  })

  it.each(vectors.rfc8785)('RFC 8785, $name', ({ input, hex }) => {
    expect(Buffer.from(canonicalJson(JSON.parse(input)), 'utf8').toString('hex')).toBe(hex)
  })

  it.each(vectors.numbers)('RFC 8785, appendix B: $bits', ({ bits, text }) => {
    const number = Buffer.from(bits, 'hex').readDoubleBE()
    if (text === null) expect(() => canonicalJson(number)).toThrow()
    else expect(canonicalJson(number)).toBe(text)
  })
})

// What holds for any bytes and any envelope is tried in build/fuzz.
describe('envelope codec', () => {
  it('knows a payload for every kind', () => {
    expect(Object.keys(payloadSchemas).sort()).toEqual([...envelopeKinds].sort())
  })

  it('says nothing of the refused text in its refusal', () => {
    const refused = checkEnvelope({ ...good('request'), 'hunter2-name': 'hunter2' })
    expect(refused.ok).toBe(false)
    expect(JSON.stringify(refused)).not.toContain('hunter2')
  })

  it('throws at an envelope of ours that no receiver would take', () => {
    const draft = good('answer')
    expect(() => encodeEnvelope({ ...draft, payload: { answer: 'a\ud800' } })).toThrow(EnvelopeRefused)
    expect(() => encodeEnvelope({ ...draft, inReplyTo: null })).toThrow(EnvelopeRefused)
    expect(checkEnvelope({ ...draft, payload: { answer: 'x'.repeat(8_001) } })).toMatchObject({ ok: false, error: { reason: 'too-long', path: 'payload.answer' } })
  })
})

it('a request begins the work, or replies in a turn: not the one without the other', () => {
  const request = good('request')
  const [turnId, inReplyTo] = ['turn_1', 'env_0']
  expect([checkEnvelope({ ...request, turnId: null, inReplyTo: null }).ok, checkEnvelope({ ...request, turnId, inReplyTo }).ok]).toEqual([true, true])
  expect(checkEnvelope({ ...request, turnId, inReplyTo: null })).toEqual({ ok: false, error: { reason: 'missing-field', path: 'inReplyTo', detail: 'a required field is not there' } })
  expect(checkEnvelope({ ...request, turnId: null, inReplyTo })).toEqual({ ok: false, error: { reason: 'missing-field', path: 'turnId', detail: 'a required field is not there' } })
})

describe('a refusal', () => {
  const told = (value: unknown): unknown => { const checked = checkEnvelope(value); return checked.ok ? null : checked.error }
  const request = good('request')

  it.each<[string, unknown, string, string, string]>([
    ['what is no object', 'text', 'wrong-type', '', 'an envelope is an object'], ['nothing', null, 'wrong-type', '', 'an envelope is an object'], ['a list', [], 'wrong-type', '', 'an envelope is an object'],
    ['another version', { ...request, version: 2 }, 'unknown-version', 'version', 'this app speaks version 1'], ['no version', {}, 'unknown-version', 'version', 'this app speaks version 1'],
    ['another kind', { ...request, kind: 'gossip' }, 'unknown-kind', 'kind', 'not a kind of version 1'], ['a kind that objects have', { ...request, kind: 'toString' }, 'unknown-kind', 'kind', 'not a kind of version 1'],
    ['another field', { ...request, more: 1 }, 'unknown-field', '', 'a field that version 1 does not have'], ['another type', { ...request, seq: '1' }, 'wrong-type', 'seq', 'a value of another type'], ['a missing field', { ...request, eventId: undefined }, 'missing-field', 'eventId', 'a required field is not there'],
    ['a value that is not allowed', { ...request, eventId: '-' }, 'bad-value', 'eventId', 'a value that is not allowed here'], ['a missing choice', { ...good('failure'), payload: { message: 'm' } }, 'missing-field', 'payload.code', 'a required field is not there'],
    ['too long a text', { ...good('progress'), payload: { text: 'x'.repeat(2_001) } }, 'too-long', 'payload.text', 'more than 2000'],
    ['half a character, however deep', { ...request, payload: { ...request.payload, excerpts: [{ id: 'a', content: 'x\udc00' }] } }, 'lone-surrogate', 'payload.excerpts.0.content', 'half of a surrogate pair'],
    ['too much input', { ...request, payload: { requirement: 'x'.repeat(12_000), goal: 'g', scope: '', criteria: [], testCommand: 't', excerpts: [{ id: 'a', content: 'x'.repeat(8_000) }] } }, 'input-too-large', 'payload', '20109 bytes, at most 16384'],
    ['too much of a result', { ...good('result'), payload: { ...good('result').payload, summary: '€'.repeat(4_000), testCommand: '€'.repeat(4_000) } }, 'result-too-large', 'payload', expect.stringMatching(/^2\d{4} bytes, at most 16384$/)],
  ])('of %s says so and where, in our words', (_what, value, reason, path, detail) => { expect(told(value)).toEqual({ reason, path, detail }) })

  it('of bytes says so as well', () => {
    const of = (bytes: Uint8Array): unknown => { const decoded = decodeEnvelope(bytes); return decoded.ok ? null : decoded.error }
    expect(of(new Uint8Array(32_769))).toEqual({ reason: 'too-large', path: '', detail: '32769 bytes, at most 32768' })
    expect(of(new Uint8Array([0xc3]))).toEqual({ reason: 'not-utf8', path: '', detail: 'the bytes are not UTF-8' })
    expect(of(bytesOf(`\ufeff${canonicalJson(request)}`))).toMatchObject({ reason: 'not-json' })
    expect(of(bytesOf(`${canonicalJson(request)} `))).toEqual({ reason: 'not-canonical', path: '', detail: 'not the canonical serialisation (RFC 8785) of this value' })
    expect(of(bytesOf(`${'['.repeat(9)}${']'.repeat(9)}`))).toMatchObject({ reason: 'too-deep' })
    expect(of(bytesOf(`${'['.repeat(8)}${']'.repeat(8)}`))).toMatchObject({ reason: 'wrong-type' })
  })

  it('is short, whatever was sent', () => {
    expect(refusal('bad-value', 'p'.repeat(500), 'd'.repeat(500))).toEqual({ reason: 'bad-value', path: 'p'.repeat(200), detail: 'd'.repeat(300) })
  })

  it('of an envelope of ours is thrown with its reason and place', () => {
    expect(() => encodeEnvelope({ ...request, seq: 0 })).toThrow('envelope refused: bad-value seq: a value that is not allowed here')
    try {
      encodeEnvelope({ ...request, seq: 0 })
      expect.unreachable()
    } catch (error) {
      expect(error instanceof EnvelopeRefused && error.refusal).toEqual({ reason: 'bad-value', path: 'seq', detail: 'a value that is not allowed here' })
    }
  })

  it('of an envelope that is too large as a whole is given before it is sent, and not at the limit itself', () => {
    const whole = (length: number): unknown => ({ ...good('question'), payload: { question: 'x'.repeat(length), options: Array.from({ length: 20 }, () => '€'.repeat(500)) } })
    const room = 32_768 - Buffer.byteLength(canonicalJson(whole(0)))
    expect([told(whole(room)), told(whole(room + 1))]).toEqual([null, { reason: 'too-large', path: '', detail: '32769 bytes, at most 32768' }])
  })

  it('of a result is not given at the limit itself, in bytes', () => {
    const whole = (length: number): EnvelopeDraft => ({ ...good('result'), payload: { ...good('result').payload, summary: '€'.repeat(4_000), testCommand: 'x'.repeat(length) } })
    const room = 16_384 - Buffer.byteLength(canonicalJson(whole(0).payload))
    expect([told(whole(room)), told(whole(room + 1))]).toEqual([null, { reason: 'result-too-large', path: 'payload', detail: '16385 bytes, at most 16384' }])
  })

  it('is not given at the limit itself, in bytes', () => {
    const input = (requirement: number): unknown => ({ ...request, payload: { requirement: 'x'.repeat(requirement), goal: 'g', scope: '', criteria: [], testCommand: 't', excerpts: [{ id: 'a', content: 'x'.repeat(8_000) }] } })
    const room = 16_384 - (20_109 - 12_000)
    expect([told(input(room)), told(input(room + 1))]).toEqual([null, { reason: 'input-too-large', path: 'payload', detail: '16385 bytes, at most 16384' }])
  })
})

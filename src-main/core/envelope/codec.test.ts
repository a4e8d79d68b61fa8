import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, digestOfText } from '../digest.ts'
import { checkEnvelope, decodeEnvelope, encodeEnvelope, EnvelopeRefused, type EnvelopeDraft } from './codec.ts'
import { refusalReasons } from './refusal.ts'
import { envelopeKinds, payloadSchemas, type EnvelopeKind } from './schema.ts'

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

const text = (max: number): fc.Arbitrary<string> => fc.string({ unit: 'grapheme', minLength: 1, maxLength: max }).filter((value) => value.length <= max)
const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,20}$/)
const digest = fc.stringMatching(/^[0-9a-f]{64}$/).map((hex) => `sha256:${hex}`)
const payloads: Record<EnvelopeKind, fc.Arbitrary<unknown>> = {
  request: fc.record({ requirement: text(200), goal: text(50), scope: fc.string({ maxLength: 20, unit: 'grapheme-ascii' }), criteria: fc.array(text(30), { maxLength: 4 }), testCommand: text(30), excerpts: fc.array(fc.record({ id: text(10), content: text(60) }), { maxLength: 3 }) }),
  question: fc.record({ question: text(200), options: fc.array(text(30), { maxLength: 3 }) }),
  answer: fc.record({ answer: text(300) }),
  progress: fc.record({ text: text(300) }),
  result: fc.record({ summary: text(100), testCommand: fc.option(text(40)), exitCode: fc.option(fc.integer()), logDigest: fc.option(digest), treeDigest: digest, diffDigest: digest, filesChanged: fc.nat(100) }),
  failure: fc.record({ code: fc.constantFrom('internal', 'disk-full'), message: text(100) }),
  cancel: fc.record({ cause: text(100) }),
  'cancel-observed': fc.record({ method: fc.constantFrom('process-exited', 'never-started'), checkedProcesses: fc.nat(), detail: text(20) }),
}
const anyEnvelope = fc.constantFrom(...envelopeKinds).chain((kind) => fc.record({
  version: fc.constant(1 as const), kind: fc.constant(kind), eventId: id, taskId: id, turnId: id, inReplyTo: id, generation: fc.integer({ min: 1, max: 1_000_000 }), seq: fc.integer({ min: 1 }),
  inputVersion: fc.integer({ min: 1 }), inputDigest: digest, payload: payloads[kind],
})) as fc.Arbitrary<EnvelopeDraft>

describe('envelope codec', () => {
  it('knows a payload for every kind', () => {
    expect(Object.keys(payloadSchemas).sort()).toEqual([...envelopeKinds].sort())
  })

  it('gives back every envelope that it encodes, with the digest of its bytes', () => {
    fc.assert(fc.property(anyEnvelope, (envelope) => {
      const encoded = encodeEnvelope(envelope)
      expect(decodeEnvelope(bytesOf(encoded.text))).toEqual({ ok: true, value: envelope })
      expect(encoded.digest).toBe(digestOfText(encoded.text))
    }), { numRuns: 300 })
  })

  it('accepts no second spelling of an envelope', () => {
    fc.assert(fc.property(anyEnvelope, fc.nat(), fc.nat(4), (envelope, at, how) => {
      const { text: canonical } = encodeEnvelope(envelope)
      const twin = Buffer.from(twins[how]?.(canonical) ?? canonical)
      if (how === 4) twin[at % twin.length] = (twin[at % twin.length] ?? 0) ^ (1 << (at % 8))
      fc.pre(!twin.equals(Buffer.from(canonical)))
      const decoded = decodeEnvelope(twin)
      // Whatever is accepted is its own canonical form: another envelope altogether, with another digest.
      if (decoded.ok) expect(Buffer.from(encodeEnvelope(decoded.value).text).equals(twin)).toBe(true)
      if (how < 4) expect(decoded.ok).toBe(false)
    }), { numRuns: 500 })
  })

  it('never throws and never hangs on any bytes', () => {
    fc.assert(fc.property(fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.json().map(bytesOf), fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\u', 'd800', '1', 'e', '-', ' ') }).map(bytesOf)), (bytes) => {
      const decoded = decodeEnvelope(bytes)
      expect(decoded.ok || refusalReasons.includes(decoded.error.reason)).toBe(true)
    }), { numRuns: 1_000 })
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

/** Ways to spell the same JSON differently; number 4 flips a bit instead. */
const twins: readonly ((canonical: string) => string)[] = [
  (canonical) => `${canonical} `,
  (canonical) => canonical.replace('"kind":', '"kind": '),
  (canonical) => canonical.replace(/"version":1/, '"version":1,"version":1'),
  (canonical) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(canonical) as object).reverse())),
]

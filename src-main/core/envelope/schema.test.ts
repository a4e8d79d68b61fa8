import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkEnvelope } from './codec.ts'
import { envelopeKinds, type EnvelopeKind } from './schema.ts'

const { good } = JSON.parse(readFileSync(join(import.meta.dirname, 'vectors.json'), 'utf8')) as { readonly good: readonly { readonly text: string }[] }
type Json = Readonly<Record<string, unknown>>
const sample = (kind: EnvelopeKind): Json => good.map(({ text }) => JSON.parse(text) as Json).find((envelope) => envelope['kind'] === kind) ?? {}
const payloadOf = (kind: EnvelopeKind): Json => sample(kind)['payload'] as Json
const x = (length: number): string => 'x'.repeat(length)
const list = (length: number, item: unknown): readonly unknown[] => Array.from({ length }, () => item)
/** Why an envelope with another payload is refused, and where; null: it is not. */
const why = (kind: EnvelopeKind, change: Json): string | null => {
  const checked = checkEnvelope({ ...sample(kind), payload: { ...payloadOf(kind), ...change } })
  return checked.ok ? null : `${checked.error.reason} ${checked.error.path}`
}

/** Field, its shortest and longest, and one beyond either end where there is one. */
const texts: readonly (readonly [EnvelopeKind, string, number, number])[] = [
  ['request', 'requirement', 1, 12_000], ['request', 'goal', 1, 2_000], ['request', 'scope', 0, 2_000], ['request', 'testCommand', 1, 1_000], ['question', 'question', 1, 4_000], ['answer', 'answer', 1, 8_000], ['progress', 'text', 1, 2_000],
  ['result', 'summary', 0, 4_000], ['result', 'testCommand', 0, 4_096], ['failure', 'message', 1, 2_000], ['cancel', 'cause', 1, 500], ['cancel-observed', 'detail', 0, 500],
]

describe('a text of a payload', () => {
  it.each(texts)('%s.%s is from %d to %d characters long', (kind, field, min, max) => {
    expect([why(kind, { [field]: x(min) }), why(kind, { [field]: x(max) })]).toEqual([null, null])
    expect(why(kind, { [field]: x(max + 1) })).toBe(`too-long payload.${field}`)
    if (min > 0) expect(why(kind, { [field]: '' })).toBe(`bad-value payload.${field}`)
    expect(why(kind, { [field]: 1 })).toBe(`wrong-type payload.${field}`)
  })
})

describe('a list of a payload', () => {
  it.each<[EnvelopeKind, string, unknown]>([['request', 'criteria', 'x'], ['request', 'excerpts', { id: 'a', content: '' }], ['question', 'options', '']])('%s.%s holds at most 20', (kind, field, item) => {
    expect([why(kind, { [field]: [] }), why(kind, { [field]: list(20, item) }), why(kind, { [field]: list(21, item) })]).toEqual([null, null, `too-long payload.${field}`])
  })

  it.each<[EnvelopeKind, string, unknown, unknown, string]>([
    ['request', 'criteria', x(1_000), x(1_001), 'too-long payload.criteria.0'], ['request', 'criteria', 'x', '', 'bad-value payload.criteria.0'], ['question', 'options', x(500), x(501), 'too-long payload.options.0'],
    ['request', 'excerpts', { id: x(200), content: '' }, { id: x(201), content: '' }, 'too-long payload.excerpts.0.id'], ['request', 'excerpts', { id: 'x', content: '' }, { id: '', content: '' }, 'bad-value payload.excerpts.0.id'],
    ['request', 'excerpts', { id: 'a', content: x(8_000) }, { id: 'a', content: x(8_001) }, 'too-long payload.excerpts.0.content'], ['request', 'excerpts', { id: 'a', content: '' }, { id: 'a', content: '', path: '/etc' }, 'unknown-field payload.excerpts.0'],
  ])('%s.%s takes %.20j and not what is beyond it: %#', (kind, field, within, beyond, told) => {
    expect([why(kind, { [field]: [within] }), why(kind, { [field]: [beyond] })]).toEqual([null, told])
  })
})

describe('a number of a payload', () => {
  it.each<[EnvelopeKind, string, readonly unknown[], readonly unknown[]]>([
    ['result', 'exitCode', [null, 0, -1, 255], [0.5, '0']], ['result', 'filesChanged', [0, 50_000], [-1, 50_001, 1.5]], ['cancel-observed', 'checkedProcesses', [0, 10_000], [-1, 0.5]],
    ['result', 'logDigest', [null], ['sha256:x']], ['result', 'treeDigest', [], [null, 'x']], ['result', 'diffDigest', [], [null, 'x']], ['result', 'testCommand', [null], [0]], ['failure', 'code', ['internal', 'cancelled'], ['boom', null]],
    ['cancel-observed', 'method', ['pid-namespace-empty', 'never-started', 'process-exited', 'orphans-ended', 'seatbelt-empty'], ['hoped', null]],
  ])('%s.%s is one of its own', (kind, field, right, wrong) => {
    expect(right.map((value) => why(kind, { [field]: value }))).toEqual(right.map(() => null))
    expect(wrong.map((value) => why(kind, { [field]: value }) === null)).toEqual(wrong.map(() => false))
  })
})

describe.each(envelopeKinds)('an envelope of kind %s', (kind) => {
  const whole = sample(kind)
  const with_ = (change: Json): string | null => { const checked = checkEnvelope({ ...whole, ...change }); return checked.ok ? null : `${checked.error.reason} ${checked.error.path}` }

  it('lacks none of its fields and has no other, itself and in its payload', () => {
    for (const field of Object.keys(whole)) {
      const { [field]: _gone, ...rest } = whole
      expect(checkEnvelope(rest).ok, field).toBe(false)
    }
    for (const field of Object.keys(payloadOf(kind))) {
      const { [field]: _gone, ...rest } = payloadOf(kind)
      expect(with_({ payload: rest }), field).toBe(`missing-field payload.${field}`)
    }
    expect([with_({ more: 1 }), with_({ payload: { ...payloadOf(kind), more: 1 } })]).toEqual(['unknown-field ', 'unknown-field payload'])
  })

  it('has an id of letters, digits and few signs, of at most 128', () => {
    expect(['a', 'A.b_c:d-9', `a${x(127)}`].map((eventId) => with_({ eventId }))).toEqual([null, null, null])
    expect(['', '-a', 'a b', 'a/b', 'a\n', ' a', `a${x(128)}`].map((eventId) => with_({ eventId }) === null)).toEqual(Array.from({ length: 7 }, () => false))
  })

  it('counts from one, in whole numbers', () => {
    expect([1, Number.MAX_SAFE_INTEGER].map((seq) => with_({ seq }))).toEqual([null, null])
    expect([0, -1, 1.5, '1'].map((seq) => with_({ seq }) === null)).toEqual([false, false, false, false])
  })

  const inTurn = ['question', 'answer', 'progress', 'result'].includes(kind)
  const replies = inTurn || kind === 'failure' || kind === 'cancel-observed'
  const bound = inTurn || kind === 'request'

  it(inTurn ? 'belongs to a turn' : 'may belong to no turn', () => { if (kind !== 'request') expect(with_({ turnId: null }) === null).toBe(!inTurn) })
  it(replies ? 'says what it replies to' : 'may reply to nothing', () => { if (kind !== 'request') expect(with_({ inReplyTo: null }) === null).toBe(!replies) })
  it(bound ? 'is bound to an input' : 'may be bound to none', () => { expect([with_({ inputDigest: null }) === null, with_({ inputVersion: 0 }) === null, with_({ inputVersion: -1 }) === null]).toEqual([!bound, !bound, false]) })
})

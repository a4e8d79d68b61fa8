import assert from 'node:assert/strict'
import fc from 'fast-check'
import { canonicalJson, digestOfBytes } from '../../src-main/core/digest.ts'
import { decodeEnvelope, encodeEnvelope, type EnvelopeDraft } from '../../src-main/core/envelope/codec.ts'
import { allow, bind, emptyMailbox, receive, send, type Mailbox, type Peer, type Route } from '../../src-main/core/envelope/mailbox.ts'
import { envelopeRate } from '../../src-main/core/envelope/rate.ts'
import { envelopeKinds } from '../../src-main/core/envelope/schema.ts'
import { parseStrict } from '../../src-main/core/envelope/strict-json.ts'
import { anyEnvelope } from './any-envelope.ts'

/** A promise about whatever arrives, to be tried on as many inputs as there is time for. */
export interface Fuzzed { readonly promise: string; readonly check: (parameters: { readonly seed: number; readonly numRuns: number }) => { readonly failed: boolean; readonly numRuns: number; readonly report: string } }

/** CPU time that one input of at most 33 KiB may take. Thousands of times what it does take: only what is not linear reaches it. */
const cpuMicrosecondsMax = 5_000_000

function fuzzed<T>(promise: string, inputs: fc.Arbitrary<T>, holds: (input: T) => void): Fuzzed {
  const property = fc.property(inputs, (input) => {
    const before = process.cpuUsage()
    holds(input)
    assert.ok(process.cpuUsage(before).user < cpuMicrosecondsMax, 'it took too long')
  })
  return {
    promise,
    check: (parameters) => {
      const run = fc.check(property, parameters)
      return { failed: run.failed, numRuns: run.numRuns, report: run.failed ? fc.defaultReportMessage(run) ?? 'it failed without a word' : '' }
    },
  }
}

const depthMax = 8
const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'utf8'))
const canonicalBytes = (draft: EnvelopeDraft): Uint8Array => bytesOf(encodeEnvelope(draft).text)

/** One small damage or other spelling, at a place between 0 and 1. */
type Edit = (bytes: Uint8Array, place: number) => Uint8Array
const at = (bytes: Uint8Array, place: number): number => Math.min(bytes.length, Math.floor(place * (bytes.length + 1)))
const splice = (bytes: Uint8Array, from: number, to: number, put: Uint8Array): Uint8Array => Buffer.concat([bytes.subarray(0, from), put, bytes.subarray(to)])
const insert = (put: Uint8Array): Edit => (bytes, place) => splice(bytes, at(bytes, place), at(bytes, place), put)
const asText = (edit: (text: string, place: number) => string): Edit => (bytes, place) => bytesOf(edit(Buffer.from(bytes).toString('utf8'), place))

const edits: fc.Arbitrary<Edit> = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 4 }).map(insert),
  fc.constantFrom(' ', '\n', ',', '"', '\\', '{', '}', '[', ']', ':', '0', '-', 'e1', '\u0000', '\ufeff', '\u202e').map((text) => insert(bytesOf(text))),
  fc.nat({ max: 255 }).map((byte): Edit => (bytes, place) => splice(bytes, at(bytes, place), at(bytes, place) + 1, Uint8Array.of(byte))),
  fc.nat({ max: 40 }).map((length): Edit => (bytes, place) => splice(bytes, at(bytes, place), at(bytes, place) + length, new Uint8Array())),
  fc.nat({ max: 40 }).map((length): Edit => (bytes, place) => splice(bytes, at(bytes, place), at(bytes, place), bytes.subarray(at(bytes, place), at(bytes, place) + length))),
  // The same value, spelled in another way.
  fc.constantFrom(
    asText((text) => text.replaceAll(':', ': ')), asText((text) => text.replaceAll(',', ',\n')), asText((text) => text.replace('"version":1', '"version":1.0')), asText((text) => text.replace('"version":1', '"version":1e0')),
    asText((text) => text.replace('"kind"', '"\\u006bind"')), asText((text) => text.replace(/"seq":(\d+)/, '"seq":$1,"seq":$1')), asText((text) => text.replace('{', '{"__proto__":{},')),
    asText((text) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text) as object).reverse()))), asText((text) => text.replace(/[a-z](?=[^"]*"})/, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`)),
  ).map((edit): Edit => (bytes, place) => { try { return edit(bytes, place) } catch { return bytes } }),
)
const edited = fc.tuple(anyEnvelope, fc.array(fc.tuple(edits, fc.double({ min: 0, max: 1, noNaN: true })), { minLength: 1, maxLength: 4 }))
const apply = (bytes: Uint8Array, list: readonly (readonly [Edit, number])[]): Uint8Array => list.reduce((now, [edit, place]) => edit(now, place), bytes)

const jsonish = fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', '\\u', 'd800', '0041', '1', '-', 'e', '.', 'true', 'null', ' ', '\n', 'a', '\ud800', '\u{1f600}'), maxLength: 400 })
const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 600 }), fc.json({ maxDepth: 12 }).map(bytesOf), jsonish.map((text) => new Uint8Array(Buffer.from(text, 'utf8'))),
  fc.tuple(fc.constantFrom('[', '{"a":', '"\\u', '\\', '9', ' ', '{"', ',"x":1'), fc.integer({ min: 1, max: 33_000 })).map(([unit, times]) => bytesOf(unit.repeat(times).slice(0, 33_000))),
)

/** Whatever is accepted is its own one spelling: encoding it again gives these very bytes. */
function onlyCanonical(bytes: Uint8Array): void {
  const decoded = decodeEnvelope(bytes)
  if (!decoded.ok) { assert.equal(typeof decoded.error.reason, 'string'); return }
  const again = encodeEnvelope(decoded.value)
  assert.deepEqual(Buffer.from(again.text, 'utf8'), Buffer.from(bytes))
  assert.equal(again.digest, digestOfBytes(bytes))
}

function strictly(text: string): void {
  const strict = parseStrict(text, depthMax)
  if (strict.ok) { assert.deepEqual(strict.value, JSON.parse(text)); return }
  // What everybody reads as JSON and we refuse is refused for a rule that we name.
  if (isJson(text)) assert.notEqual(strict.error.reason, 'not-json', `JSON that is none: ${text}`)
}

function isJson(text: string): boolean {
  try { JSON.parse(text); return true } catch { return false }
}

export const fuzzedPromises: readonly Fuzzed[] = [
  fuzzed('an envelope comes back whole, under the digest of its bytes', anyEnvelope, (draft) => {
    const { text, digest } = encodeEnvelope(draft)
    const bytes = bytesOf(text)
    assert.deepEqual(decodeEnvelope(bytes), { ok: true, value: JSON.parse(text) as unknown })
    assert.equal(digestOfBytes(bytes), digest)
    assert.equal(text, canonicalJson(draft))
  }),
  fuzzed('any bytes are refused or are their own canonical form', anyBytes, onlyCanonical),
  fuzzed('an envelope that was edited is refused or is another one, never a second spelling', edited, ([draft, list]) => {
    const original = canonicalBytes(draft)
    const twin = apply(original, list)
    onlyCanonical(twin)
    const decoded = decodeEnvelope(twin)
    if (decoded.ok && !Buffer.from(twin).equals(Buffer.from(original))) assert.notEqual(canonicalJson(decoded.value), canonicalJson(draft))
  }),
  fuzzed('strict JSON takes nothing that JSON.parse refuses, and reads what it takes in the same way', fc.oneof(jsonish, fc.json({ maxDepth: 12 })), strictly),
  fuzzed('a mailbox takes each event once, keeps nothing of what it refuses, and never breaks', traffic(), mailboxHolds),
]

interface Arrival { readonly bytes: Uint8Array; readonly route: Route; readonly afterMs: number }

function traffic(): fc.Arbitrary<readonly Arrival[]> {
  const peer = fc.constantFrom<Peer>({ owner: 'ada', bot: 'lead' }, { owner: 'bo', bot: 'coder' }, { owner: 'eve', bot: 'lead' })
  const route = fc.oneof(
    { weight: 6, arbitrary: fc.constant<Route>({ transport: 'dm', scope: 'direct', conversation: 'c1', from: { owner: 'ada', bot: 'lead' }, to: { owner: 'bo', bot: 'coder' } }) },
    fc.record({ transport: fc.constantFrom('dm', 'room'), scope: fc.constantFrom('room' as const, 'direct' as const), conversation: fc.constantFrom('c1', 'c2'), from: peer, to: peer }),
  )
  // Few names, so that they meet.
  const few = fc.record({ eventId: fc.constantFrom('e1', 'e2', 'e3'), taskId: fc.constantFrom('t1', 't1', 't2'), generation: fc.constantFrom(1, 1, 2, 3), seq: fc.integer({ min: 1, max: 4 }), inReplyTo: fc.constantFrom('q1', 'e1', 'nothing'), inputVersion: fc.constantFrom(1, 2) })
  const draft = fc.tuple(anyEnvelope, few, fc.boolean()).map(([envelope, names, meet]) => (meet ? { ...envelope, ...names } : envelope))
  const bytes = fc.oneof({ weight: 5, arbitrary: draft.map(canonicalBytes) }, fc.tuple(draft, fc.array(fc.tuple(edits, fc.double({ min: 0, max: 1, noNaN: true })), { minLength: 1, maxLength: 2 })).map(([one, list]) => apply(canonicalBytes(one), list)), anyBytes)
  return fc.array(fc.record({ bytes, route, afterMs: fc.constantFrom(0, 1, 1_000, 61_000, -5_000) }), { minLength: 1, maxLength: 30 }).chain((list) => fc.array(fc.constantFrom(...list), { minLength: list.length, maxLength: 40 }))
}

function opened(): Mailbox {
  const self: Peer = { owner: 'bo', bot: 'coder' }
  const other: Peer = { owner: 'ada', bot: 'lead' }
  const route: Route = { transport: 'dm', scope: 'direct', conversation: 'c1', from: other, to: self }
  const permitted = allow(allow(emptyMailbox(self), { transport: 'dm', from: other, to: self, kinds: envelopeKinds }), { transport: 'dm', from: self, to: other, kinds: envelopeKinds })
  const bound = bind(permitted, { route, taskId: 't1', plays: 'lead', generation: 1, input: null, sessionId: 'ses_1' })
  assert.ok(bound.ok)
  return bound.value
}

function mailboxHolds(arrivals: readonly Arrival[]): void {
  let mailbox = opened()
  let now = 1_000_000
  const taken = new Set<string>()
  for (const { bytes, route, afterMs } of arrivals) {
    now += afterMs
    const before = mailbox
    const { mailbox: after, verdict } = receive(before, route, bytes, now, envelopeRate)
    if (verdict.is === 'taken') {
      const { envelope } = verdict
      assert.ok(!taken.has(envelope.eventId), 'taken twice')
      taken.add(envelope.eventId)
      assert.deepEqual([envelope.taskId, route.from.owner, route.to.owner], ['t1', 'ada', 'bo'])
      assert.deepEqual(Buffer.from(encodeEnvelope(envelope).text), Buffer.from(bytes))
      mailbox = after
      // This end asks at times, so that an answer has something to answer.
      const asked = send(mailbox, { ...envelope, kind: 'question', eventId: 'q1', turnId: 'turn', inReplyTo: envelope.eventId, generation: verdict.binding.generation, payload: { question: '?', options: [] } } as never)
      if (asked.ok) ({ mailbox } = asked.value)
    } else {
      assert.deepEqual({ ...after, arrivals: null }, { ...before, arrivals: null })
      mailbox = after
    }
  }
}

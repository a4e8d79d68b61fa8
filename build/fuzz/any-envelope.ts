import fc from 'fast-check'
import type { EnvelopeDraft } from '../../src-main/core/envelope/codec.ts'
import { envelopeKinds, type EnvelopeKind } from '../../src-main/core/envelope/schema.ts'

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

/** Any envelope of version 1 that may be encoded, of every kind. */
export const anyEnvelope = fc.constantFrom(...envelopeKinds).chain((kind) => fc.record({
  version: fc.constant(1 as const), kind: fc.constant(kind), eventId: id, taskId: id, turnId: id, inReplyTo: id, generation: fc.integer({ min: 1, max: 1_000_000 }), seq: fc.integer({ min: 1 }),
  inputVersion: fc.integer({ min: 1 }), inputDigest: digest, payload: payloads[kind],
})) as fc.Arbitrary<EnvelopeDraft>

import { z } from 'zod'
import { digestSchema, generationSchema, taskIdSchema, turnIdSchema } from '../../../src-preload/contract/ids.ts'
import { failureCodeSchema } from '../../../src-preload/contract/failure.ts'
import { limits } from '../../../src-preload/contract/limits.ts'

/** The kinds of version 1. Each is one bot's word to the other; what the host does with it is decided elsewhere. */
export const envelopeKinds = ['request', 'question', 'answer', 'progress', 'result', 'failure', 'cancel', 'cancel-observed'] as const
export type EnvelopeKind = (typeof envelopeKinds)[number]

/** What each kind carries: selected text and digests only. No paths, credentials, private history or attachments. */
export const payloadSchemas = {
  request: z.strictObject({
    requirement: z.string().min(1).max(12_000), goal: z.string().min(1).max(2_000), scope: z.string().max(2_000), criteria: z.array(z.string().min(1).max(1_000)).max(20).readonly(),
    testCommand: z.string().min(1).max(1_000), excerpts: z.array(z.strictObject({ id: z.string().min(1).max(200), content: z.string().max(8_000) })).max(20).readonly(),
  }),
  question: z.strictObject({ question: z.string().min(1).max(4_000), options: z.array(z.string().max(500)).max(20).readonly() }),
  answer: z.strictObject({ answer: z.string().min(1).max(8_000) }),
  progress: z.strictObject({ text: z.string().min(1).max(limits.progressCharsMax) }),
  result: z.strictObject({
    summary: z.string().max(4_000), testCommand: z.string().max(4_096).nullable(), exitCode: z.int().nullable(), logDigest: digestSchema.nullable(),
    treeDigest: digestSchema, diffDigest: digestSchema, filesChanged: z.int().min(0).max(limits.folderFilesMax),
  }),
  failure: z.strictObject({ code: failureCodeSchema, message: z.string().min(1).max(2_000) }),
  cancel: z.strictObject({ cause: z.string().min(1).max(500) }),
  'cancel-observed': z.strictObject({ method: z.enum(['pid-namespace-empty', 'never-started', 'process-exited', 'orphans-ended', 'seatbelt-empty']), checkedProcesses: z.int().min(0), detail: z.string().max(500) }),
} as const satisfies Record<EnvelopeKind, z.ZodType>
export type EnvelopePayload = { readonly [K in EnvelopeKind]: z.infer<(typeof payloadSchemas)[K]> }

const eventIdSchema = z.string().min(1).max(128).regex(/^[A-Za-z0-9][A-Za-z0-9._:-]*$/)

function envelopeOf<K extends EnvelopeKind>(kind: K, required: { readonly turn: boolean; readonly reply: boolean; readonly input: boolean }) {
  return z.strictObject({
    version: z.literal(1), kind: z.literal(kind), eventId: eventIdSchema, taskId: taskIdSchema,
    turnId: required.turn ? turnIdSchema : turnIdSchema.nullable(),
    inReplyTo: required.reply ? eventIdSchema : eventIdSchema.nullable(),
    generation: generationSchema, seq: z.int().min(1),
    inputVersion: z.int().min(required.input ? 1 : 0), inputDigest: required.input ? digestSchema : digestSchema.nullable(),
    payload: payloadSchemas[kind],
  })
}

// Answers and all that comes out of a turn name what they reply to; work and its words are bound to an input.
const response = { turn: true, reply: true, input: true }
export const envelopeSchemas = {
  request: envelopeOf('request', { turn: false, reply: false, input: true }),
  question: envelopeOf('question', response),
  answer: envelopeOf('answer', response),
  progress: envelopeOf('progress', response),
  result: envelopeOf('result', response),
  failure: envelopeOf('failure', { turn: false, reply: true, input: false }),
  cancel: envelopeOf('cancel', { turn: false, reply: false, input: false }),
  'cancel-observed': envelopeOf('cancel-observed', { turn: false, reply: true, input: false }),
} as const satisfies Record<EnvelopeKind, z.ZodType>

/** A checked envelope of any kind. */
export type Envelope = { readonly [K in EnvelopeKind]: z.infer<(typeof envelopeSchemas)[K]> }[EnvelopeKind]

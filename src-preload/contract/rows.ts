import { z } from 'zod'
import { approvalIdSchema, authorSchema, botSchema, callIdSchema, digestSchema, generationSchema, grantIdSchema, millisSchema, questionIdSchema, taskIdSchema, turnIdSchema } from './ids.ts'
import { failureSchema } from './failure.ts'
import { standingGrantSchema, standingOfferSchema } from './grants.ts'
import {
  briefSchema, budgetLimitsSchema, callWaitsSchema, cancelSchema, coderRuntimeSchema, evidenceLevelsSchema, evidenceSchema, isolationReportSchema, meterSchema, modelRefSchema, raiseOfferSchema, recoverySchema,
  servingPathSchema, taskGrantSchema, taskStatusSchema, verificationSchema, waitingSchema,
} from './task.ts'

/** States of a tool row. The last four are terminal: a row reaches exactly one of them. */
export const toolStateSchema = z.enum(['preview', 'awaiting-approval', 'running', 'done', 'failed', 'interrupted', 'uncertain'])
export type ToolState = z.infer<typeof toolStateSchema>

/** Outcomes of a hold are told apart; `expired`, `withdrawn` and `never-shown` are not the owner's refusal. */
export const holdOutcomeSchema = z.enum(['waiting', 'approved', 'denied', 'expired', 'withdrawn', 'never-shown'])
export type HoldOutcome = z.infer<typeof holdOutcomeSchema>

export const holdKindSchema = z.enum(['brief', 'provider', 'command', 'edit', 'budget', 'acceptance'])
export type HoldKind = z.infer<typeof holdKindSchema>

/** A call's model traffic as the proxy saw it. Unknown numbers are null, never zero. */
export const modelCallSchema = z.object({
  callNumber: z.number().int().min(1),
  bot: botSchema,
  state: z.enum(['open', 'done', 'failed', 'refused']),
  path: servingPathSchema.nullable(),
  providerId: z.string(), providerLabel: z.string(), demo: z.boolean(),
  modelAsked: z.string(), modelAnswered: z.string().nullable(),
  inputTokens: z.number().int().nullable(), outputTokens: z.number().int().nullable(), costMicroUsd: z.number().int().nullable(),
  startedAt: millisSchema, latencyMs: z.number().nullable(), status: z.number().int().nullable(), failure: failureSchema.nullable(),
  /** A fallback was tried after the direct call may have reached its provider: it may be charged twice. */
  directLeft: z.boolean().optional(),
  /** While it is open, as the proxy knows it: what is waited for, and since when. Absent: the provider's first byte, since the call began. Never journaled. */
  waits: callWaitsSchema.optional(),
})
export type ModelCall = z.infer<typeof modelCallSchema>

export const toolBodySchema = z.object({
  is: z.literal('tool'),
  callId: callIdSchema, tool: z.string().max(200), state: toolStateSchema,
  /** Target file or command's first line; null while not yet known. */
  target: z.string().max(4_096).nullable(),
  /** Argument bytes received so far; honest also when `tail` is bounded. */
  argumentBytes: z.number().int().min(0), contentLines: z.number().int().min(0).nullable(),
  /** Bounded tail of the growing text argument; display only. */
  tail: z.string(), tailOf: z.string().nullable(),
  /** While it is a preview. `before`: the end of the text that an edit replaces; `fields`: its small arguments as far as they have come. */
  before: z.string().nullable().optional(), fields: z.array(z.object({ name: z.string(), value: z.string() })).readonly().optional(),
  input: z.string().nullable(), output: z.string().nullable(), outputTruncated: z.boolean(), exitCode: z.number().int().nullable(),
  title: z.string().nullable(), startedAt: millisSchema, endedAt: millisSchema.nullable(), reason: z.string().nullable(), parentCallId: callIdSchema.nullable(),
  /** While it is `awaiting-approval`: since when. */
  waitsSince: millisSchema.nullable().optional(),
  /** While it is `running`, allowed, and another write goes before it: what is waited for, and since when. Never journaled. `refusal`: it was not allowed, does not run, and its runtime is being told. */
  waits: z.object({ for: z.enum(['command', 'edit', 'refusal']), since: millisSchema }).nullable().optional(),
  /** The standing grant that let it run without a question to the owner. */
  grantId: grantIdSchema.optional(),
})
export type ToolBody = z.infer<typeof toolBodySchema>

export const entryBodySchema = z.discriminatedUnion('is', [
  z.object({ is: z.literal('message'), text: z.string(), streaming: z.boolean(), reasoning: z.boolean() }),
  z.object({ is: z.literal('brief'), brief: briefSchema, inputVersion: z.number().int(), inputDigest: digestSchema, state: z.enum(['proposed', 'approved', 'denied', 'replaced']) }),
  z.object({ is: z.literal('question'), questionId: questionIdSchema, text: z.string(), options: z.array(z.string()), state: z.enum(['open', 'asked-owner', 'answered', 'expired', 'withdrawn']), deadlineAt: millisSchema }),
  z.object({ is: z.literal('answer'), questionId: questionIdSchema, text: z.string() }),
  toolBodySchema,
  z.object({ is: z.literal('hold'), approvalId: approvalIdSchema, holdKind: holdKindSchema, title: z.string(), outcome: holdOutcomeSchema, decidedAt: millisSchema.nullable(), cause: z.string().nullable() }),
  z.object({ is: z.literal('evidence'), evidence: evidenceSchema, summary: z.string() }),
  z.object({ is: z.literal('verification'), state: z.enum(['running', 'passed', 'failed']), verification: verificationSchema.nullable() }),
  z.object({ is: z.literal('review'), text: z.string(), recommendation: z.enum(['accept', 'reject', 'unsure']) }),
  z.object({ is: z.literal('decision'), verdict: z.enum(['accepted', 'rejected', 'revision-requested']), treeDigest: digestSchema.nullable(), text: z.string() }),
  z.object({ is: z.literal('applied'), how: z.enum(['folder', 'patch-file']), state: z.enum(['applying', 'applied', 'refused', 'uncertain']), detail: z.string(), patchPath: z.string().nullable() }),
  z.object({ is: z.literal('call'), call: modelCallSchema }),
  z.object({ is: z.literal('status'), status: taskStatusSchema, text: z.string() }),
  z.object({ is: z.literal('notice'), level: z.enum(['info', 'warning', 'error']), text: z.string(), todo: z.string().nullable() }),
])
export type EntryBody = z.infer<typeof entryBodySchema>

/** One line of the room's transcript. Sort by `order`, then `key`. */
export const entryRowSchema = z.object({
  kind: z.literal('entry'), key: z.string(), taskId: taskIdSchema, order: z.number(), at: millisSchema, author: authorSchema, turnId: turnIdSchema.nullable(), body: entryBodySchema,
})
export type EntryRow = z.infer<typeof entryRowSchema>

/** A task: one line of the list, and the header and inspector of the shown one. */
export const taskRowSchema = z.object({
  kind: z.literal('task'), key: z.string(), taskId: taskIdSchema, title: z.string(), status: taskStatusSchema, generation: generationSchema,
  waiting: waitingSchema.nullable(), cancel: cancelSchema.nullable(), recovery: recoverySchema.nullable(),
  disposition: z.enum(['rejected', 'revision-requested', 'stopped', 'brief-denied']).nullable(),
  /** What happens now, in words, and since when; null when nothing runs. `waitingFor` explains a retry, rate limit or queue, since when it is waited for, and when the next try is due. */
  activity: z.object({ label: z.string(), since: millisSchema, waitingFor: z.string().nullable(), waitingSince: millisSchema.nullable().optional(), nextTryAt: millisSchema.nullable().optional() }).nullable(),
  createdAt: millisSchema, updatedAt: millisSchema, deadlineAt: millisSchema,
  source: z.object({ kind: z.enum(['sample', 'folder']), label: z.string(), path: z.string().nullable() }),
  requirement: z.string(), criteria: z.array(z.string()), revisionOf: taskIdSchema.nullable(),
  models: z.object({ lead: modelRefSchema, coder: modelRefSchema }), grant: taskGrantSchema, standingGrants: z.array(standingGrantSchema), budget: budgetLimitsSchema, meters: z.array(meterSchema),
  isolation: isolationReportSchema.nullable(), runtime: coderRuntimeSchema, openCodeVersion: z.string().nullable(), sessionId: z.string().nullable(), evidenceLevels: evidenceLevelsSchema,
  /** Set when a result can be reviewed; `acceptanceId` is the hold that *Accept result* and *Reject result* decide. */
  result: z.object({ treeDigest: digestSchema, verified: z.boolean(), acceptanceId: approvalIdSchema.nullable() }).nullable(),
  failure: failureSchema.nullable(),
})
export type TaskRow = z.infer<typeof taskRowSchema>

/** One labelled fact of an approval card. `exact` text is shown whole, in monospace, with invisible characters made visible. */
export const cardFactSchema = z.object({ label: z.string(), value: z.string(), exact: z.boolean(), authoredBy: authorSchema })
export type CardFact = z.infer<typeof cardFactSchema>

/** A hold: waits for the owner, bound to one bot and to the digest of exact bytes. */
export const holdRowSchema = z.object({
  kind: z.literal('hold'), key: z.string(), approvalId: approvalIdSchema, taskId: taskIdSchema, holdKind: holdKindSchema, bot: botSchema, turnId: turnIdSchema.nullable(), callId: callIdSchema.nullable(),
  digest: digestSchema, title: z.string(), outcome: holdOutcomeSchema, openedAt: millisSchema, shownAt: millisSchema.nullable(), order: z.number(), alarm: z.boolean(),
  /** The exact content that the digest covers, and what it is. */
  exact: z.object({ label: z.string(), text: z.string(), authoredBy: authorSchema }),
  facts: z.array(cardFactSchema), isolation: z.string(), reaskReason: z.string().nullable(),
  /** What may be granted for longer than once, together with approving this; null where that is never possible. */
  standing: standingOfferSchema.nullable(),
  /** The cap that approving raises, and what the owner may raise it to; absent where nothing is to be chosen. */
  raise: raiseOfferSchema.optional(),
  /** Why this card can be denied only; absent where it can be approved. */
  denyOnly: failureSchema.optional(),
})
export type HoldRow = z.infer<typeof holdRowSchema>

export const rowSchema = z.discriminatedUnion('kind', [entryRowSchema, taskRowSchema, holdRowSchema])
export type Row = z.infer<typeof rowSchema>

/** One change of what is shown. `seq` rises by one; a gap means: ask for a snapshot. `drop` names row keys. */
export const rowPatchSchema = z.object({ seq: z.number().int().min(0), put: z.array(rowSchema), drop: z.array(z.string()) })
export type RowPatch = z.infer<typeof rowPatchSchema>

/** Keys of rows, made in one place. */
export const rowKey = {
  task: (taskId: string): string => `task:${taskId}`,
  hold: (approvalId: string): string => `hold:${approvalId}`,
  tool: (taskId: string, callId: string): string => `entry:${taskId}:tool:${callId}`,
  entry: (taskId: string, name: string): string => `entry:${taskId}:${name}`,
} as const

import { z } from 'zod'
import { approvalIdSchema, digestSchema, millisSchema, questionIdSchema } from './ids.ts'
import { failureSchema } from './failure.ts'
import { budgetMaxima, sandboxLimitBounds } from './limits.ts'

export const taskStatusSchema = z.enum(['open', 'claimed', 'working', 'blocked', 'result-ready', 'accepted', 'cancelled', 'failed'])
export type TaskStatus = z.infer<typeof taskStatusSchema>

/** Facets stand beside the status and never become a status of their own. */
export const waitingSchema = z.discriminatedUnion('for', [
  z.object({ for: z.literal('input'), questionId: questionIdSchema }),
  z.object({ for: z.literal('approval'), approvalIds: z.array(approvalIdSchema).min(1) }),
])
export type Waiting = z.infer<typeof waitingSchema>

/** Proof that nothing of a stopped run is left: what was checked, and that it was empty. */
export const stopProofSchema = z.object({
  at: millisSchema,
  method: z.enum(['pid-namespace-empty', 'never-started', 'process-exited', 'orphans-ended', 'seatbelt-empty']),
  checkedProcesses: z.number().int().min(0),
  detail: z.string().max(500),
})
export type StopProof = z.infer<typeof stopProofSchema>

export const cancelSchema = z.discriminatedUnion('state', [
  z.object({ state: z.literal('requested'), at: millisSchema, cause: z.string().max(500) }),
  z.object({ state: z.literal('observed'), at: millisSchema, requestedAt: millisSchema, cause: z.string().max(500), proof: stopProofSchema }),
])
export type Cancel = z.infer<typeof cancelSchema>

/** The four exits from `uncertain`. */
export const recoveryExitSchema = z.enum(['re-check', 'mark-done', 'mark-not-done', 'resend'])
export type RecoveryExit = z.infer<typeof recoveryExitSchema>

export const recoverySchema = z.object({ state: z.literal('uncertain'), since: millisSchema, what: z.string().max(1_000), /** The deadline passed meanwhile: nothing new is sent, whatever the check finds. */ late: z.literal(true).optional(), /** The owner chose to resend: what may still run is being stopped before that. */ resending: z.literal(true).optional(), /** OpenCode is being started to read its session again, which can take seconds. */ checking: z.literal(true).optional(), /** Those that there are here; else all four. */ exits: z.array(recoveryExitSchema).optional() })
export type Recovery = z.infer<typeof recoverySchema>

/** `reply`: it comes in; `silence`: no byte of it; `keep-alive`: nothing but signs of life; `fallback`: the vendor's own program, in the provider's place. */
export const callWaitsSchema = z.object({ for: z.enum(['reply', 'silence', 'keep-alive', 'fallback']), since: millisSchema })
export type CallWaits = z.infer<typeof callWaitsSchema>

/** Which configured model plays a bot: provider id and model id, as in Settings. */
export const modelRefSchema = z.object({ providerId: z.string().min(1).max(64), modelId: z.string().min(1).max(200) })
export type ModelRef = z.infer<typeof modelRefSchema>

/** How Bot B's OpenCode is driven: one server a task, or one `opencode run --format json` a turn. */
export const coderRuntimeSchema = z.enum(['opencode-server', 'opencode-run'])
export type CoderRuntime = z.infer<typeof coderRuntimeSchema>

/** A folder of the owner's machine that the sandbox may see, beside the workspace. `into` is relative to the workspace for dependencies, absolute for toolchains. */
export const mountSchema = z.object({
  id: z.string().min(1).max(100),
  kind: z.enum(['dependency', 'toolchain']),
  label: z.string().max(200),
  hostPath: z.string().min(1).max(4_096),
  into: z.string().min(1).max(4_096),
  mode: z.enum(['copy', 'read-only']),
  pathEntry: z.string().max(4_096).nullable(),
})
export type Mount = z.infer<typeof mountSchema>

export const taskSourceSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sample') }),
  z.object({ kind: z.literal('folder'), path: z.string().min(1).max(4_096), mounts: z.array(mountSchema).max(32) }),
])
export type TaskSource = z.infer<typeof taskSourceSchema>

/** Caps of one task. Null money cap: money is metered where known, not capped. */
export const budgetLimitsSchema = z.object({
  profile: z.string().min(1).max(40),
  turnsMax: z.number().int().min(1).max(budgetMaxima.turnsMax),
  messagesMax: z.number().int().min(1).max(budgetMaxima.messagesMax),
  requestsMax: z.number().int().min(1).max(budgetMaxima.requestsMax),
  tokensMax: z.number().int().min(1).max(budgetMaxima.tokensMax),
  moneyMicroUsdMax: z.number().int().min(0).max(budgetMaxima.moneyMicroUsdMax).nullable(),
  deadlineMs: z.number().int().min(10_000).max(24 * 3_600_000),
})
export type BudgetLimits = z.infer<typeof budgetLimitsSchema>

/** What the coder may do without a hold: edits inside the workspace, and the brief's test command. */
export const taskGrantSchema = z.object({ edits: z.enum(['allow', 'ask', 'deny']), testCommand: z.enum(['allow', 'ask', 'deny']), otherCommands: z.enum(['ask', 'deny']) })
export type TaskGrant = z.infer<typeof taskGrantSchema>

/** The words that Bot A hands to Bot B; the owner approves exactly these bytes (canonical JSON). */
export const briefSchema = z.object({
  goal: z.string().min(1).max(2_000),
  scope: z.string().max(2_000),
  criteria: z.array(z.string().min(1).max(1_000)).max(20),
  testCommand: z.string().min(1).max(1_000),
  excerpts: z.array(z.object({ id: z.string().min(1).max(200), content: z.string().max(8_000) })).max(20),
})
export type Brief = z.infer<typeof briefSchema>

export const meterSchema = z.object({
  name: z.enum(['turns', 'messages', 'requests', 'tokens', 'money']),
  used: z.number().min(0),
  reserved: z.number().min(0),
  limit: z.number().min(0).nullable(),
  unknown: z.boolean(),
})
export type Meter = z.infer<typeof meterSchema>

/** Which cap the owner may raise, and between which values; `suggested` is what an approval without an amount grants. Money is in micro-USD. */
export const raiseOfferSchema = z.object({ cap: meterSchema.shape.name, from: z.number().int().min(0), min: z.number().int().min(0), max: z.number().int().min(0), suggested: z.number().int().min(0) })
export type RaiseOffer = Readonly<z.infer<typeof raiseOfferSchema>>

/** Evidence levels, recorded apart; passing one never implies the next. Each is null or when and how it was reached. */
export const evidenceLevelsSchema = z.object({
  offlineMock: z.string().max(300).nullable(),
  realProcess: z.string().max(300).nullable(),
  realModel: z.string().max(300).nullable(),
  humanAcceptance: z.string().max(300).nullable(),
})
export type EvidenceLevels = z.infer<typeof evidenceLevelsSchema>

export const fileChangeSchema = z.object({
  path: z.string().max(4_096),
  status: z.enum(['added', 'modified', 'deleted']),
  additions: z.number().int().min(0),
  deletions: z.number().int().min(0),
  binary: z.boolean(),
})
export type FileChange = z.infer<typeof fileChangeSchema>

const { memoryBytesMax: memory, processesMax: processes, commandCpuMsMax: cpu, fileBytesMax: file } = sandboxLimitBounds
const within = ({ min, max }: { readonly min: number; readonly max: number }, step: number, unit: string): z.ZodNumber => {
  const words = `from ${String(min / step)} to ${String(max / step)} ${unit}`
  return z.number().int(words).min(min, words).max(max, words)
}

/** What one sandbox may use on this machine. Whole MiB, whole minutes. */
export const sandboxLimitsSchema = z.object({
  memoryBytesMax: within(memory, 1024 ** 2, 'MiB').multipleOf(1024 ** 2, 'whole MiB'), processesMax: within(processes, 1, 'processes'),
  commandCpuMsMax: within(cpu, 60_000, 'minutes').multipleOf(60_000, 'whole minutes'), fileBytesMax: within(file, 1024 ** 2, 'MiB').multipleOf(1024 ** 2, 'whole MiB'),
})
export type SandboxLimits = z.infer<typeof sandboxLimitsSchema>

/** One run of a test command. `limits`: what it could use at most, as its sandbox was set; absent in what was written before that was recorded, and in the coder's own runs, whose cards name them. */
export const testRunSchema = z.object({ command: z.string().max(4_096), exitCode: z.number().int().nullable(), logDigest: digestSchema, logTail: z.string().max(20_000), durationMs: z.number().min(0), limits: sandboxLimitsSchema.optional() })
export type TestRun = z.infer<typeof testRunSchema>

/** What the coder's result stands on. Facts of the host, not of the model. `testRun` is null when the coder never ran the test command after its last edit. */
export const evidenceSchema = z.object({
  turnId: z.string(), baseDigest: digestSchema, treeDigest: digestSchema, diffDigest: digestSchema,
  files: z.array(fileChangeSchema).max(5_000), testRun: testRunSchema.nullable(),
})
export type Evidence = z.infer<typeof evidenceSchema>

/** Bot A's own re-run in a clean copy. `oracle` is the run of the held criteria tests, null when the task has none. */
export const verificationSchema = z.object({
  passed: z.boolean(), treeDigest: digestSchema, treeMatches: z.boolean(), testRun: testRunSchema.nullable(), oracle: testRunSchema.nullable(), failure: failureSchema.nullable(),
})
export type Verification = z.infer<typeof verificationSchema>

export const isolationReportSchema = z.object({
  usable: z.boolean(),
  level: z.enum(['bubblewrap', 'seatbelt-untested', 'none']),
  summary: z.string().max(300),
  detail: z.string().max(2_000),
  checkedAt: millisSchema,
  failure: failureSchema.nullable(),
  /** Those in force when it was looked at; absent where nothing runs, and in what was written before they could be set. */
  limits: sandboxLimitsSchema.optional(),
})
export type IsolationReport = z.infer<typeof isolationReportSchema>

export const servingPathSchema = z.enum(['direct', 'warm', 'exec'])
export type ServingPath = z.infer<typeof servingPathSchema>


import { z } from 'zod'
import { approvalIdSchema, commandIdSchema, digestSchema, grantIdSchema, millisSchema, questionIdSchema, taskIdSchema } from './ids.ts'
import { failureSchema, type Failure } from './failure.ts'
import type { Result } from './result.ts'
import { rowPatchSchema } from './rows.ts'
import { briefSchema, budgetLimitsSchema, coderRuntimeSchema, evidenceSchema, fileChangeSchema, isolationReportSchema, modelRefSchema, mountSchema, recoveryExitSchema, taskGrantSchema, taskSourceSchema, verificationSchema } from './task.ts'
import { updateStateSchema } from './updates.ts'
import { providerSchema, providerViewSchema, settingsSchema } from './settings.ts'

const nothing = z.object({})
const acknowledged = z.object({ recorded: z.literal(true) })

/** What New task sends. `criteria`: one line each. Folder sources are inspected first, see `folder.inspect`. */
export const newTaskSchema = z.object({
  commandId: commandIdSchema, title: z.string().min(1).max(200), requirement: z.string().min(1).max(12_000), criteria: z.array(z.string().min(1).max(1_000)).max(20),
  testCommand: z.string().max(1_000).nullable(), source: taskSourceSchema, models: z.object({ lead: modelRefSchema, coder: modelRefSchema }), budget: budgetLimitsSchema, grant: taskGrantSchema, revisionOf: taskIdSchema.nullable(),
  /** How Bot B's OpenCode is driven; absent: `opencode-server`. */
  runtime: coderRuntimeSchema.optional(),
})
export type NewTask = z.infer<typeof newTaskSchema>

/** What is known of a folder before a task starts on it. `refusal` set: no task can start, nothing was touched. */
export const folderFactsSchema = z.object({
  path: z.string(), label: z.string(), git: z.object({ branch: z.string().nullable(), commit: z.string().nullable(), dirtyFiles: z.number().int(), submodules: z.number().int() }).nullable(),
  files: z.number().int(), bytes: z.number().int(), notes: z.array(z.string()), proposals: z.array(mountSchema), testCommands: z.array(z.string()), refusal: failureSchema.nullable(),
})
export type FolderFacts = z.infer<typeof folderFactsSchema>

/** Review's content. `patches` are unified diffs, one a file, in the order of `files`; null for binary or too large. */
export const reviewSchema = z.object({
  taskId: taskIdSchema, evidence: evidenceSchema, verification: verificationSchema.nullable(),
  files: z.array(z.object({ change: fileChangeSchema, patch: z.string().nullable() })), reviewText: z.string().nullable(),
  /** What the workspace holds and the diff does not. */
  notes: z.array(z.string()),
})
export type Review = z.infer<typeof reviewSchema>

export const auditRowSchema = z.object({
  seq: z.number().int(), at: millisSchema, taskId: taskIdSchema.nullable(), type: z.string(), actor: z.string(), summary: z.string(), payload: z.string(), hash: z.string(),
})
export type AuditRow = z.infer<typeof auditRowSchema>

export const appInfoSchema = z.object({
  versions: z.object({ app: z.string(), electron: z.string(), chromium: z.string(), node: z.string(), sqlite: z.string(), openCode: z.string().nullable() }),
  /** `openAtLogin` null: this system or build has no such thing. `crashReports`: the folder that they stay in. */
  openAtLogin: z.boolean().nullable(), crashReports: z.string(),
  runtimeNote: z.string().nullable(), platform: z.string(), dataDir: z.string(), scriptedOwner: z.boolean(),
  /** Of this machine. */
  memoryBytes: z.number().int().min(0),
  isolation: isolationReportSchema, openCodeFailure: failureSchema.nullable(), proxy: z.object({ state: z.enum(['stopped', 'starting', 'ready', 'restarting', 'failed']), port: z.number().int().nullable(), note: z.string().nullable() }),
  keyring: z.object({ real: z.boolean(), backend: z.string() }), startProblems: z.array(failureSchema),
})
export type AppInfo = z.infer<typeof appInfoSchema>

export const workspaceUseSchema = z.object({ taskId: taskIdSchema, title: z.string(), bytes: z.number().int(), disposable: z.boolean() })
export type WorkspaceUse = z.infer<typeof workspaceUseSchema>

/**
 * Every call that the window can make. Main checks sender and input; each answers `Result<output, Failure>`.
 * `recorded: true` means recorded in the journal, not delivered; the row says what came of it.
 */
export const methods = {
  'app.info': { input: nothing, output: appInfoSchema },
  'login.set': { input: z.object({ on: z.boolean() }), output: acknowledged },
  /** Made anew, and kept until the next: `diagnostics.save` writes exactly these bytes, or none. */
  'diagnostics.preview': { input: nothing, output: z.object({ text: z.string(), digest: digestSchema }) },
  'diagnostics.save': { input: z.object({ digest: digestSchema }), output: z.object({ path: z.string().nullable() }) },
  /** The task that a link from outside wants to be shown, once; null when none waits. */
  'link.take': { input: nothing, output: z.object({ taskId: taskIdSchema.nullable() }) },
  'room.snapshot': { input: z.object({ taskId: taskIdSchema.nullable() }), output: rowPatchSchema },
  'task.create': { input: newTaskSchema, output: z.object({ taskId: taskIdSchema }) },
  'task.runSample': { input: z.object({ commandId: commandIdSchema }), output: z.object({ taskId: taskIdSchema }) },
  'task.stop': { input: z.object({ commandId: commandIdSchema, taskId: taskIdSchema }), output: acknowledged },
  'task.writeBrief': { input: z.object({ commandId: commandIdSchema, taskId: taskIdSchema, brief: briefSchema }), output: acknowledged },
  'task.answer': { input: z.object({ commandId: commandIdSchema, taskId: taskIdSchema, questionId: questionIdSchema, text: z.string().min(1).max(8_000) }), output: acknowledged },
  'task.revise': { input: z.object({ commandId: commandIdSchema, taskId: taskIdSchema, requirement: z.string().min(1).max(12_000) }), output: z.object({ taskId: taskIdSchema }) },
  'task.recover': { input: z.object({ commandId: commandIdSchema, taskId: taskIdSchema, exit: recoveryExitSchema }), output: acknowledged },
  'approval.shown': { input: z.object({ approvalId: approvalIdSchema, digest: digestSchema }), output: acknowledged },
  'approval.decide': { input: z.object({ commandId: commandIdSchema, approvalId: approvalIdSchema, digest: digestSchema, verdict: z.enum(['approved', 'denied']), reason: z.string().max(1_000).nullable(), standing: digestSchema.nullable().optional(), /** What a cap is raised to, within the card's offer; without it the suggested amount. */ amount: z.number().int().min(0).nullable().optional() }), output: acknowledged },
  'grant.revoke': { input: z.object({ commandId: commandIdSchema, taskId: taskIdSchema, grantId: grantIdSchema }), output: acknowledged },
  'folder.pick': { input: nothing, output: z.object({ path: z.string().nullable() }) },
  'folder.inspect': { input: z.object({ path: z.string().min(1).max(4_096) }), output: folderFactsSchema },
  'review.get': { input: z.object({ taskId: taskIdSchema }), output: reviewSchema },
  'review.savePatch': { input: z.object({ taskId: taskIdSchema }), output: z.object({ path: z.string().nullable() }) },
  'settings.get': { input: nothing, output: settingsSchema },
  'settings.put': { input: settingsSchema, output: acknowledged },
  'providers.list': { input: nothing, output: z.array(providerViewSchema) },
  'provider.put': { input: z.object({ provider: providerSchema, key: z.string().max(10_000).nullable() }), output: z.object({ key: z.enum(['unchanged', 'stored', 'session-only']) }) },
  'provider.remove': { input: z.object({ id: z.string() }), output: acknowledged },
  'provider.test': { input: z.object({ id: z.string(), modelId: z.string() }), output: z.object({ status: z.number().int(), modelAnswered: z.string().nullable(), latencyMs: z.number(), text: z.string() }) },
  'audit.query': { input: z.object({ taskId: taskIdSchema.nullable(), text: z.string().max(200), beforeSeq: z.number().int().nullable(), limit: z.number().int().min(1).max(500) }), output: z.array(auditRowSchema) },
  'audit.verify': { input: nothing, output: z.object({ events: z.number().int(), headHash: z.string(), firstBadSeq: z.number().int().nullable() }) },
  'audit.export': { input: z.object({ taskId: taskIdSchema.nullable() }), output: z.object({ path: z.string().nullable() }) },
  'workspace.list': { input: nothing, output: z.object({ uses: z.array(workspaceUseSchema), totalBytes: z.number().int(), quotaBytes: z.number().int() }) },
  'updates.get': { input: nothing, output: updateStateSchema },
  'updates.look': { input: nothing, output: updateStateSchema },
  'updates.download': { input: nothing, output: updateStateSchema },
  'updates.install': { input: nothing, output: acknowledged },
  'workspace.remove': { input: z.object({ taskId: taskIdSchema }), output: acknowledged },
} as const satisfies Record<string, { input: z.ZodType; output: z.ZodType }>

export type MethodName = keyof typeof methods
export type MethodInput<M extends MethodName> = z.infer<(typeof methods)[M]['input']>
export type MethodOutput<M extends MethodName> = z.infer<(typeof methods)[M]['output']>

/** What the preload exposes as `window.countersign`. Nothing throws across it. */
export interface Bridge {
  call<M extends MethodName>(method: M, input: MethodInput<M>): Promise<Result<MethodOutput<M>, Failure>>
  /** Patches of all rows of the room, in order. Returns the unsubscriber. */
  onPatch(listener: (patch: z.infer<typeof rowPatchSchema>) => void): () => void
  /** Things outside the rows: settings or app info changed, menu commands (by command id). */
  onSignal(listener: (signal: BridgeSignal) => void): () => void
}

export const bridgeSignalSchema = z.discriminatedUnion('is', [
  z.object({ is: z.literal('app-info-changed') }),
  z.object({ is: z.literal('link-waits') }),
  z.object({ is: z.literal('menu'), command: z.string().max(100) }),
])
export type BridgeSignal = z.infer<typeof bridgeSignalSchema>

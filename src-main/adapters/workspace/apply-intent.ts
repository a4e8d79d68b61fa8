import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { digestSchema, taskIdSchema } from '../../../src-preload/contract/ids.ts'
import { fault, unless } from './fault.ts'
import { replaceFile } from './task-folder.ts'
import { parseJson, treeEntrySchema } from './tree.ts'

/**
 * One step of an apply, in the owner's folder. Paths are relative to it. A step can be told done or not done by looking at the folder alone, so
 * that an interrupted apply can be finished or undone whatever was last written here.
 */
const applyStepSchema = z.discriminatedUnion('does', [
  /** Moves the old file aside. */
  z.object({ does: z.literal('remove'), path: z.string().min(1), before: treeEntrySchema, backup: z.string().min(1) }),
  /** Takes away an emptied folder because a file takes its name. */
  z.object({ does: z.literal('remove-folder'), path: z.string().min(1) }),
  z.object({ does: z.literal('make-folder'), path: z.string().min(1) }),
  /** Puts the staged file in place; the old one, if any, stays as `backup` until the end. */
  z.object({ does: z.literal('put'), path: z.string().min(1), before: treeEntrySchema.nullable(), after: treeEntrySchema, staged: z.string().min(1), backup: z.string().min(1).nullable() }),
])
export type ApplyStep = z.infer<typeof applyStepSchema>

/**
 * `staging`: nothing of the folder's own was touched. `swapping`: steps run; recovery finishes them. `undoing`: recovery undoes them.
 * `settling`: all steps are done, backups are being removed. `done`, `undone`: over. `stuck`: neither way was possible.
 */
const applyIntentSchema = z.object({
  version: z.literal(1), taskId: taskIdSchema, expected: digestSchema, how: z.enum(['folder', 'patch-file']), folder: z.string().min(1),
  state: z.enum(['staging', 'swapping', 'undoing', 'settling', 'done', 'undone', 'stuck']),
  steps: z.array(applyStepSchema), detail: z.string(),
})
export type ApplyIntent = z.infer<typeof applyIntentSchema>

/** Reads the intent of the last apply; null when there was none. Throws a WorkspaceFault when it is damaged. */
export async function readIntent(path: string): Promise<ApplyIntent | null> {
  const text = await unless(['ENOENT', 'ENOTDIR'], readFile(path, 'utf8'))
  if (text === null) return null
  const intent = applyIntentSchema.safeParse(parseJson(text))
  return intent.success ? intent.data : fault('apply-failed', 'The record of an apply (apply.json) is damaged.', 'Compare the folder with the patch by hand.')
}

/** Records how far an apply is; durable when it returns. */
export async function writeIntent(path: string, intent: ApplyIntent): Promise<ApplyIntent> {
  await replaceFile(path, JSON.stringify(intent))
  return intent
}

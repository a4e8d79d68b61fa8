import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { digestSchema, millisSchema, taskIdSchema, type TaskId } from '../../../src-preload/contract/ids.ts'
import { taskSourceSchema } from '../../../src-preload/contract/task.ts'
import { fault, unless } from './fault.ts'
import { ignoreSourceSchema } from './ignore-rules.ts'
import { parseJson } from './tree.ts'

/** Where a task keeps what. Only `workspace` and `state` are ever seen by a sandbox. */
export interface TaskPaths {
  readonly dir: string
  readonly base: string
  readonly workspace: string
  readonly state: string
  readonly meta: string
  readonly manifest: string
  readonly verify: string
  readonly snapshot: string
  readonly applyIntent: string
}

/** The folders of a task below `root`. A task id holds no separator and does not start with a dot (contract/ids.ts), so it is a safe name. */
export function taskPaths(root: string, taskId: TaskId): TaskPaths {
  const dir = join(root, taskIdSchema.parse(taskId))
  const at = (name: string): string => join(dir, name)
  return { dir, base: at('base'), workspace: at('workspace'), state: at('state'), meta: at('meta.json'), manifest: at('base.jsonl'), verify: at('verify'), snapshot: at('snapshot'), applyIntent: at('apply.json') }
}

/** What `prepare` recorded. Written last, so that a task folder without it is an interrupted one. */
const metaSchema = z.object({
  version: z.literal(1),
  taskId: taskIdSchema,
  source: taskSourceSchema,
  /** The real path that was copied. */
  folder: z.string().min(1),
  preparedAt: millisSchema,
  baseDigest: digestSchema,
  baseCommit: z.string().nullable(),
  files: z.number().int().min(0),
  bytes: z.number().int().min(0),
  notes: z.array(z.string()),
  rules: z.object({ prefix: z.string(), sources: z.array(ignoreSourceSchema), mountPoints: z.array(z.string()) }),
  disposedAt: millisSchema.nullable(),
})
export type Meta = z.infer<typeof metaSchema>

/** Reads what was recorded; null when the task was never prepared. Throws a WorkspaceFault when the record is damaged. */
export async function readMeta(paths: TaskPaths): Promise<Meta | null> {
  const text = await unless(['ENOENT', 'ENOTDIR'], readFile(paths.meta, 'utf8'))
  if (text === null) return null
  const meta = metaSchema.safeParse(parseJson(text))
  return meta.success ? meta.data : fault('workspace-failed', 'The record of this workspace (meta.json) is damaged.', 'Dispose of the workspace and start the task again.')
}

/** Reads what was recorded of a task that has a workspace now. */
export async function needMeta(paths: TaskPaths): Promise<Meta> {
  const meta = await readMeta(paths)
  if (meta === null) return fault('workspace-failed', 'Nothing of this task is on disk any more.', 'Look at its history in the room and in Audit, or start the task again.')
  if (meta.disposedAt !== null) return fault('workspace-failed', 'This task\'s workspace has been disposed of; its snapshot is kept.', 'Start a revision of the task.')
  return meta
}

/** Replaces a file so that after a crash it is the old or the new one, never a half: temp file, fsync, rename, fsync of the folder. */
export async function replaceFile(path: string, content: string | Uint8Array, mode = 0o600): Promise<void> {
  const temp = `${path}.${randomBytes(6).toString('hex')}.new`
  const out = await open(temp, 'wx', mode)
  try {
    await out.writeFile(content)
    await out.sync()
    await rename(temp, path)
  } catch (error) {
    await rm(temp, { force: true })
    throw error
  } finally {
    await out.close()
  }
  await syncFolder(dirname(path))
}

/** Makes names in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Makes the private folder below which all tasks lie. */
export async function makeRoot(root: string): Promise<void> {
  await mkdir(root, { recursive: true, mode: 0o700 })
}

/** The tasks that have a folder. */
export async function listTasks(root: string): Promise<readonly TaskId[]> {
  const names = (await unless(['ENOENT'], readdir(root))) ?? []
  return names.flatMap((name) => {
    const id = taskIdSchema.safeParse(name)
    return id.success ? [id.data] : []
  })
}

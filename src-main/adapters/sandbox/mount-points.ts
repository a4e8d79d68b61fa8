import { lstat, mkdir, open, readFile, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { Mask } from './bubblewrap-arguments.ts'
import { handOver } from './unprivileged.ts'

/**
 * Places of a workspace from which OpenCode would take configuration or code. They are covered in every sandbox, also where
 * they do not exist, so that nobody can create them either.
 */
export const maskedPaths: readonly Mask[] = [{ path: '.opencode', kind: 'folder' }, { path: 'opencode.json', kind: 'file' }, { path: 'opencode.jsonc', kind: 'file' }]

/** What was created in a workspace only to be mounted over, newest last. */
const madeSchema = z.object({ path: z.string().startsWith('/'), kind: z.enum(['folder', 'file']) })
export type Made = z.infer<typeof madeSchema>
interface Held { count: number; readonly made: Made[]; turn: Promise<unknown> }

/** Keeps the mount points of workspaces while a sandbox uses them and takes away what it made afterwards. */
export interface MountPoints {
  /**
   * Makes sure that the masks and `folders` (relative paths of read-only mounts) can be mounted in `workspaceDir`. Refuses links
   * and special files there: a mount would follow them out of the workspace. `release` is idempotent.
   */
  hold(workspaceDir: string, folders: readonly string[]): Promise<Result<{ readonly masks: readonly Mask[]; readonly made: readonly Made[]; release(): Promise<void> }, Failure>>
}

/** Why something in a workspace cannot be masked. */
export const refusedPlace = (path: string, what: string): Failure =>
  failure('sandbox-failed', `“${path}” in the workspace is ${what}; it could lead out of the sandbox.`, 'Remove or rename it in the task\'s workspace, or start a new task from a folder without it.')

type Found = 'absent' | 'folder' | 'file' | 'other'

async function look(path: string): Promise<Found> {
  const stat = await lstat(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  })
  if (stat === null) return 'absent'
  if (stat.isDirectory()) return 'folder'
  return stat.isFile() ? 'file' : 'other'
}

async function make(path: string, kind: 'folder' | 'file', made: Made[]): Promise<void> {
  if (kind === 'folder') await mkdir(path)
  // wx: exclusive, and does not follow a link at that name.
  else await (await open(path, 'wx', 0o644)).close()
  made.push({ path, kind })
  await handOver(path)
}

/** Walks down to `relative` and creates what is missing. The walk never goes through a link. */
async function ensureFolder(root: string, relative: string, made: Made[]): Promise<Failure | null> {
  let at = root
  for (const name of relative.split('/')) {
    at = join(at, name)
    const found = await look(at)
    if (found === 'absent') await make(at, 'folder', made)
    else if (found !== 'folder') return refusedPlace(relative, found === 'file' ? 'a file where a folder is to be mounted' : 'a link or a special file')
  }
  return null
}

async function ensureMask(root: string, mask: Mask, made: Made[]): Promise<Result<Mask, Failure>> {
  const at = join(root, mask.path)
  const found = await look(at)
  if (found === 'other') return err(refusedPlace(mask.path, 'a link or a special file'))
  if (found === 'absent') await make(at, mask.kind, made)
  return ok({ path: mask.path, kind: found === 'absent' ? mask.kind : found })
}

/** Gone already, or somebody else's by now. */
const keptFolder: readonly string[] = ['ENOENT', 'ENOTEMPTY', 'ENOTDIR', 'EEXIST']

/** Removes what was made, if it is still as empty as it was made. Somebody else's content stays. */
export async function removeMade(made: readonly Made[]): Promise<void> {
  for (const { path, kind } of [...made].reverse()) {
    if (kind === 'folder') {
      await rmdir(path).catch((error: unknown) => { if (!keptFolder.includes((error as NodeJS.ErrnoException).code ?? '')) throw error })
      continue
    }
    const stat = await lstat(path).catch(() => null)
    if (stat?.isFile() === true && stat.size === 0) await unlink(path)
  }
}

/** File of a run folder that lists what was made, for the case that the app dies before it can take it away. */
export const madeListName = 'made.json'

/** Reads such a list; an absent or half-written one is empty. */
export async function readMade(path: string): Promise<readonly Made[]> {
  const text = await readFile(path, 'utf8').catch(() => '[]')
  try {
    return z.array(madeSchema).safeParse(JSON.parse(text)).data ?? []
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}

async function prepare(root: string, folders: readonly string[], made: Made[]): Promise<Result<readonly Mask[], Failure>> {
  for (const folder of folders) {
    const problem = await ensureFolder(root, folder, made)
    if (problem !== null) return err(problem)
  }
  const masks: Mask[] = []
  for (const mask of maskedPaths) {
    const checked = await ensureMask(root, mask, made)
    if (!checked.ok) return checked
    masks.push(checked.value)
  }
  return ok(masks)
}

/**
 * Mount points are shared by all sandboxes of a workspace and removed only after the last: removing one from outside would take
 * the mask off in those that still run.
 */
export function createMountPoints(): MountPoints {
  const workspaces = new Map<string, Held>()

  async function release(workspaceDir: string, held: Held): Promise<void> {
    held.count -= 1
    if (held.count > 0) return
    workspaces.delete(workspaceDir)
    await removeMade(held.made)
  }

  function inTurn<T>(held: Held, work: () => Promise<T>): Promise<T> {
    const next = held.turn.then(work)
    held.turn = next.catch(() => undefined)
    return next
  }

  return {
    async hold(workspaceDir, folders) {
      const held = workspaces.get(workspaceDir) ?? { count: 0, made: [], turn: Promise.resolve() }
      workspaces.set(workspaceDir, held)
      held.count += 1
      let released = false
      const once = async (): Promise<void> => {
        if (released) return
        released = true
        await inTurn(held, () => release(workspaceDir, held))
      }
      const prepared = await inTurn(held, () => prepare(workspaceDir, folders, held.made)).catch(async (error: unknown) => {
        await once()
        throw error
      })
      if (!prepared.ok) {
        await once()
        return prepared
      }
      return ok({ masks: prepared.value, made: [...held.made], release: once })
    },
  }
}

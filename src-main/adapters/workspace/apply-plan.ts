import { posix } from 'node:path'
import { randomBytes } from 'node:crypto'
import type { ApplyStep } from './apply-intent.ts'
import type { Change } from './changes.ts'
import { fault } from './fault.ts'
import { unless } from './fault.ts'
import { inFolderOf } from './pinned-folder.ts'

type Seen = 'absent' | 'folder' | 'other'

/** What is at a path of the owner's folder, seen without following a link. A link or file on the way counts as `other` being in the way. */
async function look(folder: string, path: string): Promise<Seen | 'blocked'> {
  const seen = await unless(['ENOENT'], inFolderOf(folder, path, async (parent, name): Promise<Seen> => {
    const stat = await parent.stat(name)
    return stat === null ? 'absent' : stat.isDirectory() ? 'folder' : 'other'
  }).catch((error: unknown) => blockedOr(error)))
  return seen ?? 'absent'
}

function blockedOr(error: unknown): 'blocked' {
  if (error instanceof Error && 'code' in error && (error.code === 'ENOTDIR' || error.code === 'ELOOP')) return 'blocked'
  throw error
}

/**
 * Turns changes into steps, in an order that works forwards, and backwards for undoing: removals, emptied folders deepest first, new folders,
 * then files. Staged files and backups lie beside their targets, on the same file system; where that folder does not exist yet, or will give way to a
 * file, in the nearest one above it that stays. Throws a WorkspaceFault when something that does not count is in the way.
 */
export async function planSteps(folder: string, changes: readonly Change[]): Promise<readonly ApplyStep[]> {
  const token = `.countersign-${randomBytes(6).toString('hex')}`
  const removed = new Set(changes.filter((change) => change.is === 'deleted').map((change) => change.path))
  const put = new Set(changes.filter((change) => change.is !== 'deleted').map((change) => change.path))
  const folders = await missingFolders(folder, put, removed)
  const emptied = await emptiedFolders(folder, put, removed)
  let count = 0
  const beside = async (path: string, kind: 'new' | 'old'): Promise<string> => {
    count += 1
    return posix.join(await stayingFolder(folder, posix.dirname(path), put), `${token}-${count}.${kind}`)
  }
  const steps: ApplyStep[] = []
  for (const change of changes) if (change.is === 'deleted') steps.push({ does: 'remove', path: change.path, before: change.before, backup: await beside(change.path, 'old') })
  for (const path of emptied) steps.push({ does: 'remove-folder', path })
  for (const path of folders) steps.push({ does: 'make-folder', path })
  for (const change of changes) {
    if (change.is === 'deleted') continue
    await refuseInTheWay(folder, change, emptied)
    steps.push({ does: 'put', path: change.path, before: change.before, after: change.after, staged: await beside(change.path, 'new'), backup: change.is === 'modified' ? await beside(change.path, 'old') : null })
  }
  return steps
}

/** Folders to make, parents first. A parent that is now a file or link must be one that is removed. */
async function missingFolders(folder: string, put: ReadonlySet<string>, removed: ReadonlySet<string>): Promise<readonly string[]> {
  const missing = new Set<string>()
  for (const path of put) {
    for (let parent = posix.dirname(path); parent !== '.' && !missing.has(parent); parent = posix.dirname(parent)) {
      const seen = await look(folder, parent)
      if (seen === 'folder') break
      if (seen === 'other' && !removed.has(parent)) fault('apply-failed', `${parent} is in the way: it is no folder, and not part of the task.`, 'Move it away and accept again, or save the patch.')
      missing.add(parent)
    }
  }
  return [...missing].sort((a, b) => a.length - b.length)
}

/** Folders whose name a file takes, with all below them that only held removed files; deepest first. */
async function emptiedFolders(folder: string, put: ReadonlySet<string>, removed: ReadonlySet<string>): Promise<readonly string[]> {
  const emptied = new Set<string>()
  for (const path of removed) {
    const above: string[] = []
    for (let parent = posix.dirname(path); parent !== '.'; parent = posix.dirname(parent)) {
      above.push(parent)
      if (put.has(parent)) for (const one of above) emptied.add(one)
    }
  }
  for (const path of put) if (!emptied.has(path) && (await look(folder, path)) === 'folder') emptied.add(path)
  return [...emptied].sort((a, b) => b.length - a.length)
}

async function refuseInTheWay(folder: string, change: Change, emptied: readonly string[]): Promise<void> {
  if (change.is !== 'added' || emptied.includes(change.path)) return
  const seen = await look(folder, change.path)
  if (seen !== 'absent' && seen !== 'blocked') fault('apply-failed', `${change.path} is in the way: it exists in the folder, but was not part of the task.`, 'Move it away and accept again, or save the patch.')
}

/** The nearest folder at or above `path` that exists now and will not give way to a file. '' is the top. */
async function stayingFolder(folder: string, path: string, put: ReadonlySet<string>): Promise<string> {
  let best = ''
  let at = ''
  for (const part of path === '.' ? [] : path.split('/')) {
    at = posix.join(at, part)
    if (put.has(at) || (await look(folder, at)) !== 'folder') break
    best = at
  }
  return best
}

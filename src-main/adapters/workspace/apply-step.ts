import { constants } from 'node:fs'
import { link, mkdir, open, readlink, rename, rmdir, symlink, unlink } from 'node:fs/promises'
import { posix } from 'node:path'
import type { ApplyStep } from './apply-intent.ts'
import { fault, systemCode, unless } from './fault.ts'
import { inFolderOf, type PinnedFolder } from './pinned-folder.ts'
import { fileEntry, hashHandle, linkEntry } from './seal.ts'
import { sameEntry, type TreeEntry } from './tree.ts'

type Put = Extract<ApplyStep, { does: 'put' }>

/** The entry of whatever is at a path of the folder now; null when there is nothing, or nothing that could be an entry. */
async function sealAt(root: string, path: string): Promise<TreeEntry | null> {
  return unless(['ENOENT', 'ENOTDIR', 'ELOOP'], inFolderOf(root, path, async (folder, name) => {
    const stat = await folder.stat(name)
    if (stat?.isSymbolicLink() === true) return linkEntry(path, await readlink(folder.at(name)))
    const opened = await folder.file(name)
    if (opened === null) return null
    try {
      const { size, sha256 } = await hashHandle(opened.handle, opened.stat.size)
      return fileEntry(path, opened.stat, size, sha256)
    } finally {
      await opened.handle.close()
    }
  }))
}

const holds = (entry: TreeEntry | null, wanted: TreeEntry): boolean => entry !== null && sameEntry(entry, wanted)

async function kindAt(root: string, path: string): Promise<'absent' | 'folder' | 'other'> {
  const stat = await unless(['ENOENT', 'ENOTDIR', 'ELOOP'], inFolderOf(root, path, (folder, name) => folder.stat(name)))
  return stat === null ? 'absent' : stat.isDirectory() ? 'folder' : 'other'
}

/** Where a step stands, by the folder alone. `unknown`: somebody else changed what it is about. */
export async function stateOfStep(root: string, step: ApplyStep): Promise<'todo' | 'done' | 'unknown'> {
  if (step.does === 'remove-folder') return (await kindAt(root, step.path)) === 'folder' ? 'todo' : 'done'
  if (step.does === 'make-folder') return (await kindAt(root, step.path)) === 'folder' ? 'done' : 'todo'
  if (step.does === 'remove') {
    const moved = holds(await sealAt(root, step.backup), step.before)
    if (moved) return holds(await sealAt(root, step.path), step.before) ? 'unknown' : 'done'
    return holds(await sealAt(root, step.path), step.before) ? 'todo' : 'unknown'
  }
  const now = await sealAt(root, step.path)
  if (holds(now, step.after)) return step.backup === null || holds(await sealAt(root, step.backup), step.before ?? step.after) ? 'done' : 'unknown'
  if (!holds(await sealAt(root, step.staged), step.after)) return 'unknown'
  if (step.before === null) return (await kindAt(root, step.path)) === 'other' ? 'unknown' : 'todo'
  // Between the two renames of a system without hard links the old file is at its backup only.
  const moved = step.backup !== null && holds(await sealAt(root, step.backup), step.before)
  return holds(now, step.before) || (now === null && moved) ? 'todo' : 'unknown'
}

/** Puts the new content beside its target: written from the workspace, hashed on the way, on disk when it returns. */
export async function stageStep(root: string, step: Put, workspace: string): Promise<void> {
  const target = step.after.type === 'link' ? await inFolderOf(workspace, step.path, (folder, name) => readlink(folder.at(name))) : null
  const mode = await modeFor(root, step)
  const entry = await inFolderOf(root, step.staged, async (folder, name) => {
    if (target !== null) {
      await symlink(target, folder.at(name))
      return linkEntry(step.path, target)
    }
    return inFolderOf(workspace, step.path, (from, fromName) => copyStaged(from, fromName, folder.at(name), mode, step.path))
  })
  if (entry === null || !sameEntry(entry, step.after)) fault('workspace-failed', `${step.path} changed in the workspace while it was being applied.`, 'Verify the result again.')
}

async function copyStaged(from: PinnedFolder, name: string, to: string, mode: number | null, path: string): Promise<TreeEntry | null> {
  const opened = await from.file(name)
  if (opened === null) return null
  try {
    const exec = (opened.stat.mode & 0o100) !== 0
    const out = await open(to, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, exec ? 0o777 : 0o666)
    try {
      const { size, sha256 } = await hashHandle(opened.handle, opened.stat.size, async (chunk) => out.writeFile(chunk))
      if (mode !== null) await out.chmod(mode)
      await out.sync()
      return fileEntry(path, opened.stat, size, sha256)
    } finally {
      await out.close()
    }
  } finally {
    await opened.handle.close()
  }
}

/** A changed file keeps the owner's mode; only the execute bits follow the change. Null: a new file, the umask decides. */
async function modeFor(root: string, step: Put): Promise<number | null> {
  if (step.before?.type !== 'file' || step.after.type !== 'file') return null
  const stat = await inFolderOf(root, step.path, (folder, name) => folder.stat(name))
  if (stat === null) return null
  const mode = stat.mode & 0o7777
  // Whoever may read it may execute it, as chmod +x and git do.
  return step.after.exec ? mode | ((mode & 0o444) >> 2) : mode & ~0o111
}

async function move(root: string, from: string, to: string): Promise<void> {
  await inFolderOf(root, from, (source, fromName) => inFolderOf(root, to, (target, toName) => rename(source.at(fromName), target.at(toName))))
}

/** Makes every name that the steps make or take away durable: once for each folder, not once a step. */
export async function syncFoldersOf(root: string, steps: readonly ApplyStep[]): Promise<void> {
  const names = steps.flatMap((step) => [step.path, ...('backup' in step && step.backup !== null ? [step.backup] : []), ...('staged' in step ? [step.staged] : [])])
  for (const folder of new Set(names.map((name) => posix.dirname(name)))) {
    await unless(['ENOENT', 'ENOTDIR', 'ELOOP'], inFolderOf(root, posix.join(folder, 'any'), (open) => open.sync()))
  }
}

/** A file of the result takes this folder's name. Whatever the task did not know of in it stays, and is told. */
async function removeEmptied(folder: PinnedFolder, name: string, path: string): Promise<void> {
  const gone = await unless(['ENOTEMPTY', 'EEXIST'], rmdir(folder.at(name)).then(() => true))
  if (gone === null) fault('apply-failed', `The folder ${path} is in the way: the result has a file of that name, and the folder still holds files that are not part of the task.`, 'Everything was put back. Move those files away and accept again, or save the patch.')
}

/** Does a step that is `todo`. Never overwrites what it did not expect: a change underneath is found in the backup and throws. */
export async function doStep(root: string, step: ApplyStep): Promise<void> {
  if (step.does === 'remove-folder') return inFolderOf(root, step.path, (folder, name) => removeEmptied(folder, name, step.path))
  if (step.does === 'make-folder') {
    return inFolderOf(root, step.path, async (folder, name) => {
      await unless(['EEXIST'], mkdir(folder.at(name)))
    })
  }
  if (step.does === 'remove') {
    await move(root, step.path, step.backup)
    return expectBackup(root, step.path, step.backup, step.before)
  }
  if (step.before !== null && step.backup !== null) {
    await keepBackup(root, step.path, step.backup, step.before)
    await expectBackup(root, step.path, step.backup, step.before)
    return move(root, step.staged, step.path)
  }
  await placeNew(root, step)
}

/** The old file gets a second name, so that the path is never empty; where there are no hard links, and for links, it is moved. */
async function keepBackup(root: string, path: string, backup: string, before: TreeEntry): Promise<void> {
  if ((await kindAt(root, backup)) === 'other') return
  const linked = before.type === 'file' && (await inFolderOf(root, path, (source, name) => inFolderOf(root, backup, async (target, backupName) => {
    return (await unless(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'EXDEV', 'ENOSYS'], link(source.at(name), target.at(backupName)).then(() => true))) ?? false
  })))
  if (!linked) await move(root, path, backup)
}

async function expectBackup(root: string, path: string, backup: string, before: TreeEntry): Promise<void> {
  if (!holds(await sealAt(root, backup), before)) fault('folder-changed', `${path} changed in the folder while the result was being applied.`, 'Everything was put back. Start a revision from the folder as it is now.')
}

/** A new file must not replace one that appeared meanwhile: a hard link fails where a rename would overwrite. */
async function placeNew(root: string, step: Put): Promise<void> {
  await inFolderOf(root, step.staged, (from, stagedName) => inFolderOf(root, step.path, async (to, name) => {
    try {
      if (step.after.type === 'link') await symlink(await readlink(from.at(stagedName)), to.at(name))
      else await link(from.at(stagedName), to.at(name))
      await unlink(from.at(stagedName))
    } catch (error) {
      if (systemCode(error) === 'EEXIST') fault('folder-changed', `${step.path} appeared in the folder while the result was being applied.`, 'Everything was put back. Move it away and accept again.')
      if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'ENOSYS'].includes(systemCode(error) ?? '')) throw error
      await rename(from.at(stagedName), to.at(name))
    }
  }))
}

/** Undoes a step, done or not. What somebody else put there meanwhile stays and throws. */
export async function undoStep(root: string, step: ApplyStep): Promise<void> {
  if (step.does === 'make-folder') await unless(['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'ELOOP'], inFolderOf(root, step.path, (folder, name) => rmdir(folder.at(name))))
  else if (step.does === 'remove-folder') await unless(['EEXIST'], inFolderOf(root, step.path, (folder, name) => mkdir(folder.at(name))))
  else if (step.does === 'put') await undoPut(root, step)
  else if ((await kindAt(root, step.backup)) !== 'absent') await restore(root, step.backup, step.path)
}

async function undoPut(root: string, step: Put): Promise<void> {
  if (step.backup !== null && (await kindAt(root, step.backup)) !== 'absent') {
    const now = await sealAt(root, step.path)
    // Otherwise the path holds the file of which the backup is a second name, or what the owner saved over it: that stays.
    if (holds(now, step.after) || (await kindAt(root, step.path)) === 'absent') await move(root, step.backup, step.path)
    else await removeFile(root, step.backup)
  } else if (step.before === null && holds(await sealAt(root, step.path), step.after)) {
    await removeFile(root, step.path)
  }
  await removeFile(root, step.staged)
}

async function restore(root: string, backup: string, path: string): Promise<void> {
  if ((await kindAt(root, path)) !== 'absent') fault('apply-failed', `${path} appeared in the folder; the old file is kept as ${backup}.`, 'Compare the two by hand.')
  await move(root, backup, path)
}

/** Removes a file or link; absent is fine. */
async function removeFile(root: string, path: string): Promise<void> {
  await unless(['ENOENT', 'ENOTDIR', 'ELOOP'], inFolderOf(root, path, (folder, name) => unlink(folder.at(name))))
}

/** After the last step: removes backups, and folders that removals left empty, as git does. */
export async function settleStep(root: string, step: ApplyStep): Promise<void> {
  if (step.does === 'put') {
    await removeFile(root, step.staged)
    if (step.backup !== null) await removeFile(root, step.backup)
  }
  if (step.does !== 'remove') return
  await removeFile(root, step.backup)
  for (let parent = posix.dirname(step.path); parent !== '.'; parent = posix.dirname(parent)) {
    const at = parent
    const gone = await unless(['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR', 'ELOOP'], inFolderOf(root, at, (folder, name) => rmdir(folder.at(name)).then(() => true)))
    if (gone === null) return
  }
}

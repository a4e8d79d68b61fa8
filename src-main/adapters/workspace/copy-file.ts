import { constants } from 'node:fs'
import { copyFile, open, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fault } from './fault.ts'
import { hasDescriptorPaths } from './pinned-folder.ts'
import { fileEntry, hashHandle, linkEntry, sha256Of } from './seal.ts'
import type { TreeEntry } from './tree.ts'
import type { Found } from './walk.ts'

/** Below this size a file is read once and written; above, the file system may share its blocks (reflink). */
const inMemoryBytesMax = 256 * 1024
const cloneNew = constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL

/** Copies one found file or link to the same path below each of `roots`, which must not have it yet, and returns its entry. Times and owners are not kept; of the mode, only whether it is executable. */
export async function copyFound(found: Found, roots: readonly string[]): Promise<TreeEntry> {
  const targets = roots.map((root) => join(root, found.path))
  if (found.is === 'link') {
    for (const target of targets) await symlink(found.target, target)
    return linkEntry(found.path, found.target)
  }
  const opened = await found.folder.file(found.name)
  if (opened === null) return fault('workspace-failed', `${found.path} changed while it was being copied.`, 'Try again when nothing writes to the folder.')
  const { handle, stat } = opened
  const mode = (stat.mode & 0o100) !== 0 ? 0o755 : 0o644
  try {
    if (stat.size <= inMemoryBytesMax) {
      const content = await handle.readFile()
      for (const target of targets) await writeNew(target, content, mode)
      return fileEntry(found.path, stat, content.byteLength, sha256Of(content))
    }
    const [first, ...others] = targets
    if (first === undefined) throw new TypeError('nowhere to copy to')
    if (hasDescriptorPaths) await cloneTo(`/proc/self/fd/${handle.fd}`, first, mode)
    else await streamTo(handle, first, mode)
    for (const other of others) await cloneTo(first, other, mode)
    return fileEntry(found.path, stat, ...(await sealOf(first)))
  } finally {
    await handle.close()
  }
}

async function writeNew(target: string, content: Uint8Array, mode: number): Promise<void> {
  const out = await open(target, 'wx', mode)
  try {
    await out.writeFile(content)
  } finally {
    await out.close()
  }
}

async function cloneTo(source: string, target: string, mode: number): Promise<void> {
  await copyFile(source, target, cloneNew)
  const out = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    await out.chmod(mode)
  } finally {
    await out.close()
  }
}

async function streamTo(handle: Parameters<typeof hashHandle>[0], target: string, mode: number): Promise<void> {
  const out = await open(target, 'wx', mode)
  try {
    await hashHandle(handle, inMemoryBytesMax, async (chunk) => {
      await out.write(chunk)
    })
  } finally {
    await out.close()
  }
}

async function sealOf(path: string): Promise<[size: number, sha256: string]> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const { size, sha256 } = await hashHandle(handle, (await handle.stat()).size)
    return [size, sha256]
  } finally {
    await handle.close()
  }
}

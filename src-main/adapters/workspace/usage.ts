import type { TaskId } from '../../../src-preload/contract/ids.ts'
import { unless } from './fault.ts'
import { PinnedFolder } from './pinned-folder.ts'
import { listTasks, taskPaths } from './task-folder.ts'
import { inTurns } from './walk.ts'

const depthMax = 400

/** Bytes on disk (blocks, not lengths) below a folder; links are not followed. What cannot be read or vanishes is not counted. */
async function bytesBelow(path: string): Promise<number> {
  const folder = await unless(['ENOENT', 'ENOTDIR', 'EACCES'], PinnedFolder.open(path))
  if (folder === null) return 0
  try {
    return await bytesIn(folder, 0)
  } finally {
    await folder.close()
  }
}

async function bytesIn(folder: PinnedFolder, depth: number): Promise<number> {
  const names: string[] = []
  for await (const name of folder.names()) if (name !== null) names.push(name)
  const folders: string[] = []
  let bytes = 0
  await inTurns(names, 32, async (name) => {
    const stat = await folder.stat(name)
    bytes += (stat?.blocks ?? 0) * 512
    if (stat?.isDirectory() === true) folders.push(name)
  })
  if (depth >= depthMax) return bytes
  for (const name of folders) {
    const child = await unless(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'], folder.child(name))
    if (child === null) continue
    try {
      bytes += await bytesIn(child, depth + 1)
    } finally {
      await child.close()
    }
  }
  return bytes
}

/** What each task's folder takes, in bytes on disk. */
export async function usageOf(root: string): Promise<readonly { readonly taskId: TaskId; readonly bytes: number }[]> {
  const uses: { taskId: TaskId; bytes: number }[] = []
  for (const taskId of await listTasks(root)) uses.push({ taskId, bytes: await bytesBelow(taskPaths(root, taskId).dir) })
  return uses
}

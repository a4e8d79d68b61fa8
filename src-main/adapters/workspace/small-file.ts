import { unless } from './fault.ts'
import { decodeName, inFolderOf } from './pinned-folder.ts'

/** The text of a regular file inside `root`, or null when there is none there, it is over `bytesMax`, a way to it leads over a link, or it is not UTF-8. */
export async function readSmallText(root: string, path: string, bytesMax: number): Promise<string | null> {
  return unless(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG'], inFolderOf(root, path, async (folder, name) => {
    const opened = await folder.file(name)
    if (opened === null) return null
    try {
      return opened.stat.size > bytesMax ? null : decodeName(await opened.handle.readFile())
    } finally {
      await opened.handle.close()
    }
  }))
}

import { readlink } from 'node:fs/promises'
import { fault } from './fault.ts'
import type { Change } from './changes.ts'
import { binaryPatch, textPatch, type PatchSide } from './git-patch.ts'
import { hunksBetween } from './line-hunks.ts'
import { decodeName, inFolderOf } from './pinned-folder.ts'
import { sha256Of } from './seal.ts'
import type { TreeEntry } from './tree.ts'

export interface ChangePatch { readonly additions: number; readonly deletions: number; readonly binary: boolean; readonly text: string }

/** Above this a file's content is not loaded to show it. */
export const shownContentBytesMax = 4 * 1024 * 1024
/** Above this a patch file would have to hold what no tool applies any more. */
const writtenContentBytesMax = 64 * 1024 * 1024

/** Whether a change can be written into a patch file at all. */
export function fitsPatch(change: Change, bytesMax: number = writtenContentBytesMax): boolean {
  return (change.before?.size ?? 0) <= bytesMax && (change.after?.size ?? 0) <= bytesMax
}

/**
 * The patch of one change between the trees at `baseDir` and `nowDir`, as `git apply` takes it. A change of kind (file to link) is two
 * patches, as git writes it. Throws a WorkspaceFault when a file is not any more what its entry says.
 */
export async function patchOfChange(change: Change, baseDir: string, nowDir: string): Promise<ChangePatch> {
  const before = change.before === null ? null : await sideOf(baseDir, change.before)
  const after = change.after === null ? null : await sideOf(nowDir, change.after)
  if (change.is === 'modified' && change.before.type !== change.after.type) {
    const [gone, come] = [await patchOfSides(change.path, before, null), await patchOfSides(change.path, null, after)]
    return { additions: come.additions, deletions: gone.deletions, binary: gone.binary || come.binary, text: gone.text + come.text }
  }
  return patchOfSides(change.path, before, after)
}

async function patchOfSides(path: string, before: PatchSide | null, after: PatchSide | null): Promise<ChangePatch> {
  const [old, now] = [textOf(before), textOf(after)]
  if (old === null || now === null) return { additions: 0, deletions: 0, binary: true, text: await binaryPatch(path, before, after) }
  const hunks = await hunksBetween(old, now)
  return { additions: hunks.additions, deletions: hunks.deletions, binary: false, text: textPatch(path, before, after, hunks) }
}

/** Text, or null for what is shown as binary: a NUL, or bytes that are not UTF-8 and could not be written back exactly. */
function textOf(side: PatchSide | null): string | null {
  if (side === null) return ''
  if (side.content.subarray(0, 8_000).includes(0)) return null
  const text = decodeName(side.content)
  return text === null || text.includes('\0') ? null : text
}

async function sideOf(root: string, entry: TreeEntry): Promise<PatchSide> {
  const content = await contentOf(root, entry)
  if (content === null || sha256Of(content) !== entry.sha256) return fault('workspace-failed', `${entry.path} changed while it was being compared.`, 'Wait until nothing writes to the workspace and try again.')
  return { mode: entry.type === 'link' ? '120000' : entry.exec ? '100755' : '100644', content }
}

function contentOf(root: string, entry: TreeEntry): Promise<Uint8Array | null> {
  return inFolderOf(root, entry.path, async (folder, name) => {
    if (entry.type === 'link') return readlink(folder.at(name), { encoding: 'buffer' })
    const opened = await folder.file(name)
    if (opened === null) return null
    try {
      return opened.stat.size === entry.size ? await opened.handle.readFile() : null
    } finally {
      await opened.handle.close()
    }
  })
}

import { failure } from '../../../src-preload/contract/failure.ts'
import type { Digest } from '../../../src-preload/contract/ids.ts'
import type { WorkspaceDiff } from '../../engine/ports.ts'
import { changesBetween, diffDigestOf, type Change } from './changes.ts'
import { CountRules } from './count-rules.ts'
import { fault, unless, WorkspaceFault } from './fault.ts'
import { fitsPatch, patchOfChange, shownContentBytesMax } from './patch-of-change.ts'
import { openTree } from './remove-tree.ts'
import { sealFound } from './seal.ts'
import { leftOutNotes } from './survey.ts'
import type { Meta, TaskPaths } from './task-folder.ts'
import { readManifest, treeDigest, type TreeEntry } from './tree.ts'
import { walkTree, readsAtOnce, type LeftOut } from './walk.ts'

/** A patch longer than this is not shown; all shown patches together are bounded too. */
const shownPatchCharsMax = 512 * 1024
const shownPatchesCharsMax = 8 * 1024 * 1024
/** Evidence holds at most so many files (contract/task.ts). */
export const changedFilesMax = 5_000
/** What a coder may leave behind before its workspace is too large to be compared. */
const workspaceFilesMax = 120_000
const workspaceBytesMax = 6 * 2 ** 30

/** The rules that decide what counts in any tree of a prepared task: the base, the workspace, a clean copy, the owner's folder. */
function taskRules(meta: Meta, base: readonly TreeEntry[]): CountRules {
  return new CountRules({ ...meta.rules, always: base.map((entry) => entry.path), learns: false })
}

export interface TreeState { readonly entries: readonly TreeEntry[]; readonly digest: Digest; readonly leftOut: readonly LeftOut[] }

/** Reads a whole tree by a task's rules: every counted file is hashed. */
export async function readTree(root: string, rules: CountRules, signal: AbortSignal): Promise<TreeState> {
  const walked = await walkTree(root, rules, sealFound, {
    signal, atOnce: readsAtOnce, filesMax: workspaceFilesMax, bytesMax: workspaceBytesMax,
    tooLarge: (files, bytes) => failure('limit-hit', `The workspace has grown to ${files.toLocaleString('en')} files and ${Math.round(bytes / 2 ** 20).toLocaleString('en')} MiB: too much to compare.`, 'Reject the result, or start a revision that writes less.'),
  })
  return { entries: walked.taken, digest: await treeDigest(walked.taken), leftOut: walked.leftOut }
}

export interface Comparison { readonly base: readonly TreeEntry[]; readonly rules: CountRules; readonly now: TreeState; readonly changes: readonly Change[] }

/** Compares a task's workspace with its base. */
export async function compareWorkspace(paths: TaskPaths, meta: Meta, signal: AbortSignal): Promise<Comparison> {
  const base = await readManifest(paths.manifest, meta.baseDigest)
  const rules = taskRules(meta, base)
  let now = await unless(['EACCES'], readTree(paths.workspace, rules, signal))
  if (now === null) {
    await openTree(paths.workspace)
    now = await readTree(paths.workspace, rules, signal)
  }
  return { base, rules, now, changes: changesBetween(base, now.entries) }
}

/** The diff that Review shows. Patches are null for binary files and for what is too large to show; it is all in the patch file. */
export async function diffWorkspace(paths: TaskPaths, meta: Meta, signal: AbortSignal): Promise<WorkspaceDiff> {
  return shownDiff(await compareWorkspace(paths, meta, signal), paths, signal)
}

/** The part of a comparison that is shown: bounded patches, one a file. */
export async function shownDiff({ now, changes }: Comparison, paths: TaskPaths, signal: AbortSignal): Promise<WorkspaceDiff> {
  if (changes.length > changedFilesMax) fault('limit-hit', `${changes.length.toLocaleString('en')} files changed; more than ${changedFilesMax.toLocaleString('en')} cannot be reviewed.`, 'Reject the result, or start a revision with a narrower scope.')
  const files: WorkspaceDiff['files'][number][] = []
  let shownChars = 0
  for (const change of changes) {
    signal.throwIfAborted()
    const shown = await shownPatch(change, paths, shownPatchesCharsMax - shownChars)
    shownChars += shown.patch?.length ?? 0
    files.push(shown)
  }
  return { treeDigest: now.digest, diffDigest: diffDigestOf(changes), files, notes: leftOutNotes(now.leftOut) }
}

async function shownPatch(change: Change, paths: TaskPaths, room: number): Promise<WorkspaceDiff['files'][number]> {
  if (!fitsPatch(change, shownContentBytesMax)) return { change: { path: change.path, status: change.is, additions: 0, deletions: 0, binary: true }, patch: null }
  const patch = await patchOfChange(change, paths.base, paths.workspace)
  const { additions, deletions, binary } = patch
  return { change: { path: change.path, status: change.is, additions, deletions, binary }, patch: binary || patch.text.length > Math.min(shownPatchCharsMax, room) ? null : patch.text }
}

/** The whole diff as one patch that `git apply` takes, binary files included. Throws a WorkspaceFault when a file is too large for a patch. */
export async function wholePatch(comparison: Comparison, paths: TaskPaths, signal: AbortSignal): Promise<string> {
  const parts: string[] = []
  for (const change of comparison.changes) {
    signal.throwIfAborted()
    if (!fitsPatch(change)) throw new WorkspaceFault(failure('limit-hit', `${change.path} is too large for a patch file.`, 'Accept the result into the folder, or copy the file by hand.'))
    parts.push((await patchOfChange(change, paths.base, paths.workspace)).text)
  }
  return parts.join('')
}

import { digestOf } from '../../core/digest.ts'
import type { Digest } from '../../../src-preload/contract/ids.ts'
import { compareBytes, sameEntry, type TreeEntry } from './tree.ts'

/** What differs at one path. A file that became a link (or the reverse) is one change with both sides. */
export type Change = { readonly path: string } & ({ readonly is: 'added'; readonly before: null; readonly after: TreeEntry } | { readonly is: 'deleted'; readonly before: TreeEntry; readonly after: null } | { readonly is: 'modified'; readonly before: TreeEntry; readonly after: TreeEntry })

/** Compares two trees, both sorted by the bytes of their paths. Renames are a delete and an add. */
export function changesBetween(base: readonly TreeEntry[], now: readonly TreeEntry[]): readonly Change[] {
  const changes: Change[] = []
  let [i, j] = [0, 0]
  for (;;) {
    const before = base[i]
    const after = now[j]
    const order = before === undefined ? 1 : after === undefined ? -1 : compareBytes(before.path, after.path)
    if (before !== undefined && order < 0) {
      changes.push({ path: before.path, is: 'deleted', before, after: null })
      i += 1
    } else if (after !== undefined && order > 0) {
      changes.push({ path: after.path, is: 'added', before: null, after })
      j += 1
    } else if (before !== undefined && after !== undefined) {
      if (!sameEntry(before, after)) changes.push({ path: after.path, is: 'modified', before, after })
      i += 1
      j += 1
    } else {
      return changes
    }
  }
}

/** The digest of a diff: RFC 8785 JSON of every change's both sides, in order. It needs no patch text, so that its wording can change. */
export function diffDigestOf(changes: readonly Change[]): Digest {
  const side = (entry: TreeEntry | null): unknown => (entry === null ? null : { type: entry.type, exec: entry.exec, size: entry.size, sha256: entry.sha256 })
  return digestOf({ diff: 1, changes: changes.map((change) => ({ path: change.path, before: side(change.before), after: side(change.after) })) })
}

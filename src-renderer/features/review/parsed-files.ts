import { parsePatchFiles, type CodeViewDiffItem, type FileDiffMetadata } from '@pierre/diffs'
import type { Review } from '../../../src-preload/contract/methods.ts'

type ReviewFile = Review['files'][number]

/** What the viewer draws, and the paths of the files whose patch cannot be read. */
interface ParsedFiles {
  readonly items: readonly CodeViewDiffItem[]
  readonly broken: readonly string[]
}

const known = new WeakMap<readonly ReviewFile[], ParsedFiles>()
let parses = 0

/** Reads the patches of a review, once for as long as it is the same. */
export function parsedFiles(files: readonly ReviewFile[]): ParsedFiles {
  const before = known.get(files)
  if (before !== undefined) return before
  const parsed = parse(files)
  known.set(files, parsed)
  return parsed
}

function parse(files: readonly ReviewFile[]): ParsedFiles {
  // Colours are kept by this key: one of its own for each reading, so that those of one text are never put on another.
  const reading = (parses += 1).toString()
  const items: CodeViewDiffItem[] = []
  const broken: string[] = []
  for (const { change, patch } of files) {
    if (patch === null) continue
    try {
      const diff = parsePatchFiles(patch, { throwOnError: true, cacheKeyPrefix: `${reading}:${change.path}` })[0]?.files[0]
      if (diff === undefined) broken.push(change.path)
      else items.push({ id: change.path, type: 'diff', fileDiff: named(diff, change.path) })
    } catch {
      broken.push(change.path)
    }
  }
  return { items, broken }
}

/** The diff under the path of the change; a patch has its own prefixes, and renames are not told. */
function named({ prevName: _prefixed, ...diff }: FileDiffMetadata, path: string): FileDiffMetadata {
  return { ...diff, name: path }
}

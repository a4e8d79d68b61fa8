import type { Review } from '../../../src-preload/contract/methods.ts'
import { visiblePieces } from '../../ui/visible-text.ts'

const notPlain = /[^\t\n\r -~]/

/** Paths of files whose diff holds characters that cannot be seen, that control, or that reorder what is seen. */
export function misleadingFiles(files: readonly Review['files'][number][]): readonly string[] {
  return files.filter(({ patch }) => patch !== null && isMisleading(patch)).map(({ change }) => change.path)
}

function isMisleading(patch: string): boolean {
  // Most patches are plain ASCII, and then there is nothing to look for.
  if (!notPlain.test(patch)) return false
  return visiblePieces(patch, 'prose').some((piece) => piece.is === 'mark' && (piece.why === 'direction' || piece.why === 'invisible' || piece.why === 'control'))
}

import { structuredPatch, type StructuredPatchHunk } from 'diff'

/** Hunks of a unified diff with 3 lines of context, and how many lines they add and remove. */
export interface Hunks { readonly hunks: readonly StructuredPatchHunk[]; readonly additions: number; readonly deletions: number }

/** Myers' effort is bounded: first a short try in one go, then a longer one that lets other work run in between, then no more. */
const quickEdits = 200
const patientEdits = 1_500
const patientMs = 5_000
const alignedCharsMax = 2 * 1024 * 1024

/** Compares two texts line by line. Texts that are too large or too different come out as one hunk that replaces every line: still exact, only longer. */
export async function hunksBetween(before: string, after: string): Promise<Hunks> {
  if (before === after) return { hunks: [], additions: 0, deletions: 0 }
  if (before === '' || after === '' || before.length + after.length > alignedCharsMax) return counted([replaceAll(before, after)])
  const quick = structuredPatch('', '', before, after, '', '', { context: 3, maxEditLength: quickEdits })
  if (quick !== undefined) return counted(quick.hunks)
  const patient = await new Promise<readonly StructuredPatchHunk[] | null>((done) => {
    structuredPatch('', '', before, after, '', '', { context: 3, maxEditLength: patientEdits, timeout: patientMs, callback: (patch) => done(patch?.hunks ?? null) })
  })
  return counted(patient ?? [replaceAll(before, after)])
}

function counted(hunks: readonly StructuredPatchHunk[]): Hunks {
  let [additions, deletions] = [0, 0]
  for (const hunk of hunks) {
    for (const line of hunk.lines) {
      if (line.startsWith('+')) additions += 1
      else if (line.startsWith('-')) deletions += 1
    }
  }
  return { hunks, additions, deletions }
}

const noNewline = '\\ No newline at end of file'

function replaceAll(before: string, after: string): StructuredPatchHunk {
  const old = linesOf(before, '-')
  const now = linesOf(after, '+')
  return { oldStart: 1, oldLines: old.count, newStart: 1, newLines: now.count, lines: [...old.lines, ...now.lines] }
}

function linesOf(text: string, sign: '+' | '-'): { readonly count: number; readonly lines: readonly string[] } {
  if (text === '') return { count: 0, lines: [] }
  const whole = text.endsWith('\n')
  const lines = (whole ? text.slice(0, -1) : text).split('\n').map((line) => sign + line)
  return { count: lines.length, lines: whole ? lines : [...lines, noNewline] }
}

/** The text of hunks as `git apply` reads it. A side without lines starts one lower than one would expect. */
export function hunkText(hunks: readonly StructuredPatchHunk[]): string {
  const start = (line: number, count: number): number => (count === 0 ? line - 1 : line)
  return hunks.map((hunk) => `@@ -${start(hunk.oldStart, hunk.oldLines)},${hunk.oldLines} +${start(hunk.newStart, hunk.newLines)},${hunk.newLines} @@\n${hunk.lines.join('\n')}\n`).join('')
}

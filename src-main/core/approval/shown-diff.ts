/** Whether a unified diff, as OpenCode shows it, is the whole change from one text to another. OpenCode takes the indentation that all lines of a file's diff share off them. */

interface Hunk { readonly oldAt: number; readonly newAt: number; readonly lines: readonly string[] }
export interface FileDiff { readonly path: string; readonly hunks: readonly Hunk[] }

/** Stands at the end of a line without a line end: no line can hold it. */
const noLineEnd = '\n'

/** The files of a diff, read by the counts of its hunks, so that no line's content is taken for structure; null when it cannot be read. */
export function parseDiff(text: string): readonly FileDiff[] | null {
  const lines = text.split('\n')
  const files: { path: string; hunks: Hunk[] }[] = []
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? ''
    if (line === '' || line.startsWith('Index: ') || /^=+$/.test(line)) at += 1
    else if (line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ ') === true) {
      files.push({ path: (lines[at + 1] ?? '').slice(4).split('\t')[0] ?? '', hunks: [] })
      at += 2
    } else {
      const hunk = hunkAt(lines, at)
      const file = files.at(-1)
      if (hunk === null || file === undefined) return null
      file.hunks.push(hunk.hunk)
      at = hunk.next
    }
  }
  return files
}

function hunkAt(lines: readonly string[], at: number): { readonly hunk: Hunk; readonly next: number } | null {
  const counts = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(lines[at] ?? '')
  if (counts === null) return null
  let [oldLeft, newLeft] = [Number(counts[2] ?? 1), Number(counts[4] ?? 1)]
  // A side of no lines is named by the line before it.
  const [oldAt, newAt] = [Number(counts[1]) - (oldLeft > 0 ? 1 : 0), Number(counts[3]) - (newLeft > 0 ? 1 : 0)]
  const taken: string[] = []
  let next = at + 1
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? ''
    if (line.startsWith('\\') && taken.length > 0) { taken.push(`${taken.pop() ?? ''}${noLineEnd}`); continue }
    if (oldLeft === 0 && newLeft === 0) break
    if (!/^[ +-]/.test(line)) return null
    if (!line.startsWith('+')) oldLeft -= 1
    if (!line.startsWith('-')) newLeft -= 1
    if (oldLeft < 0 || newLeft < 0) return null
    taken.push(line)
  }
  return oldLeft === 0 && newLeft === 0 ? { hunk: { oldAt, newAt, lines: taken }, next } : null
}

/** Whether these hunks are all that lies between the two texts: what they name is there, and what they do not name is the same. */
export function showsWholeChange({ hunks }: FileDiff, before: string, after: string): boolean {
  const [old, now] = [linesOf(before), linesOf(after)]
  const same = indentedAlike()
  let [o, n] = [0, 0]
  for (const hunk of hunks) {
    if (hunk.oldAt < o || hunk.newAt - n !== hunk.oldAt - o) return false
    for (; o < hunk.oldAt; o += 1, n += 1) if (o >= old.length || old[o] !== now[n]) return false
    for (const line of hunk.lines) {
      const [sign, shown] = [line.charAt(0), withoutReturn(line.slice(1))]
      if (sign !== '+' && !same(shown, old[o++])) return false
      if (sign !== '-' && !same(shown, now[n++])) return false
    }
  }
  return old.length - o === now.length - n && old.slice(o).every((line, index) => line === now[n + index])
}

/** Compares lines as shown with real ones; the first that is shown without its indentation says how much all of them lack. */
function indentedAlike(): (shown: string, real: string | undefined) => boolean {
  let indent: number | null = null
  return (shown, real) => {
    if (real === undefined) return false
    if (shown.endsWith(noLineEnd) !== real.endsWith(noLineEnd)) return false
    const [seen, there] = [shown.replace(noLineEnd, ''), real.replace(noLineEnd, '')]
    if (seen === there) return true
    // A line of nothing but indentation may have lost all of it, whatever the others lack.
    indent ??= seen === '' ? null : there.length - seen.length
    const taken = indent ?? there.length
    return taken > 0 && there.slice(0, taken).trim() === '' && there.slice(taken) === seen
  }
}

function linesOf(text: string): readonly string[] {
  if (text === '') return []
  const lines = text.split('\n').map(withoutReturn)
  const last = lines.pop() ?? ''
  return last === '' ? lines : [...lines, last + noLineEnd]
}

/** Line ends are not told apart: OpenCode shows some changes with them made equal. */
function withoutReturn(line: string): string {
  return line.replace(/\r(?=\n?$)/, '')
}

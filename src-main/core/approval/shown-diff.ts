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
    const [line = '', next = ''] = lines.slice(at, at + 2)
    if (line === '' || line.startsWith('Index: ') || /^=+$/.test(line)) at += 1
    else if (line.startsWith('--- ') && next.startsWith('+++ ')) {
      files.push({ path: next.slice(4).replace(/\t.*/s, ''), hunks: [] })
      at += 2
    } else {
      const hunk = hunkAt(line, lines, at + 1)
      const file = files.at(-1)
      if (hunk === null || file === undefined) return null
      file.hunks.push(hunk.hunk)
      at = hunk.next
    }
  }
  return files
}

/** The hunk that `head` begins and that goes on from `from`. */
function hunkAt(head: string, lines: readonly string[], from: number): { readonly hunk: Hunk; readonly next: number } | null {
  const counts = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(head)
  if (counts === null) return null
  let [oldLeft, newLeft] = [Number(counts[2] ?? 1), Number(counts[4] ?? 1)]
  // A side of no lines is named by the line before it.
  const [oldAt, newAt] = [Number(counts[1]) - (oldLeft > 0 ? 1 : 0), Number(counts[3]) - (newLeft > 0 ? 1 : 0)]
  const taken: string[] = []
  let next = from
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? ''
    if (line.startsWith('\\') && taken.length > 0) { taken.push(`${taken.pop() ?? ''}${noLineEnd}`); continue }
    if (oldLeft === 0 && newLeft === 0) break
    if (!/^[ +-]/.test(line)) return null
    if (!line.startsWith('+')) oldLeft -= 1
    if (!line.startsWith('-')) newLeft -= 1
    taken.push(line)
  }
  // A side that holds more than it counts is below 0 by now.
  return oldLeft === 0 && newLeft === 0 ? { hunk: { oldAt, newAt, lines: taken }, next } : null
}

/** Whether these hunks are all that lies between the two texts: what they name is there, and what they do not name is the same. */
export function showsWholeChange({ hunks }: FileDiff, before: string, after: string): boolean {
  const [old, now] = [linesOf(before), linesOf(after)]
  const lacking = indentTakenOff(hunks, old, now)
  let [o, n] = [0, 0]
  for (const hunk of hunks) {
    if (hunk.oldAt < o || hunk.newAt - n !== hunk.oldAt - o) return false
    for (; o < hunk.oldAt; o += 1, n += 1) if (o >= old.length || old[o] !== now[n]) return false
    for (const line of hunk.lines) {
      const sign = line.charAt(0)
      if (sign !== '+' && !isShownAs(line, old[o++], lacking)) return false
      if (sign !== '-' && !isShownAs(line, now[n++], lacking)) return false
    }
  }
  return old.length - o === now.length - n && old.slice(o).every((line, index) => line === now[n + index])
}

/** How much each line of these hunks lacks: told by the first that holds more than blanks. Where there is none, OpenCode takes nothing off. */
function indentTakenOff(hunks: readonly Hunk[], old: readonly string[], now: readonly string[]): number {
  for (const { oldAt, newAt, lines } of hunks) {
    let [o, n] = [oldAt, newAt]
    for (const line of lines) {
      const sign = line.charAt(0)
      const real = sign === '+' ? now[n] : old[o]
      if (sign !== '+') o += 1
      if (sign !== '-') n += 1
      if (real !== undefined && real.trim() !== '' && !isLeftWhole(sign + real)) return Math.max(0, real.length - shownIn(line).length)
    }
  }
  return 0
}

/** Whether a diff's line stands for this line of a file, of which `lacking` characters of indentation are taken off. */
function isShownAs(line: string, real: string | undefined, lacking: number): boolean {
  const shown = shownIn(line)
  if (real === undefined) return false
  if (shown.endsWith(noLineEnd) !== real.endsWith(noLineEnd)) return false
  const [seen, there] = [shown.replace(noLineEnd, ''), real.replace(noLineEnd, '')]
  const taken = isLeftWhole(line.charAt(0) + real) ? 0 : lacking
  return there.slice(0, taken).trim() === '' && there.slice(taken) === seen
}

const shownIn = (line: string): string => withoutReturn(line.slice(1))

/** A line with its sign, before anything was taken off it: OpenCode takes such a one for a file's name, and nothing off it. */
const isLeftWhole = (line: string): boolean => line.startsWith('---') || line.startsWith('+++')

function linesOf(text: string): readonly string[] {
  const lines = text.split('\n').map(withoutReturn)
  const last = lines.pop() ?? ''
  return last === '' ? lines : [...lines, last + noLineEnd]
}

/** Line ends are not told apart: OpenCode shows some changes with them made equal. */
function withoutReturn(line: string): string {
  return line.replace(/\r(?=\n?$)/, '')
}

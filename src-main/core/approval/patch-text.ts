/** The text of an `apply_patch` call, as OpenCode reads it. Only what can be followed to the letter is: where its reading is lenient, nothing is derived. */

export type PatchChange =
  | { readonly is: 'add'; readonly path: string; readonly content: string }
  | { readonly is: 'delete'; readonly path: string }
  /** `chunks` null: it holds something that this reading does not follow. */
  | { readonly is: 'update'; readonly path: string; readonly movedTo: string | null; readonly chunks: readonly PatchChunk[] | null }

export interface PatchChunk { readonly context: string | null; readonly before: readonly string[]; readonly after: readonly string[] }

const header = /^\*\*\* (Add|Delete|Update) File:(.*)$/s
const moveTo = '*** Move to:'

/** The changes that a patch names, in its order; null when it is no patch. What stands around its marks, such as a here-document, does not matter. */
export function parsePatch(text: string): readonly PatchChange[] | null {
  const lines = text.split('\n')
  const begin = lines.findIndex((line) => line.trim() === '*** Begin Patch')
  const end = lines.findIndex((line) => line.trim() === '*** End Patch')
  if (begin === -1 || end <= begin) return null
  const changes: PatchChange[] = []
  for (let at = begin + 1; at < end;) {
    const named = header.exec(lines[at] ?? '')
    const path = named?.[2]?.trim() ?? ''
    if (named === null || path === '') { at += 1; continue }
    const until = lines.findIndex((line, index) => index > at && line.startsWith('***') && !line.startsWith(moveTo))
    if (until === -1) return null
    const body = lines.slice(at + 1, until)
    // Which of two places such a chunk means is not followed.
    const atTheEnd = lines[until]?.startsWith('*** End of File') === true
    changes.push(named[1] === 'Add' ? { is: 'add', path, content: added(body) } : named[1] === 'Delete' ? { is: 'delete', path } : updated(path, body, atTheEnd))
    at = until
  }
  return changes
}

function added(body: readonly string[]): string {
  const content = body.filter((line) => line.startsWith('+')).map((line) => line.slice(1)).join('\n')
  return content === '' || content.endsWith('\n') ? content : `${content}\n`
}

function updated(path: string, body: readonly string[], atTheEnd: boolean): PatchChange {
  const [first = ''] = body
  const movedTo = first.startsWith(moveTo) ? first.slice(moveTo.length).trim() : null
  return { is: 'update', path, movedTo: movedTo === '' ? null : movedTo, chunks: atTheEnd ? null : chunksOf(first.startsWith(moveTo) ? body.slice(1) : body) }
}

function chunksOf(body: readonly string[]): readonly PatchChunk[] | null {
  const chunks: { context: string | null; before: string[]; after: string[] }[] = []
  for (const line of body) {
    const chunk = chunks.at(-1)
    if (line.startsWith('@@')) { const context = line.slice(2).trim(); chunks.push({ context: context === '' ? null : context, before: [], after: [] }) }
    else if (chunk === undefined || !/^[ +-]/.test(line)) return null
    else {
      if (!line.startsWith('+')) chunk.before.push(line.slice(1))
      if (!line.startsWith('-')) chunk.after.push(line.slice(1))
    }
  }
  return chunks
}

/** What a file becomes by the chunks of its update; null when they do not fit it to the letter. */
export function patched(base: string, chunks: readonly PatchChunk[]): string | null {
  const lines = base.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const result: string[] = []
  let from = 0
  for (const { context, before, after } of chunks) {
    const search = context === null ? from : lines.indexOf(context, from) + 1
    const at = before.length === 0 || (context !== null && search === 0) ? -1 : runIn(lines, before, search)
    if (at === -1) return null
    result.push(...lines.slice(from, at), ...after)
    from = at + before.length
  }
  result.push(...lines.slice(from))
  return result.length === 0 || result.at(-1) === '' ? result.join('\n') : `${result.join('\n')}\n`
}

function runIn(lines: readonly string[], run: readonly string[], from: number): number {
  for (let at = from; at <= lines.length - run.length; at += 1) if (run.every((line, index) => lines[at + index] === line)) return at
  return -1
}

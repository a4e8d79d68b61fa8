/** The text of an `apply_patch` call, as OpenCode reads it. Only what can be followed to the letter is: where its reading is lenient, nothing is derived. */

export type PatchChange =
  | { readonly is: 'add'; readonly path: string; readonly content: string }
  | { readonly is: 'delete'; readonly path: string }
  /** `chunks` null: it holds something that this reading does not follow. */
  | { readonly is: 'update'; readonly path: string; readonly movedTo: string | null; readonly chunks: readonly PatchChunk[] | null }

export interface PatchChunk { readonly context: string | null; readonly before: readonly string[]; readonly after: readonly string[] }

const header = /^\*\*\* (Add|Delete|Update) File:(.*)$/s
const moveTo = '*** Move to:'

/** A change while its lines are read. */
interface OpenChange { readonly kind: string | undefined; readonly path: string; readonly body: string[] }

/** The changes that a patch names, in its order; null when it is no patch. What stands around its marks, such as a here-document, does not matter. */
export function parsePatch(text: string): readonly PatchChange[] | null {
  const lines = text.split('\n')
  const begin = lines.findIndex((line) => line.trim() === '*** Begin Patch')
  const end = lines.findIndex((line) => line.trim() === '*** End Patch')
  if (begin === -1 || end <= begin) return null
  const changes: PatchChange[] = []
  let open: OpenChange | null = null
  for (const [at, line] of lines.entries()) {
    if (open !== null && (!line.startsWith('***') || line.startsWith(moveTo))) { open.body.push(line); continue }
    // Which of two places a chunk at the end of a file means is not followed.
    if (open !== null) changes.push(changeOf(open, line.startsWith('*** End of File')))
    open = at > begin && at < end ? opened(line) : null
  }
  return open === null ? changes : null
}

function opened(line: string): OpenChange | null {
  const [, kind, rest = ''] = header.exec(line) ?? []
  const path = rest.trim()
  return path === '' ? null : { kind, path, body: [] }
}

function changeOf({ kind, path, body }: OpenChange, atTheEnd: boolean): PatchChange {
  if (kind === 'Add') return { is: 'add', path, content: added(body) }
  return kind === 'Delete' ? { is: 'delete', path } : updated(path, body, atTheEnd)
}

function added(body: readonly string[]): string {
  const content = body.filter((line) => line.startsWith('+')).map((line) => line.slice(1)).join('\n')
  return content === '' || content.endsWith('\n') ? content : `${content}\n`
}

function updated(path: string, body: readonly string[], atTheEnd: boolean): PatchChange {
  const [first = '', ...rest] = body
  const moves = first.startsWith(moveTo)
  const movedTo = moves ? first.slice(moveTo.length).trim() : ''
  return { is: 'update', path, movedTo: movedTo === '' ? null : movedTo, chunks: atTheEnd ? null : chunksOf(moves ? rest : body) }
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

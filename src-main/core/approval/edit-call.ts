import type { Digest } from '../../../src-preload/contract/ids.ts'
import { digestOf } from '../digest.ts'
import { roomName, workspaceRoot, type EditedFile } from './path-pattern.ts'
import { parsePatch, patched, type PatchChange } from './patch-text.ts'
import { unquotedName } from './quoted-name.ts'
import { parseDiff, showsWholeChange, type FileDiff } from './shown-diff.ts'

/** What a file held when its edit was asked for; null: there was none. A file that could not be read whole is not among the bases. */
export interface FileBase { readonly path: string; readonly text: string | null }

/** The call that an ask for an edit is about: its complete input, what its files held, and what it calls the workspace where that is not as in the room. */
export interface EditCall { readonly tool: string; readonly input: unknown; readonly bases: readonly FileBase[]; readonly workspace?: string }

type EditChange = PatchChange | { readonly is: 'write'; readonly path: string; readonly content: string } | { readonly is: 'replace'; readonly path: string; readonly before: string; readonly after: string; readonly all: boolean }

const editTools: ReadonlySet<string> = new Set(['write', 'edit', 'apply_patch', 'patch', 'multiedit'])

/** Whether a tool changes files by itself, past the command broker. */
export function isEditTool(tool: string): boolean {
  return editTools.has(tool)
}

/** A9. What is bound when an edit is approved: the tool and every member of its input. Null for what has no one form, which equals nothing. */
export function editDigest(tool: string, input: unknown): Digest | null {
  try {
    return digestOf({ is: 'edit', tool, input })
  } catch {
    // Half a character, or no JSON at all: nobody can approve such an input.
    return null
  }
}

/** `derived`: the diff is exactly what the call would do to its files. `bound`: that cannot be told, so the call's input alone is bound. */
type Compared = { readonly is: 'derived' | 'bound' } | { readonly is: 'differs'; readonly why: string }

/** A9. Compares what a card would show of an edit with the call that would run. */
export function compareEdit({ tool, input, bases, workspace }: EditCall, files: readonly EditedFile[], diff: string): Compared {
  const changes = changesOf(tool, input, workspace)
  if (changes === null || changes.length === 0) return { is: 'differs', why: 'its call does not say which files it changes' }
  const [named, shown] = [changes.flatMap(pathsOf), files.map(({ path }) => plain(path))]
  if (named.some((path) => !shown.includes(path)) || shown.some((path) => !named.includes(path))) return { is: 'differs', why: 'its call names other files' }
  const derived = changes.map((change) => derive(change, bases))
  // A file that one call changes twice is not followed.
  if (derived.some((each) => each === null) || new Set(named).size < named.length) return { is: 'bound' }
  const sections = parseDiff(diff)
  const agrees = sections?.length === changes.length && sections.every((section, index) => sectionShows(section, derived[index] ?? null, workspace))
  return agrees ? { is: 'derived' } : { is: 'differs', why: 'what it shows is not what its call would do to the file as it is now' }
}

/**
 * A9. Compares what a done edit left with what its call does to its files; null: it is that. What could not be worked out must at least not be as it was.
 * `left`: what its files hold now; one that cannot be read is not among them. In words that continue “…: ”.
 */
export function compareLeft({ tool, input, bases, workspace }: EditCall, left: readonly FileBase[]): string | null {
  const changes = changesOf(tool, input, workspace)
  if (changes === null) return null
  const named = changes.flatMap(pathsOf)
  const twice = new Set(named).size < named.length
  for (const change of changes) {
    const { path } = change
    const derived = twice ? null : derive(change, bases)
    const [before, now] = [textIn(bases, path), textIn(left, path)]
    if (derived === null) {
      if (before !== undefined && before === now) return `${path} is as it was`
      continue
    }
    const kept = keptIn(change)
    if (kept !== path && now !== null) return `${path} is still there`
    const written = kept === null ? null : textIn(left, kept)
    if (kept !== null && (written == null || oneLineEnd(withoutMark(written)) !== oneLineEnd(derived.after))) return `${kept} does not hold what was approved`
  }
  return null
}

interface Derived { readonly path: string; readonly before: string; readonly after: string }

function sectionShows(section: FileDiff, derived: Derived | null, workspace: string | undefined): boolean {
  const named = section.path.startsWith('"') ? unquotedName(section.path) : section.path
  return derived !== null && named !== null && plain(named, workspace) === derived.path && showsWholeChange(section, derived.before, derived.after)
}

/** The changes of a call, their files as the room names them. */
function changesOf(tool: string, input: unknown, workspace: string | undefined): readonly EditChange[] | null {
  const changes = changesIn(tool, input)?.map((change): EditChange => ({ ...change, path: plain(change.path, workspace) }))
  return changes?.map((change) => (change.is === 'update' && change.movedTo !== null ? { ...change, movedTo: plain(change.movedTo, workspace) } : change)) ?? null
}

function changesIn(tool: string, input: unknown): readonly EditChange[] | null {
  if (typeof input !== 'object' || input === null) return null
  const { filePath, content, oldString, newString, replaceAll, patchText } = input as Record<string, unknown>
  if (tool === 'apply_patch') return typeof patchText === 'string' ? parsePatch(patchText) : null
  if (typeof filePath !== 'string' || filePath === '') return null
  if (tool === 'write') return typeof content === 'string' ? [{ is: 'write', path: filePath, content }] : null
  return tool === 'edit' && typeof oldString === 'string' && typeof newString === 'string' ? [{ is: 'replace', path: filePath, before: oldString, after: newString, all: replaceAll === true }] : null
}

function pathsOf(change: EditChange): readonly string[] {
  return change.is === 'update' && change.movedTo !== null ? [change.path, change.movedTo] : [change.path]
}

/** The file that holds what a change leaves; null when it leaves none. */
function keptIn(change: EditChange): string | null {
  if (change.is === 'delete') return null
  return change.is === 'update' ? change.movedTo ?? change.path : change.path
}

/** By the room's names; undefined for a file that is not among them. */
function textIn(files: readonly FileBase[], path: string): string | null | undefined {
  return files.find((each) => plain(each.path) === path)?.text
}

/** As OpenCode resolves it: a relative name belongs to the workspace's root. `workspace`: what that is called where the path is from. */
function plain(path: string, workspace: string = workspaceRoot): string {
  const names: string[] = []
  for (const name of (path.startsWith('/') ? path : `${workspace}/${path}`).split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return roomName(workspace, `/${names.join('/')}`)
}

/** What one change does to its file; null when it cannot be told to the letter. */
function derive(change: EditChange, bases: readonly FileBase[]): Derived | null {
  const { path } = change
  const base = textIn(bases, path)
  if (base === undefined) return null
  const before = withoutMark(base ?? '')
  const after = outcome(change, base === null ? null : before)
  return after === null ? null : { path, before, after: withoutMark(after) }
}

function outcome(change: EditChange, base: string | null): string | null {
  switch (change.is) {
    case 'write': case 'add': return change.content
    case 'delete': return ''
    case 'update': return base === null || change.chunks === null ? null : patched(base, change.chunks)
    case 'replace': return replaced(change, base)
  }
}

function replaced({ before, after, all }: Extract<EditChange, { is: 'replace' }>, base: string | null): string | null {
  if (before === '') return base === null ? after : null
  if (base === null || (base.includes('\r\n') && /(?<!\r)\n/.test(base))) return null
  const pieces = oneLineEnd(base).split(oneLineEnd(before))
  // OpenCode looks for something alike where it does not find this once, and `$` has a meaning of its own to it when it replaces all.
  if (pieces.length === 1 || (pieces.length > 2 && !all) || (all && after.includes('$'))) return null
  return pieces.join(oneLineEnd(after))
}

function oneLineEnd(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

/** OpenCode keeps a byte order mark apart from the text. */
function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import { isWellFormed } from '../digest.ts'

/** A file that an edit names: as the agent wrote it, and where it leads when every link on the way is followed; null when that could not be told. */
export interface EditedFile { readonly path: string; readonly real: string | null }

/** What the room calls a task's workspace, on every system. */
export const workspaceRoot = '/workspace'

/**
 * A plain absolute path of the agent's, as the room names it. `workspace`: what its programs call the workspace. What lies beside keeps its name, unless
 * the room would take that for the workspace.
 */
export function roomName(workspace: string, path: string): string {
  const within = (folder: string): boolean => path === folder || path.startsWith(`${folder}/`)
  if (within(workspace)) return `${workspaceRoot}${path.slice(workspace.length)}`
  return within(workspaceRoot) ? `/outside${path}` : path
}

const pathCharsMax = 4_096
const namesMax = 128

/** The names of a path below the workspace that is written plainly; else why it is not. Nothing is normalised: what has to be rewritten first is not what was shown. */
export function namesBelowWorkspace(path: string): Result<readonly string[], string> {
  if (path.length > pathCharsMax) return err('the path is too long')
  if (!path.startsWith(`${workspaceRoot}/`)) return err('the path does not lead into the workspace')
  if (!isWellFormed(path) || /[\p{C}\p{Zl}\p{Zp}]/u.test(path)) return err('the path holds characters that cannot be seen')
  const names = path.slice(workspaceRoot.length + 1).split('/')
  if (names.length > namesMax) return err('the path is too deep')
  if (names.some((name) => name === '' || name === '.' || name === '..')) return err('the path is not written plainly')
  return ok(names)
}

/** A pattern as its names, `*` and `**`; else why it is none. Signs that other pattern languages know are refused, so that none is taken for a plain one. */
export function parsePattern(pattern: string): Result<readonly string[], string> {
  const names = namesBelowWorkspace(pattern)
  if (!names.ok) return names
  const other = names.value.find((name) => name !== '*' && name !== '**' && /[*?[\]{}!\\]/.test(name))
  return other === undefined ? names : err(`"${other}" is neither a plain name nor * nor **`)
}

/** Whether a path that is written plainly is one of those that the pattern names. What cannot be parsed matches nothing. */
export function patternCovers(pattern: string, path: string): boolean {
  const wanted = parsePattern(pattern)
  const names = namesBelowWorkspace(path)
  return wanted.ok && names.ok && covers(wanted.value, names.value)
}

function covers(wanted: readonly string[], names: readonly string[]): boolean {
  // reached[n]: the wanted names so far can stand for the first n names.
  let reached: readonly boolean[] = [true]
  for (const name of wanted) {
    const next: boolean[] = []
    for (const [at, here] of names.entries()) {
      const fits = name === '*' || name === '**' ? !here.startsWith('.') : name === here
      next[at + 1] = fits && (reached[at] === true || (name === '**' && next[at] === true))
    }
    reached = next
  }
  return reached[names.length] === true
}

import { z } from 'zod'
import { bytewise, parseIgnoreLine, type IgnorePattern } from './ignore-pattern.ts'

/** Where ignore rules come from, strongest first: the .gitignore of each folder, `.git/info/exclude`, and our defaults. */
export const ignoreSourceSchema = z.object({
  /** Folder that the rules belong to, relative to the top of the repository; '' is the top. */
  folder: z.string(),
  level: z.enum(['gitignore', 'exclude', 'default']),
  text: z.string(),
})
export type IgnoreSource = z.infer<typeof ignoreSourceSchema>

/** Caps what a hostile repository can make us match: bytes of one file, and patterns in all. */
export const ignoreFileBytesMax = 256 * 1024
const patternsMax = 5_000

/**
 * What no project means to keep, for folders without rules of their own. Names that can be source (build, dist, vendor) are not here. Tracked
 * files count even so.
 */
export const defaultIgnores = [
  'node_modules/', '.venv/', 'venv/', '__pycache__/', '*.pyc', '.pytest_cache/', '.mypy_cache/', '.ruff_cache/', '.tox/', '.gradle/', '.next/', '.turbo/', '.cache/', '.DS_Store',
].join('\n')

/** The rules of one tree. Precedence is git's: the deepest folder's file first, in a file the last line that matches. */
export class IgnoreRules {
  readonly #byFolder = new Map<string, readonly IgnorePattern[]>()
  readonly #weaker: readonly IgnorePattern[][] = [[], []]
  readonly #sources: IgnoreSource[] = []
  #patterns = 0

  constructor(sources: readonly IgnoreSource[]) {
    for (const source of sources) this.add(source)
  }

  /** Everything that was added, to be kept and handed to a later constructor. */
  get sources(): readonly IgnoreSource[] {
    return this.#sources
  }

  /** Adds one file's rules. Returns false when the cap on patterns was reached and some were left out. */
  add(source: IgnoreSource): boolean {
    const patterns: IgnorePattern[] = []
    let whole = true
    for (const line of source.text.replace(/^\uFEFF/, '').split('\n')) {
      const pattern = parseIgnoreLine(line.endsWith('\r') ? line.slice(0, -1) : line)
      if (pattern === null) continue
      if (this.#patterns >= patternsMax) {
        whole = false
        break
      }
      this.#patterns += 1
      patterns.push(pattern)
    }
    this.#sources.push(source)
    patterns.reverse()
    if (source.level === 'gitignore') this.#byFolder.set(source.folder, patterns)
    else this.#weaker[source.level === 'exclude' ? 0 : 1]?.push(...patterns)
    return whole
  }

  /** Whether a rule leaves out this path itself. A path below an ignored folder is ignored too: that is the walker's to know. */
  ignores(path: string, isFolder: boolean): boolean {
    const name = bytewise(path.slice(path.lastIndexOf('/') + 1))
    for (let folder: string | null = parentOf(path); folder !== null; folder = folder === '' ? null : parentOf(folder)) {
      const patterns = this.#byFolder.get(folder)
      if (patterns === undefined) continue
      const verdict = lastWord(patterns, name, folder === '' ? path : path.slice(folder.length + 1), isFolder)
      if (verdict !== null) return verdict
    }
    for (const patterns of this.#weaker) {
      const verdict = lastWord(patterns, name, path, isFolder)
      if (verdict !== null) return verdict
    }
    return false
  }
}

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** `patterns` are in reverse order, so the first that matches is the last of its file. */
function lastWord(patterns: readonly IgnorePattern[], name: string, below: string, isFolder: boolean): boolean | null {
  let whole: string | null = null
  for (const pattern of patterns) {
    if (pattern.foldersOnly && !isFolder) continue
    if (!pattern.nameOnly) whole ??= bytewise(below)
    if (pattern.matches(pattern.nameOnly ? name : (whole ?? ''))) return !pattern.negative
  }
  return null
}

import { posix } from 'node:path'
import type { PinnedFolder } from './pinned-folder.ts'
import { ignoreFileBytesMax, IgnoreRules, type IgnoreSource } from './ignore-rules.ts'

/**
 * Which files of a tree count. The rules are fixed when a task is prepared and come from the owner's folder, never from what the coder left,
 * so that an edit to .gitignore cannot hide a change. A path counts when it is tracked (or was in the base) or no rule ignores it; what
 * `neverCounts` names and where mounts appear never counts.
 */
export interface CountRulesInit {
  /** Path of the root below the top of its repository; '' when it is the top. */
  readonly prefix: string
  readonly sources: readonly IgnoreSource[]
  /** Paths that count whatever the rules say. */
  readonly always: Iterable<string>
  /** Paths below the root where something is mounted in the sandbox. */
  readonly mountPoints: readonly string[]
  /** Whether .gitignore files met on the way are added. */
  readonly learns: boolean
}

/** What the sandbox masks or git owns: never copied, never part of a diff, never applied. Case is ignored, as some file systems do. */
export function neverCounts(path: string): 'git' | 'masked' | null {
  const name = posix.basename(path).toLowerCase()
  if (name === '.git') return 'git'
  if (name === '.opencode' || /^opencode\.jsonc?$/i.test(path)) return 'masked'
  return null
}

export class CountRules {
  readonly prefix: string
  readonly #rules: IgnoreRules
  readonly #always: Set<string>
  readonly #leading = new Set<string>()
  readonly #mountPoints: ReadonlySet<string>
  readonly #learns: boolean
  /** Notes for the owner on rules that could not be used whole. */
  readonly notes: string[] = []

  constructor(init: CountRulesInit) {
    this.prefix = init.prefix
    this.#rules = new IgnoreRules(init.sources)
    this.#always = new Set(init.always)
    this.#mountPoints = new Set(init.mountPoints)
    this.#learns = init.learns
    for (const path of this.#always) {
      for (let folder = posix.dirname(path); folder !== '.' && !this.#leading.has(folder); folder = posix.dirname(folder)) this.#leading.add(folder)
    }
  }

  get sources(): readonly IgnoreSource[] {
    return this.#rules.sources
  }

  always(path: string): boolean {
    return this.#always.has(path)
  }

  /** Whether something that always counts lies below this folder. */
  leadsToAlways(folder: string): boolean {
    return this.#leading.has(folder)
  }

  isMountPoint(path: string): boolean {
    return this.#mountPoints.has(path)
  }

  ignores(path: string, isFolder: boolean): boolean {
    return this.#rules.ignores(this.prefix === '' ? path : `${this.prefix}/${path}`, isFolder)
  }

  /** Called by the walker for each folder that is not ignored, before what is in it. */
  async enter(folder: PinnedFolder, path: string): Promise<void> {
    if (!this.#learns) return
    const text = await readRules(folder)
    if (text === null) return
    if (text === 'too-large' || !this.#rules.add({ folder: posix.join(this.prefix, path).replace(/^\.$/, ''), level: 'gitignore', text: text.text })) {
      this.notes.push(`${posix.join(path, '.gitignore')} is too large; some of its rules are not used.`)
    }
  }
}

async function readRules(folder: PinnedFolder): Promise<{ readonly text: string } | 'too-large' | null> {
  const opened = await folder.file('.gitignore')
  if (opened === null) return null
  try {
    if (opened.stat.size > ignoreFileBytesMax) return 'too-large'
    return { text: await opened.handle.readFile('utf8') }
  } finally {
    await opened.handle.close()
  }
}

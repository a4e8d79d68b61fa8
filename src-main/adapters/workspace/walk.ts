import type { Stats } from 'node:fs'
import { readlink } from 'node:fs/promises'
import { compareBytes } from './tree.ts'
import { neverCounts, type CountRules } from './count-rules.ts'
import { WorkspaceFault, unless } from './fault.ts'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { decodeName, PinnedFolder } from './pinned-folder.ts'

/** A file or link that counts. `folder` is open while it is being taken; `target` is a link's, checked to stay inside. */
export type Found = { readonly path: string; readonly name: string; readonly folder: PinnedFolder; readonly stat: Stats } & ({ readonly is: 'file' } | { readonly is: 'link'; readonly target: string })

/** Something that is in the folder but not in the tree. */
export interface LeftOut { readonly path: string; readonly why: 'link-out' | 'special' | 'name-not-utf8' | 'too-deep' | 'masked' }

export interface WalkOptions {
  readonly signal: AbortSignal
  readonly filesMax: number
  readonly bytesMax: number
  readonly atOnce: number
  /** What to say when one of the two is passed. */
  readonly tooLarge: (files: number, bytes: number) => Failure
  /** Called for each folder, parents first. */
  readonly onFolder?: (path: string) => Promise<void>
  /** Called for a folder that rules ignore and that is not entered. */
  readonly onIgnoredFolder?: (path: string) => void
}
export interface Walked<T> { readonly taken: readonly T[]; readonly leftOut: readonly LeftOut[]; readonly files: number; readonly bytes: number }

const depthMax = 128
const pathBytesMax = 2_048
const leftOutNotedMax = 200
const entriesMax = 1_000_000
/** Files taken at once. New files in one folder wait for each other in the kernel: more than two only burn processor time. */
export const readsAtOnce = 8
export const writesAtOnce = 2
const statsAtOnce = 32

interface Pass<T> { readonly rules: CountRules; readonly take: (found: Found) => Promise<T> | T; readonly options: WalkOptions; readonly leftOut: LeftOut[]; files: number; bytes: number; entries: number }
type Child = { readonly name: string; readonly path: string; readonly stat: Stats }

/**
 * Walks what counts below `root` and hands each file and link to `take`; results come in the order of the paths' UTF-8 bytes. Links are
 * never followed. Links that lead out, FIFOs, sockets, devices, and names that are not UTF-8 are left out and reported.
 * Throws a WorkspaceFault when a limit is passed, an AbortError on abort, else the system's error.
 */
export async function walkTree<T>(root: string, rules: CountRules, take: (found: Found) => Promise<T> | T, options: WalkOptions): Promise<Walked<T>> {
  const pass: Pass<T> = { rules, take, options, leftOut: [], files: 0, bytes: 0, entries: 0 }
  const folder = await PinnedFolder.open(root)
  try {
    const taken = await walkFolder(pass, folder, '', false)
    return { taken, leftOut: pass.leftOut.sort((a, b) => compareBytes(a.path, b.path)), files: pass.files, bytes: pass.bytes }
  } finally {
    await folder.close()
  }
}

async function walkFolder<T>(pass: Pass<T>, folder: PinnedFolder, path: string, ignored: boolean): Promise<T[]> {
  pass.options.signal.throwIfAborted()
  if (!ignored) await pass.rules.enter(folder, path)
  await pass.options.onFolder?.(path)
  const children = await readChildren(pass, folder, path)
  const counted = children.filter((child) => counts(pass, child, ignored))
  const results: (readonly T[])[] = counted.map(() => [])
  await inTurns(counted, pass.options.atOnce, async (child, index) => {
    if (!child.stat.isDirectory()) results[index] = await takeChild(pass, folder, child)
  })
  for (const [index, child] of counted.entries()) {
    if (child.stat.isDirectory()) results[index] = await descend(pass, folder, child, ignored)
  }
  return results.flat()
}

async function descend<T>(pass: Pass<T>, parent: PinnedFolder, child: Child, ignored: boolean): Promise<readonly T[]> {
  if (child.path.split('/').length > depthMax) return leaveOut(pass, child.path, 'too-deep')
  const folder = await unless(['ENOENT', 'ELOOP', 'ENOTDIR'], parent.child(child.name))
  if (folder === null) return []
  try {
    return await walkFolder(pass, folder, child.path, ignored || pass.rules.ignores(child.path, true))
  } finally {
    await folder.close()
  }
}

/** All names with what they are, in the order in which their paths sort: a folder's name counts with its slash. */
async function readChildren<T>(pass: Pass<T>, folder: PinnedFolder, path: string): Promise<readonly Child[]> {
  const names: string[] = []
  for await (const name of folder.names()) {
    pass.entries += 1
    if (pass.entries > entriesMax) throw new WorkspaceFault(pass.options.tooLarge(pass.files, pass.bytes))
    if (name === null) leaveOut(pass, path === '' ? '.' : path, 'name-not-utf8')
    else names.push(name)
  }
  const children: Child[] = []
  await inTurns(names, statsAtOnce, async (name) => {
    const stat = await folder.stat(name)
    if (stat !== null) children.push({ name, path: path === '' ? name : `${path}/${name}`, stat })
  })
  const key = (child: Child): string => (child.stat.isDirectory() ? `${child.name}/` : child.name)
  return children.sort((a, b) => compareBytes(key(a), key(b)))
}

function counts<T>(pass: Pass<T>, child: Child, ignored: boolean): boolean {
  const isFolder = child.stat.isDirectory()
  const never = neverCounts(child.path)
  if (never === 'masked') leaveOut(pass, child.path, 'masked')
  if (never !== null) return false
  if (pass.rules.isMountPoint(child.path)) return false
  const out = ignored || pass.rules.ignores(child.path, isFolder)
  if (!out || (isFolder ? pass.rules.leadsToAlways(child.path) : pass.rules.always(child.path))) {
    if (Buffer.byteLength(child.path) <= pathBytesMax) return true
    leaveOut(pass, child.path, 'too-deep')
    return false
  }
  if (isFolder) pass.options.onIgnoredFolder?.(child.path)
  return false
}

async function takeChild<T>(pass: Pass<T>, folder: PinnedFolder, child: Child): Promise<readonly T[]> {
  pass.options.signal.throwIfAborted()
  const found = await identify(folder, child)
  if (found === null) return leaveOut(pass, child.path, child.stat.isSymbolicLink() ? 'link-out' : 'special')
  pass.files += 1
  pass.bytes += child.stat.size
  if (pass.files > pass.options.filesMax || pass.bytes > pass.options.bytesMax) throw new WorkspaceFault(pass.options.tooLarge(pass.files, pass.bytes))
  return [await pass.take(found)]
}

async function identify(folder: PinnedFolder, child: Child): Promise<Found | null> {
  const { name, path, stat } = child
  if (stat.isFile()) return { is: 'file', name, path, folder, stat }
  if (!stat.isSymbolicLink()) return null
  const bytes = await unless(['ENOENT', 'EINVAL'], readlink(folder.at(name), { encoding: 'buffer' }))
  const target = bytes === null ? null : decodeName(bytes)
  return target !== null && staysInside(path, target) ? { is: 'link', name, path, folder, stat, target } : null
}

/**
 * Whether a link at `path` with this target stays below the root whatever its components are: relative, and `..` only at its start. With a
 * `..` after a name the name could itself be a link, and the kernel would go up from where that leads.
 */
export function staysInside(path: string, target: string): boolean {
  if (target === '' || target.startsWith('/') || target.includes('\0')) return false
  let depth = path.split('/').length - 1
  let named = false
  for (const part of target.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') {
      named = true
      if (part.toLowerCase() === '.git') return false
    } else {
      depth -= 1
      if (named || depth < 0) return false
    }
  }
  return true
}

function leaveOut<T>(pass: Pass<T>, path: string, why: LeftOut['why']): readonly T[] {
  if (pass.leftOut.length < leftOutNotedMax) pass.leftOut.push({ path, why })
  return []
}

/** Runs `work` on each item, at most `width` at a time. The first failure ends it, after those under way have settled. */
export async function inTurns<I>(items: readonly I[], width: number, work: (item: I, index: number) => Promise<void>): Promise<void> {
  let next = 0
  const lanes = Array.from({ length: Math.min(width, items.length) }, async () => {
    while (next < items.length) {
      const index = next
      next += 1
      const item = items[index]
      try {
        if (item !== undefined) await work(item, index)
      } catch (error) {
        next = items.length
        throw error
      }
    }
  })
  const settled = await Promise.allSettled(lanes)
  for (const lane of settled) if (lane.status === 'rejected') throw lane.reason
}

/** A failure for folders over the limits. */
export function tooLargeFailure(files: number, bytes: number, filesMax: number, bytesMax: number): Failure {
  const size = files > filesMax ? `more than ${filesMax.toLocaleString('en')} files` : bytes > bytesMax ? `more than ${Math.round(bytesMax / 2 ** 20).toLocaleString('en')} MiB` : 'too many entries'
  return failure('folder-refused', `The folder holds ${size} that git does not ignore.`, 'Choose a smaller folder, or ignore what the task does not need in .gitignore.')
}

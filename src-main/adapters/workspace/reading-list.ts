import { setImmediate as nextTick } from 'node:timers/promises'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { looksSecret } from './secrets.ts'
import { readSmallText } from './small-file.ts'
import { compareBytes, type TreeEntry } from './tree.ts'

/** What the lead may see of a folder by default: names, and the README. */
export interface ReadingList { readonly listing: readonly string[]; readonly readme: { readonly path: string; readonly text: string } | null; readonly notes: readonly string[] }

const listingMax = 400
const readmeCharsMax = 8_000
const excerptBytesMax = 4 * 1024 * 1024

/** Lists the base's files, those near the top first when there are too many; names that look like secrets are left out, as are links. */
export async function readingListOf(baseDir: string, entries: readonly TreeEntry[]): Promise<ReadingList> {
  const byDepth: string[][] = []
  let count = 0
  for (const [index, entry] of entries.entries()) {
    if (index % 2_000 === 0) await nextTick()
    if (entry.type !== 'file' || looksSecret(entry.path) || /\p{Cc}/u.test(entry.path)) continue
    count += 1
    const level = (byDepth[entry.path.split('/').length] ??= [])
    if (level.length < listingMax) level.push(entry.path)
  }
  const near = byDepth.flat().slice(0, listingMax)
  const listing = count > listingMax ? near : near.sort(compareBytes)
  const notes = count > listingMax ? [`Bot A is given ${listingMax} of ${count} file names.`] : []
  const readmePath = ['readme.md', 'readme', 'readme.txt', 'readme.rst'].flatMap((name) => (byDepth[1] ?? []).filter((path) => path.toLowerCase() === name))[0]
  const text = readmePath === undefined ? null : await readSmallText(baseDir, readmePath, excerptBytesMax)
  return { listing, notes, readme: readmePath === undefined || text === null ? null : { path: readmePath, text: clip(text, readmeCharsMax) } }
}

/** Reads a part of a file of the base, at most `charsMax` characters from its start. Nothing outside, no links, no secrets, no binaries. */
export async function excerptOf(baseDir: string, path: string, charsMax: number): Promise<Result<string, Failure>> {
  if (path === '' || path.length > 4_096 || path.split('/').some((part) => part === '' || part === '.' || part === '..') || path.includes('\0')) return refuse(path, 'it is not a path inside the workspace')
  if (looksSecret(path)) return refuse(path, 'its name looks like a secret')
  const text = await readSmallText(baseDir, path, excerptBytesMax)
  if (text === null) return refuse(path, 'it is no readable text file of the workspace')
  return text.includes('\0') ? refuse(path, 'it is not text') : ok(clip(text, charsMax))
}

function refuse(path: string, why: string): Result<never, Failure> {
  return err(failure('invalid-input', `${path.slice(0, 200)} cannot be quoted: ${why}.`, 'Choose another excerpt.'))
}

/** Cuts without leaving half of a surrogate pair. */
function clip(text: string, charsMax: number): string {
  const cut = text.slice(0, charsMax)
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut
}

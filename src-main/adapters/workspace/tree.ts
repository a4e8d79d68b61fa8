import { createHash } from 'node:crypto'
import { createReadStream, type WriteStream, createWriteStream } from 'node:fs'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setImmediate as nextTick } from 'node:timers/promises'
import { z } from 'zod'
import { digestSchema, type Digest } from '../../../src-preload/contract/ids.ts'
import { fault } from './fault.ts'

/** One file or link of a tree. `path` is relative and `/`-separated; `size` in bytes; `sha256` in lower-case hex. */
export const treeEntrySchema = z.object({
  path: z.string().min(1), type: z.enum(['file', 'link']), exec: z.boolean(), size: z.number().int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/),
})
export type TreeEntry = z.infer<typeof treeEntrySchema>

const entriesAtOnce = 2_000

/** Orders texts as their UTF-8 bytes do (JavaScript's own order differs where surrogates meet U+E000 to U+FFFF). */
export function compareBytes(a: string, b: string): number {
  if (a === b) return 0
  const shorter = Math.min(a.length, b.length)
  for (let i = 0; i < shorter; i += 1) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return weight(x) - weight(y)
  }
  return a.length - b.length
}
const weight = (unit: number): number => (unit >= 0xe000 ? unit : unit >= 0xd800 ? unit + 0x10000 : unit)

/**
 * The digest of a tree, version 1. To recompute it: list every counted file and symbolic link; sort by the UTF-8 bytes of the path; write
 * `{"entries":[[path,type,exec,size,sha256],…],"tree":1}` as RFC 8785 JSON, and take SHA-256 of its UTF-8 bytes.
 *
 * - `path`: relative to the root, `/`-separated. `type`: "file" or "link". `exec`: whether a file's owner-execute bit is set, false for a link.
 * - `size` and `sha256`: of the file's bytes, or of the link's target as it is written. `sha256` as 64 lower-case hex digits.
 * - Folders, times, owners and other mode bits do not count; nor does what `CountRules` leaves out.
 */
export async function treeDigest(sorted: readonly TreeEntry[]): Promise<Digest> {
  const hash = createHash('sha256').update('{"entries":[')
  for (let from = 0; from < sorted.length; from += entriesAtOnce) {
    const part = sorted.slice(from, from + entriesAtOnce).map((entry) => JSON.stringify([entry.path, entry.type, entry.exec, entry.size, entry.sha256]))
    hash.update((from === 0 ? '' : ',') + part.join(','))
    await nextTick()
  }
  return digestSchema.parse(`sha256:${hash.update('],"tree":1}').digest('hex')}`)
}

/** Whether two entries of one path are the same content, kind and mode. */
export function sameEntry(a: TreeEntry, b: TreeEntry): boolean {
  return a.type === b.type && a.exec === b.exec && a.size === b.size && a.sha256 === b.sha256
}

/** Writes a manifest: one entry a line, as JSON. */
export async function writeManifest(path: string, sorted: readonly TreeEntry[]): Promise<void> {
  const out = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true })
  for (let from = 0; from < sorted.length; from += entriesAtOnce) {
    const text = sorted.slice(from, from + entriesAtOnce).map((entry) => `${JSON.stringify(entry)}\n`).join('')
    if (!out.write(text)) await once(out, 'drain')
  }
  await finished(out)
}

async function finished(out: WriteStream): Promise<void> {
  out.end()
  await once(out, 'close')
}

/** Reads a manifest back and checks that it has the digest that was recorded for it. */
export async function readManifest(path: string, expected: Digest): Promise<readonly TreeEntry[]> {
  const entries: TreeEntry[] = []
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const entry = treeEntrySchema.safeParse(parseJson(line))
    if (!entry.success) fault('workspace-failed', 'The list of the base copy\'s files is damaged.', 'Dispose of this workspace and start the task again.')
    entries.push(entry.data)
  }
  if ((await treeDigest(entries)) !== expected) fault('workspace-failed', 'The list of the base copy\'s files does not match its digest.', 'Dispose of this workspace and start the task again.')
  return entries
}

/** Parses JSON from a file; undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { Stats } from 'node:fs'
import { fault } from './fault.ts'
import type { TreeEntry } from './tree.ts'
import type { Found } from './walk.ts'

const chunkBytes = 256 * 1024

/** The entry of a file with this content hash. */
export function fileEntry(path: string, stat: Stats, size: number, sha256: string): TreeEntry {
  return { path, type: 'file', exec: (stat.mode & 0o100) !== 0, size, sha256 }
}

/** The entry of a link: what counts is the target as it is written. */
export function linkEntry(path: string, target: string): TreeEntry {
  return { path, type: 'link', exec: false, size: Buffer.byteLength(target), sha256: sha256Of(target) }
}

/** SHA-256 in lower-case hex, of bytes or of a text's UTF-8. */
export function sha256Of(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

/**
 * Reads an open file to its end in chunks of at most 256 KiB; `each` sees every chunk. `sizeHint` is what its stat said, so that a small file takes one
 * small buffer and one read. Returns size in bytes and SHA-256 in hex.
 */
export async function hashHandle(handle: FileHandle, sizeHint: number, each?: (chunk: Uint8Array) => Promise<void>): Promise<{ readonly size: number; readonly sha256: string }> {
  const hash = createHash('sha256')
  // One byte more than expected: a short read then already shows the end.
  const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, sizeHint + 1))
  let size = 0
  for (;;) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.byteLength, size)
    if (bytesRead > 0) {
      const chunk = buffer.subarray(0, bytesRead)
      hash.update(chunk)
      await each?.(chunk)
      size += bytesRead
    }
    if (bytesRead === 0 || (size === sizeHint && bytesRead < buffer.byteLength)) return { size, sha256: hash.digest('hex') }
  }
}

/** The entry of something the walker found. Throws a WorkspaceFault when it changed its kind under our hands. */
export async function sealFound(found: Found): Promise<TreeEntry> {
  if (found.is === 'link') return linkEntry(found.path, found.target)
  const opened = await found.folder.file(found.name)
  if (opened === null) return fault('workspace-failed', `${found.path} changed while it was being read.`, 'Try again when nothing writes to it.')
  try {
    const { size, sha256 } = await hashHandle(opened.handle, opened.stat.size)
    return fileEntry(found.path, opened.stat, size, sha256)
  } finally {
    await opened.handle.close()
  }
}

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { isErrno } from './errno.ts'

/** So much of a file's end is read; a line is at most some thousand bytes. */
const tailBytesMax = 256 * 1024

/** The last lines of `DIR/NAME.jsonl`, and of the file before it where the current one has few; oldest first, without empty ones. A log that is not there has none. */
export async function lastLogLines(dir: string, name: string, linesMax: number): Promise<readonly string[]> {
  const now = await lastLines(join(dir, `${name}.jsonl`), linesMax)
  return now.length >= linesMax ? now : [...await lastLines(join(dir, `${name}.1.jsonl`), linesMax - now.length), ...now]
}

async function lastLines(path: string, linesMax: number): Promise<readonly string[]> {
  try {
    const file = await open(path, 'r')
    try {
      const { size } = await file.stat()
      const from = Math.max(0, size - tailBytesMax)
      const { bytesRead, buffer } = await file.read(Buffer.alloc(size - from), 0, size - from, from)
      // Where the file is longer, the first line is cut.
      return buffer.toString('utf8', 0, bytesRead).split('\n').slice(from === 0 ? 0 : 1).filter((line) => line !== '').slice(-linesMax)
    } finally {
      await file.close()
    }
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}

import { appendFile, mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isErrno } from './errno.ts'

export interface RotatingFile {
  /** Takes a line without its line feed; never waits, never throws. */
  write(line: string): void
  /** Resolves when what was taken so far is written, or lost and counted. */
  flush(): Promise<void>
}

export interface RotatingFileOptions {
  readonly dir: string
  /** `NAME.jsonl` is written; `NAME.1.jsonl` is the one before it, and so on. */
  readonly name: string
  readonly bytesMax: number
  /** How many old files are kept. */
  readonly keptMax: number
  /** Lines that wait for a slow disk, at most; further ones are counted as lost. */
  readonly waitingBytesMax: number
}

/**
 * Appends lines in the background and starts a new file when the current one is full. A disk that refuses costs lines, not the app:
 * how many were lost, and why, is the first line written when it works again.
 */
export function createRotatingFile(options: RotatingFileOptions): RotatingFile {
  const path = join(options.dir, `${options.name}.jsonl`)
  let waiting: string[] = []
  let waitingBytes = 0
  let lost = 0
  let why = ''
  let pump: Promise<void> | null = null

  const writeOut = async (): Promise<void> => {
    while (waiting.length > 0) {
      const text = waiting.join('')
      const lines = waiting.length
      const told = lost
      waiting = []
      waitingBytes = 0
      try {
        await append(path, options, told === 0 ? text : `${JSON.stringify({ event: 'log-lines-lost', lines: told, why })}\n${text}`)
        lost -= told
      } catch (error) {
        lost += lines
        why = error instanceof Error && 'code' in error ? String(error.code) : String(error)
      }
    }
    pump = null
  }
  return {
    write: (line) => {
      const text = `${line}\n`
      if (waitingBytes + text.length > options.waitingBytesMax) {
        lost += 1
        why = 'too many lines at once'
        return
      }
      waiting.push(text)
      waitingBytes += text.length
      pump ??= writeOut()
    },
    flush: async () => { await pump },
  }
}

async function append(path: string, options: RotatingFileOptions, text: string): Promise<void> {
  await mkdir(options.dir, { recursive: true, mode: 0o700 })
  const size = await sizeOf(path)
  if (size > 0 && size + Buffer.byteLength(text) > options.bytesMax) await rotate(path, options)
  await appendFile(path, text, { mode: 0o600 })
}

async function rotate(path: string, { dir, name, keptMax }: RotatingFileOptions): Promise<void> {
  const numbered = (number: number): string => join(dir, `${name}.${number}.jsonl`)
  await rm(numbered(keptMax), { force: true })
  for (let number = keptMax - 1; number >= 1; number--) if ((await sizeOf(numbered(number))) > 0) await rename(numbered(number), numbered(number + 1))
  await (keptMax > 0 ? rename(path, numbered(1)) : rm(path))
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return 0
    throw error
  }
}

import type { Readable } from 'node:stream'
import { createInterface } from 'node:readline'
import { sandboxLimits } from './sandbox-limits.ts'

/** Calls back for each line of a stream; a line beyond `lineCharsMax` is cut there. Resolves when the stream ends. */
export async function eachLine(stream: Readable, onLine: (line: string) => void): Promise<void> {
  for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) onLine(line.slice(0, sandboxLimits.lineCharsMax))
}

import { StringDecoder } from 'node:string_decoder'
import { z } from 'zod'
import type { ControlClient } from '../control-client.ts'
import { heartbeatMs } from './runner-script.ts'

/** One run of OpenCode's binary inside the task's sandbox. */
export interface CliOrder {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** A folder that is made for the run and removed with it, and what lies in it by name. */
  readonly folder: string
  readonly files: Readonly<Record<string, string>>
  /** What it reads on stdin. */
  readonly input: string
}

/** `left`: how many processes of the run were still there after all of them had been killed; `words`: the end of its stderr. */
export interface CliEnd { readonly code: number | null; readonly signal: string | null; readonly words: string; readonly left: number }

export interface CliRun {
  /** When nobody is left of it and all of its lines were told. Null: the runner went away, and nothing is known of the end. */
  readonly ended: Promise<CliEnd | null>
  /** Kills it; false when the runner does not answer. What came of it tells `ended`. */
  kill(): Promise<boolean>
}

/** `not-started` had no effect; after `unknown` it may run. */
export type CliStart = { readonly is: 'started'; readonly run: CliRun } | { readonly is: 'not-started'; readonly why: string } | { readonly is: 'unknown'; readonly why: string }

const callMs = 15_000
/** Several heartbeats: a loaded machine is late, a dead runner silent. */
const silenceMs = 6 * heartbeatMs
/** A tool's record holds its whole input and output. */
const lineCharsMax = 64 * 1024 * 1024

const startedSchema = z.object({ run: z.string().regex(/^\d{1,9}$/) })
const endSchema = z.object({ code: z.number().int().nullable(), signal: z.string().max(40).nullable(), words: z.string(), left: z.number().int() })

/** Starts a run and tells each line of its stdout as it comes. One at a time: while one runs, another is `not-started`. */
export async function startCli(client: ControlClient, order: CliOrder, onLine: (line: string) => void): Promise<CliStart> {
  const outcome = await client.call({ method: 'POST', path: '/run', body: order, deadlineMs: callMs })
  if (outcome.is !== 'answered') return { is: outcome.is === 'not-sent' ? 'not-started' : 'unknown', why: outcome.why }
  const started = startedSchema.safeParse(outcome.body)
  if (outcome.status !== 200 || !started.success) return { is: 'not-started', why: `HTTP ${String(outcome.status)}` }
  const { run } = started.data
  return {
    is: 'started',
    run: {
      ended: follow(client, run, onLine),
      async kill() {
        const killed = await client.call({ method: 'POST', path: `/run/${run}/kill`, deadlineMs: callMs })
        return killed.is === 'answered' && killed.status === 200
      },
    },
  }
}

async function follow(client: ControlClient, run: string, onLine: (line: string) => void): Promise<CliEnd | null> {
  const split = lineSplitter(onLine)
  try {
    for await (const chunk of client.stream(`/run/${run}/output`, silenceMs, new AbortController().signal)) split.push(chunk)
  } catch {
    // The runner or its sandbox is gone: whoever waits for the end is told that nothing is known of it.
    return null
  }
  split.end()
  const end = await client.read({ method: 'GET', path: `/run/${run}/end`, deadlineMs: callMs }, endSchema)
  return end.is === 'read' ? end.value : null
}

/** Cuts bytes into lines; empty ones are heartbeats, and one that is too long is dropped. */
export function lineSplitter(onLine: (line: string) => void): { push(bytes: Uint8Array): void; end(): void } {
  const decoder = new StringDecoder('utf8')
  let parts: string[] = []
  let chars = 0
  const keep = (text: string): void => {
    chars += text.length
    if (chars > lineCharsMax) parts = []
    else parts.push(text)
  }
  const finish = (): void => {
    const line = parts.join('')
    const whole = chars <= lineCharsMax
    parts = []
    chars = 0
    if (whole && line !== '') onLine(line)
  }
  return {
    push(bytes) {
      const pieces = decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).split('\n')
      const rest = pieces.pop() ?? ''
      for (const piece of pieces) { keep(piece); finish() }
      keep(rest)
    },
    end() { keep(decoder.end()); finish() },
  }
}

import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach } from 'vitest'
import { openJournal, type JournalOptions } from './open.ts'
import type { SqliteJournal } from './journal.ts'

const folders: string[] = []
const journals: SqliteJournal[] = []
const children: ChildProcessWithoutNullStreams[] = []

afterEach(() => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill('SIGKILL')
  for (const journal of journals.splice(0)) journal.close()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A folder that goes away after the test. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'journal-'))
  folders.push(folder)
  return folder
}

/** Opens a journal that must open; closed after the test. */
export function opened(path: string, options: Partial<JournalOptions> = {}): SqliteJournal {
  const result = openJournal({ path, clock: { now: () => 1_800_000_000_000 }, ...options })
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`)
  journals.push(result.value)
  return result.value
}

/** Starts `journal-process.suite.ts`; `within` puts a program such as bwrap in front. Each line that it says is one JSON fact. */
export function journalProcess(args: readonly string[], within: readonly string[] = []): { readonly child: ChildProcessWithoutNullStreams; readonly facts: AsyncIterable<unknown>; readonly ended: Promise<string | number | null> } {
  const [program = process.execPath, ...rest] = [...within, process.execPath, join(import.meta.dirname, 'journal-process.suite.ts'), ...args]
  const child = spawn(program, rest, { stdio: 'pipe' })
  children.push(child)
  child.stderr.pipe(process.stderr)
  const lines = createInterface({ input: child.stdout })
  const facts = (async function* () { for await (const line of lines) yield JSON.parse(line) as unknown })()
  const ended = new Promise<string | number | null>((resolve) => { child.on('close', (code, signal) => { resolve(signal ?? code) }) })
  return { child, facts, ended }
}

/** All facts that a process says until it ends. */
export async function factsOf(process: ReturnType<typeof journalProcess>): Promise<unknown[]> {
  const facts: unknown[] = []
  for await (const fact of process.facts) facts.push(fact)
  await process.ended
  return facts
}

import type { EntryRow, Row, ToolBody } from '../../src-preload/contract/rows.ts'
import { wellFormed } from '../core/digest.ts'

/** UTF-16 units of a call's target that a row holds. */
const targetCharsHeld = 4_000

/** A row of the transcript that is a call of a tool. */
export interface ToolRow extends EntryRow { readonly body: ToolBody }

export function toolRows(rows: readonly Row[]): readonly ToolRow[] {
  return rows.flatMap((row) => (row.kind === 'entry' && row.body.is === 'tool' ? [{ ...row, body: row.body }] : []))
}

/** What a row shows of the text that a call is about: its first line, bounded. */
export function targetText(text: string): string {
  return wellFormed(text.split('\n')[0] ?? text).slice(0, targetCharsHeld)
}

/**
 * The broker knows a command's text and not its call. Of these rows the one of this command: by all that was seen of it while it was written, of the
 * running ones by its first line, or else the only one that runs.
 */
export function rowOfCommand(rows: readonly ToolRow[], text: string): ToolRow | undefined {
  const commands = rows.filter(({ body }) => body.tool === 'bash')
  const running = commands.filter(({ body }) => body.state === 'running')
  return commands.find(({ body }) => body.tailOf === 'command' && body.tail === text) ?? running.find(({ body }) => body.target === targetText(text)) ?? (running.length === 1 ? running[0] : undefined)
}

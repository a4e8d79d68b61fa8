import type Database from 'better-sqlite3'
import { taskIdSchema, type TaskId } from '../../../src-preload/contract/ids.ts'
import type { AuditRow } from '../../../src-preload/contract/methods.ts'
import { genesisHash } from '../../core/journal/chain.ts'
import { describeEvent } from '../../core/task/describe.ts'
import type { EventRecord } from './records.ts'

/** As `audit.query` of the bridge: all conditions hold together; `text` is looked for in type, actor, command id and payload. */
export interface AuditQuery { readonly taskId: string | null; readonly text: string; readonly beforeSeq: number | null; readonly limit: number }

/** A stream is named by its task's id, with or without `task:` in front; any other stream belongs to no task. */
export function taskOfStream(stream: string): string | null {
  const id = stream.startsWith('task:') ? stream.slice(5) : stream
  return taskIdSchema.safeParse(id).success ? id : null
}

export interface AuditReader { readonly query: (query: AuditQuery) => AuditRow[]; readonly head: () => { readonly seq: number; readonly hash: string } }

/** Prepares the reads of the Audit screen. */
export function auditReader(db: Database.Database, taskOf: (stream: string) => string | null): AuditReader {
  const rows = db.prepare<[Record<string, unknown>], EventRecord>(`SELECT * FROM events
    WHERE seq < @before AND (@all OR stream = @task OR stream = 'task:' || @task)
      AND (@text = '' OR instr(lower(type || char(10) || actor || char(10) || commandId || char(10) || payload), @text) > 0)
    ORDER BY seq DESC LIMIT @limit`)
  const head = db.prepare<[], { seq: number; hash: string }>('SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1')
  return {
    head: () => head.get() ?? { seq: 0, hash: genesisHash },
    query: (query) => rows
      .all({ before: query.beforeSeq ?? Number.MAX_SAFE_INTEGER, all: query.taskId === null ? 1 : 0, task: query.taskId ?? '', text: asciiLower(query.text), limit: query.limit })
      .map((row) => ({
        seq: row.seq, at: row.at, taskId: taskOf(row.stream) as TaskId | null, type: row.type, actor: row.actor,
        summary: summaryOf(row.payload), payload: row.payload, hash: row.hash,
      })),
  }
}

// SQLite's lower() knows ASCII only; the needle is folded the same way.
function asciiLower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

const summaryCharsMax = 160

/** An event in one line of at most 160 characters: in its own words, else its payload as it is. */
export function summaryOf(payload: string): string {
  const value = JSON.parse(payload) as unknown
  const told = typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string' ? describeEvent({ ...value, type: value.type }) : null
  const line = (told ?? payload).replace(/\s+/g, ' ')
  return line.length <= summaryCharsMax ? line : `${Array.from(line).slice(0, summaryCharsMax - 1).join('')}…`
}

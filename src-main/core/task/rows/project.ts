import type { HoldRow, Row } from '../../../../src-preload/contract/rows.ts'
import type { TaskEvent } from '../events.ts'
import type { TaskState } from '../model.ts'
import { entryRows, type At } from './entry-rows.ts'
import { holdRow } from './task-row.ts'

/** The rows that one event puts, besides the task's own row. `state` is the one after it. Derived: can be rebuilt from the journal at any time. */
export function project(state: TaskState, event: TaskEvent, where: At): Row[] {
  return [...entriesOf(state, event, where), ...holdsOf(state, event)]
}

/** Of those, the transcript's. */
export const entriesOf = entryRows

/** Of those, the approvals. */
export function holdsOf(state: TaskState, event: TaskEvent): HoldRow[] {
  if (event.type !== 'hold-opened' && event.type !== 'hold-shown' && event.type !== 'hold-alarmed' && event.type !== 'hold-settled') return []
  const record = state.holds.get(event.type === 'hold-opened' ? event.hold.approvalId : event.approvalId)
  return record === undefined ? [] : [holdRow(state, record)]
}

import type { TaskRow } from '../../../src-preload/contract/rows.ts'
import type { Recovery, RecoveryExit } from '../../../src-preload/contract/task.ts'
import { t } from '../../i18n/text.ts'

/** What is uncertain: a turn, the applying of an accepted result, or the files of a result that waits. */
export function uncertainOf(task: Pick<TaskRow, 'status'>, recovery: Recovery): 'turn' | 'apply' | 'result' {
  if (recovery.exits !== undefined) return 'result'
  return task.status === 'result-ready' ? 'apply' : 'turn'
}

/** An exit's name and what choosing it does; that is another thing for each thing that can be uncertain. */
export function exitWords(task: Pick<TaskRow, 'status'>, recovery: Recovery, exit: RecoveryExit): { readonly label: string; readonly tip: string } {
  switch (uncertainOf(task, recovery)) {
    case 'turn': return { label: t.room.exits[exit], tip: t.room.exitHints[exit] }
    case 'apply': return { label: t.room.exits[exit], tip: t.room.applyHints[exit] }
    case 'result': return exit === 're-check' ? { label: t.room.exits[exit], tip: t.room.recheckResult } : { label: t.review.reject, tip: t.review.rejectHint }
  }
}

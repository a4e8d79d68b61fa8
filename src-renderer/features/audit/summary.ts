import type { AuditRow } from '../../../src-preload/contract/methods.ts'
import { translated } from '../../i18n/language.ts'

/** Events whose line holds what a bot, the owner or a command said: none of it may be taken for a sentence of the app. */
const othersWords: ReadonlySet<string> = new Set([
  'task-opened', 'hold-opened', 'hold-settled', 'brief-proposed', 'coder-start-intended', 'turn-ended', 'message-said', 'tool-started', 'permission-ruled', 'grant-given', 'command-ran',
  'question-asked', 'question-passed-to-owner', 'question-answered', 'review-said', 'rejected', 'revision-requested', 'cancel-requested', 'noted',
])

type Line = Pick<AuditRow, 'type' | 'summary'>

/** Whether a line of Audit is shown as it is on record, in English. */
export function isAsRecorded({ type }: Line): boolean {
  return othersWords.has(type)
}

/** A line of Audit as it is shown: where it is the app's own, translated and its counts written as the language does; else as it is on record. */
export function summaryShown(line: Line): string {
  return isAsRecorded(line) ? line.summary : translated(line.summary)
}

import type { Review } from '../../../src-preload/contract/methods.ts'
import type { HoldRow, TaskRow } from '../../../src-preload/contract/rows.ts'
import { t } from '../../i18n/text.ts'

type Task = Pick<TaskRow, 'status' | 'recovery' | 'result'>
type Shown = { readonly evidence: Pick<Review['evidence'], 'treeDigest'>; readonly verification: Pick<NonNullable<Review['verification']>, 'passed'> | null }

/** Why a result cannot be accepted now, in words; null when it can. What is signed must be what is shown. */
export function acceptBlockedBy(task: Task, review: Shown, hold: Pick<HoldRow, 'outcome'> | undefined): string | null {
  if (task.status === 'accepted') return t.review.alreadyAccepted
  if (task.status !== 'result-ready') return t.review.notReady
  if (task.recovery !== null) return t.review.uncertain
  if (task.result?.treeDigest !== review.evidence.treeDigest) return t.review.changed
  if (review.verification?.passed !== true || !task.result.verified) return t.review.notVerified
  if (hold?.outcome !== 'waiting') return t.review.noHold
  return null
}

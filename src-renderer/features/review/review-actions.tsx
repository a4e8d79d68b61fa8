import { Download, Signature } from 'lucide-react'
import { useRef, useState, type ReactNode } from 'react'
import type { Review } from '../../../src-preload/contract/methods.ts'
import type { HoldRow, TaskRow } from '../../../src-preload/contract/rows.ts'
import { failureOf, newCommandId } from '../../bridge.ts'
import { t } from '../../i18n/text.ts'
import { useHold } from '../../store/hooks.ts'
import { useAct } from '../../store/queries.ts'
import { show } from '../../store/ui-store.ts'
import { Button } from '../../ui/button.tsx'
import { useGrace } from '../../ui/grace.ts'
import { FailureNotice } from '../../ui/notice.tsx'
import { Digest } from '../../ui/pieces.tsx'
import { say } from '../../ui/toasts.tsx'
import { useShownReceipt } from '../approvals/shown.ts'
import { acceptBlockedBy } from './accept-blocked.ts'
import { RejectDialog } from './reject-dialog.tsx'
import { ReviseDialog } from './revise-dialog.tsx'

/** The bar at the foot of Review: what would be signed, and the four things that can be done with it. */
export function ReviewActions({ task, review }: { readonly task: TaskRow; readonly review: Review }): ReactNode {
  const hold = useHold(task.result?.acceptanceId == null ? '' : `hold:${task.result.acceptanceId}`)
  const bar = useRef<HTMLElement>(null)
  useShownReceipt(bar, hold)
  const [asking, setAsking] = useState<'reject' | 'revise' | null>(null)
  // Closed, too, until main has recorded that it is on screen.
  const open = useGrace(hold === undefined || hold.shownAt === null ? null : review.evidence.treeDigest)
  const accept = useAct('approval.decide', () => {
    show({ at: 'room' })
  })
  const save = useAct('review.savePatch', ({ path }) => {
    if (path !== null) say({ tone: 'good', text: t.review.patchSaved, detail: path })
  })
  const blocked = acceptBlockedBy(task, review, hold)
  const decided = task.status !== 'result-ready'
  const rejectable = hold?.outcome === 'waiting' && open
  return (
    <footer ref={bar} className="review-bar" {...(hold === undefined ? {} : { 'data-approval-id': hold.approvalId, 'data-digest': hold.digest, 'data-hold-kind': hold.holdKind })}>
      {accept.isError ? <FailureNotice failure={failureOf(accept.error)} /> : null}
      {save.isError ? <FailureNotice failure={failureOf(save.error)} /> : null}
      <div className="review-bar-line">
        <div className="review-binds">
          <span className="digest-fact">
            <span className="quiet small">{t.review.binds}</span>
            <Digest value={review.evidence.treeDigest} />
          </span>
          {blocked === null ? null : (
            <span id="accept-blocked" className={decided ? 'quiet small' : 'warn small'}>
              {blocked}
            </span>
          )}
        </div>
        <Button variant="plain" icon={Download} isPending={save.isPending} onPress={() => { save.mutate({ taskId: task.taskId }) }}>
          {t.review.savePatch}
        </Button>
        <Button onPress={() => { setAsking('revise') }}>{t.review.revise}</Button>
        <Button variant="danger" isDisabled={!rejectable || accept.isPending} onPress={() => { setAsking('reject') }}>
          {t.review.reject}
        </Button>
        <Button
          variant="primary"
          icon={Signature}
          isDisabled={blocked !== null || !open || accept.isSuccess}
          isPending={accept.isPending}
          aria-describedby={blocked === null ? '' : 'accept-blocked'}
          onPress={() => {
            if (hold === undefined || accept.isPending) return
            accept.mutate({ commandId: newCommandId(), approvalId: hold.approvalId, digest: hold.digest, verdict: 'approved', reason: null })
          }}
        >
          {t.review.accept}
        </Button>
      </div>
      {asking === 'reject' && hold !== undefined ? <RejectHold hold={hold} onClose={() => { setAsking(null) }} /> : null}
      {asking === 'revise' ? <ReviseDialog task={task} onClose={() => { setAsking(null) }} /> : null}
    </footer>
  )
}

function RejectHold({ hold, onClose }: { readonly hold: HoldRow; readonly onClose: () => void }): ReactNode {
  const reject = useAct('approval.decide', () => {
    onClose()
    show({ at: 'room' })
  })
  return <RejectDialog act={reject} asksReason onClose={onClose} onReject={(reason) => { reject.mutate({ commandId: newCommandId(), approvalId: hold.approvalId, digest: hold.digest, verdict: 'denied', reason }) }} />
}

import { Download, Signature } from 'lucide-react'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { Form } from 'react-aria-components'
import { limits } from '../../../src-preload/contract/limits.ts'
import type { Review } from '../../../src-preload/contract/methods.ts'
import type { HoldRow, TaskRow } from '../../../src-preload/contract/rows.ts'
import { failureOf, newCommandId } from '../../bridge.ts'
import { t } from '../../i18n/text.ts'
import { useHold } from '../../store/hooks.ts'
import { useAct } from '../../store/queries.ts'
import { show, showTask } from '../../store/ui-store.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/fields.tsx'
import { FailureNotice } from '../../ui/notice.tsx'
import { Digest } from '../../ui/pieces.tsx'
import { say } from '../../ui/toasts.tsx'
import { useShownReceipt } from '../approvals/shown.ts'
import { acceptBlockedBy } from './accept-blocked.ts'

/** The bar at the foot of Review: what would be signed, and the four things that can be done with it. */
export function ReviewActions({ task, review }: { readonly task: TaskRow; readonly review: Review }): ReactNode {
  const hold = useHold(task.result?.acceptanceId == null ? '' : `hold:${task.result.acceptanceId}`)
  const bar = useRef<HTMLElement>(null)
  useShownReceipt(bar, hold)
  const [asking, setAsking] = useState<'reject' | 'revise' | null>(null)
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
      {asking === 'reject' && hold !== undefined ? <RejectDialog hold={hold} onClose={() => { setAsking(null) }} /> : null}
      {asking === 'revise' ? <ReviseDialog task={task} onClose={() => { setAsking(null) }} /> : null}
    </footer>
  )
}

/** False for a moment after what is to be signed has changed or appeared, and until main has recorded that it is on screen (null). */
function useGrace(digest: string | null): boolean {
  const [openFor, setOpenFor] = useState<string | null>(null)
  useEffect(() => {
    const later = setTimeout(() => {
      setOpenFor(digest)
    }, limits.inputGraceMs)
    return () => {
      clearTimeout(later)
    }
  }, [digest])
  return digest !== null && openFor === digest
}

function RejectDialog({ hold, onClose }: { readonly hold: HoldRow; readonly onClose: () => void }): ReactNode {
  const [reason, setReason] = useState('')
  const reject = useAct('approval.decide', () => {
    onClose()
    show({ at: 'room' })
  })
  return (
    <Dialog title={t.review.rejectTitle} onClose={onClose} busy={reject.isPending}>
      <Form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          reject.mutate({ commandId: newCommandId(), approvalId: hold.approvalId, digest: hold.digest, verdict: 'denied', reason: reason.trim() === '' ? null : reason.trim() })
        }}
      >
        <p className="soft">{t.review.rejectHint}</p>
        <TextField label={t.review.reason} value={reason} onChange={setReason} lines={3} maxLength={1_000} autoFocus />
        {reject.isError ? <FailureNotice failure={failureOf(reject.error)} /> : null}
        <div className="dialog-actions">
          <Button onPress={onClose} isDisabled={reject.isPending}>
            {t.word.cancel}
          </Button>
          <Button type="submit" variant="danger" isPending={reject.isPending}>
            {t.review.rejectConfirm}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

function ReviseDialog({ task, onClose }: { readonly task: TaskRow; readonly onClose: () => void }): ReactNode {
  const [requirement, setRequirement] = useState('')
  const revise = useAct('task.revise', ({ taskId }) => {
    onClose()
    showTask(taskId)
  })
  return (
    <Dialog title={t.review.reviseTitle} onClose={onClose} busy={revise.isPending} wide>
      <Form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (requirement.trim() !== '') revise.mutate({ commandId: newCommandId(), taskId: task.taskId, requirement: requirement.trim() })
        }}
      >
        <p className="soft">{t.review.reviseHint}</p>
        <TextField label={t.review.reviseLabel} value={requirement} onChange={setRequirement} lines={5} maxLength={12_000} autoFocus />
        {revise.isError ? <FailureNotice failure={failureOf(revise.error)} /> : null}
        <div className="dialog-actions">
          <Button onPress={onClose} isDisabled={revise.isPending}>
            {t.word.cancel}
          </Button>
          <Button type="submit" variant="primary" isPending={revise.isPending} isDisabled={requirement.trim() === ''}>
            {t.review.reviseConfirm}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

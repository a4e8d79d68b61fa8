import { useState, type ReactNode } from 'react'
import { t } from '../../i18n/text.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { TextField } from '../../ui/fields.tsx'
import type { Act } from '../../ui/form-dialog.tsx'

export interface RejectDialogProps {
  readonly act: Act
  /** The owner is asked for the reason, too. */
  readonly asksReason: boolean
  readonly onReject: (reason: string | null) => void
  readonly onClose: () => void
}

/** The second step before a result is rejected, wherever that was begun. */
export function RejectDialog({ act, asksReason, onReject, onClose }: RejectDialogProps): ReactNode {
  const [reason, setReason] = useState('')
  return (
    <ConfirmDialog title={t.review.rejectTitle} hint={t.review.rejectHint} confirm={t.review.rejectConfirm} act={act} onClose={onClose} onConfirm={() => { onReject(reason.trim() === '' ? null : reason.trim()) }}>
      {asksReason ? <TextField label={t.review.reason} value={reason} onChange={setReason} lines={3} maxLength={1_000} autoFocus /> : null}
    </ConfirmDialog>
  )
}

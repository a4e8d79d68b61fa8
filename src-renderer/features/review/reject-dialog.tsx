import { useState, type ReactNode } from 'react'
import { Form } from 'react-aria-components'
import { failureOf } from '../../bridge.ts'
import { t } from '../../i18n/text.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/fields.tsx'
import { FailureNotice } from '../../ui/notice.tsx'

export interface RejectDialogProps {
  /** The rejection, as it goes. */
  readonly act: { readonly isPending: boolean; readonly isError: boolean; readonly error: unknown }
  /** The owner is asked for the reason, too. */
  readonly asksReason: boolean
  readonly onReject: (reason: string | null) => void
  readonly onClose: () => void
}

/** The second step before a result is rejected, wherever that was begun. */
export function RejectDialog({ act, asksReason, onReject, onClose }: RejectDialogProps): ReactNode {
  const [reason, setReason] = useState('')
  return (
    <Dialog title={t.review.rejectTitle} onClose={onClose} busy={act.isPending}>
      <Form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          onReject(reason.trim() === '' ? null : reason.trim())
        }}
      >
        <p className="soft">{t.review.rejectHint}</p>
        {asksReason ? <TextField label={t.review.reason} value={reason} onChange={setReason} lines={3} maxLength={1_000} autoFocus /> : null}
        {act.isError ? <FailureNotice failure={failureOf(act.error)} /> : null}
        <div className="dialog-actions">
          <Button onPress={onClose} isDisabled={act.isPending}>
            {t.word.cancel}
          </Button>
          <Button type="submit" variant="danger" isPending={act.isPending}>
            {t.review.rejectConfirm}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

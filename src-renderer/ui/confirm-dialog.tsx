import type { ReactNode } from 'react'
import { Form } from 'react-aria-components'
import { failureOf } from '../bridge.ts'
import { t } from '../i18n/text.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { FailureNotice } from './notice.tsx'

export interface ConfirmDialogProps {
  readonly title: string
  /** What it happens to, where the title does not say so. */
  readonly subject?: ReactNode
  /** What happens. */
  readonly hint: string
  readonly confirm: string
  /** What was confirmed, as it goes. */
  readonly act: { readonly isPending: boolean; readonly isError: boolean; readonly error: unknown }
  readonly onConfirm: () => void
  readonly onClose: () => void
  readonly children?: ReactNode
}

/** The second step before something that cannot be taken back. `children` stand before its buttons; its failure is said in it. */
export function ConfirmDialog({ title, subject, hint, confirm, act, onConfirm, onClose, children }: ConfirmDialogProps): ReactNode {
  return (
    <Dialog title={title} onClose={onClose} busy={act.isPending}>
      <Form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          onConfirm()
        }}
      >
        {subject}
        <p className="soft">{hint}</p>
        {children}
        {act.isError ? <FailureNotice failure={failureOf(act.error)} /> : null}
        <div className="dialog-actions">
          <Button onPress={onClose} isDisabled={act.isPending}>
            {t.word.cancel}
          </Button>
          <Button type="submit" variant="danger" isPending={act.isPending}>
            {confirm}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

import type { ReactNode } from 'react'
import { FormDialog, type Act } from './form-dialog.tsx'

interface ConfirmDialogProps {
  readonly title: string
  /** What it happens to, where the title does not say so. */
  readonly subject?: ReactNode
  /** What happens. */
  readonly hint: string
  readonly confirm: string
  readonly act: Act
  readonly onConfirm: () => void
  readonly onClose: () => void
  readonly children?: ReactNode
}

/** The second step before something that cannot be taken back. `children` stand before its buttons. */
export function ConfirmDialog({ title, subject, hint, confirm, act, onConfirm, onClose, children }: ConfirmDialogProps): ReactNode {
  return (
    <FormDialog title={title} submit={confirm} variant="danger" act={act} onClose={onClose} onSubmit={onConfirm}>
      {subject}
      <p className="soft">{hint}</p>
      {children}
    </FormDialog>
  )
}

import type { ReactNode } from 'react'
import { Form } from 'react-aria-components'
import { failureOf } from '../bridge.ts'
import { t } from '../i18n/text.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { FailureNotice } from './notice.tsx'

/** What a dialog does, as it goes. */
export interface Act { readonly isPending: boolean; readonly isError: boolean; readonly error: unknown }

interface FormDialogProps {
  readonly title: string
  /** The button that does it. */
  readonly submit: string
  readonly variant?: 'primary' | 'danger'
  readonly wide?: boolean
  /** Something is missing yet. */
  readonly isDisabled?: boolean
  readonly act: Act
  /** Not called while it is being done already. */
  readonly onSubmit: () => void
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A dialog that does one thing with what is typed into it, or after a second thought: its failure is said in it, and it stays until it is done. */
export function FormDialog({ title, submit, variant = 'primary', wide = false, isDisabled = false, act, onSubmit, onClose, children }: FormDialogProps): ReactNode {
  return (
    <Dialog title={title} onClose={onClose} busy={act.isPending} wide={wide}>
      <Form
        className="form"
        validationBehavior="aria"
        onSubmit={(event) => {
          event.preventDefault()
          if (!act.isPending && !isDisabled) onSubmit()
        }}
      >
        {children}
        {act.isError ? <FailureNotice failure={failureOf(act.error)} /> : null}
        <div className="dialog-actions">
          <Button onPress={onClose} isDisabled={act.isPending}>
            {t.word.cancel}
          </Button>
          <Button type="submit" variant={variant} isPending={act.isPending} isDisabled={isDisabled}>
            {submit}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

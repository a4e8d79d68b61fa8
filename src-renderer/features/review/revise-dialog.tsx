import { useState, type ReactNode } from 'react'
import { Form } from 'react-aria-components'
import type { TaskRow } from '../../../src-preload/contract/rows.ts'
import { failureOf, newCommandId } from '../../bridge.ts'
import { t } from '../../i18n/text.ts'
import { useAct } from '../../store/queries.ts'
import { showTask } from '../../store/ui-store.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/fields.tsx'
import { FailureNotice } from '../../ui/notice.tsx'

/** What should be different: the words of a new, linked task. */
export function ReviseDialog({ task, onClose }: { readonly task: TaskRow; readonly onClose: () => void }): ReactNode {
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

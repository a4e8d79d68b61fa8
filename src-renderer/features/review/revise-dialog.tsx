import { useState, type ReactNode } from 'react'
import type { TaskRow } from '../../../src-preload/contract/rows.ts'
import { newCommandId } from '../../bridge.ts'
import { t } from '../../i18n/text.ts'
import { useAct } from '../../store/queries.ts'
import { showTask } from '../../store/ui-store.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { TextField } from '../../ui/fields.tsx'

/** What should be different: the words of a new, linked task. */
export function ReviseDialog({ task, onClose }: { readonly task: TaskRow; readonly onClose: () => void }): ReactNode {
  const [requirement, setRequirement] = useState('')
  const revise = useAct('task.revise', ({ taskId }) => {
    onClose()
    showTask(taskId)
  })
  return (
    <FormDialog
      title={t.review.reviseTitle} submit={t.review.reviseConfirm} wide isDisabled={requirement.trim() === ''} act={revise} onClose={onClose}
      onSubmit={() => { revise.mutate({ commandId: newCommandId(), taskId: task.taskId, requirement: requirement.trim() }) }}
    >
      <p className="soft">{t.review.reviseHint}</p>
      <TextField label={t.review.reviseLabel} value={requirement} onChange={setRequirement} lines={5} maxLength={12_000} autoFocus />
    </FormDialog>
  )
}

import { useState, type ReactNode } from 'react'
import type { TaskRow } from '../../../src-preload/contract/rows.ts'
import { newCommandId } from '../../bridge.ts'
import { t } from '../../i18n/text.ts'
import { useAct } from '../../store/queries.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { TextField } from '../../ui/fields.tsx'

/** Lets the owner write the brief instead of Bot A. It becomes a new version, and is approved like any other. */
export function WriteBriefDialog({ task, onClose }: { readonly task: TaskRow; readonly onClose: () => void }): ReactNode {
  const [goal, setGoal] = useState(task.requirement.slice(0, 2_000))
  const [scope, setScope] = useState('')
  const [criteria, setCriteria] = useState(task.criteria.join('\n'))
  const [testCommand, setTestCommand] = useState('')
  const write = useAct('task.writeBrief', onClose)
  const ready = goal.trim() !== '' && testCommand.trim() !== ''
  return (
    <FormDialog
      title={t.row.writeBrief} submit={t.row.proposeBrief} wide isDisabled={!ready} act={write} onClose={onClose}
      onSubmit={() => {
        const lines = criteria.split('\n').map((line) => line.trim()).filter((line) => line !== '')
        write.mutate({ commandId: newCommandId(), taskId: task.taskId, brief: { goal: goal.trim(), scope: scope.trim(), criteria: lines.slice(0, 20), testCommand: testCommand.trim(), excerpts: [] } })
      }}
    >
      <TextField label={t.row.goal} value={goal} onChange={setGoal} lines={3} maxLength={2_000} autoFocus />
      <TextField label={t.row.scope} value={scope} onChange={setScope} lines={2} maxLength={2_000} />
      <TextField label={t.row.criteria} hint={t.newTask.criteriaHint} value={criteria} onChange={setCriteria} lines={3} />
      <TextField label={t.row.testCommand} value={testCommand} onChange={setTestCommand} mono maxLength={1_000} placeholder="npm test" />
    </FormDialog>
  )
}

import { KeySquare } from 'lucide-react'
import type { ReactNode } from 'react'
import { t } from '../../i18n/text.ts'
import { useTask, useTaskKeys } from '../../store/hooks.ts'
import { showTask } from '../../store/ui-store.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/notice.tsx'
import { GrantList } from '../grants/grant-list.tsx'

/** The standing grants of all tasks; the newest task first. */
export function GrantsSection(): ReactNode {
  const keys = useTaskKeys()
  return (
    <div className="stack-wide grants-of-tasks">
      <p className="soft">{t.grants.intro}</p>
      {keys.map((key) => (
        <GrantsOfTask key={key} taskKey={key} />
      ))}
      <div className="grants-none">
        <Empty icon={KeySquare} title={t.grants.none}>{t.grants.noneHint}</Empty>
      </div>
    </div>
  )
}

function GrantsOfTask({ taskKey }: { readonly taskKey: string }): ReactNode {
  const task = useTask(taskKey)
  if (task === undefined || task.standingGrants.length === 0) return null
  return (
    <section className="grants-of-task" aria-label={task.title}>
      <Button variant="plain" size="small" className="button-inline" onPress={() => { showTask(task.taskId) }}>
        {task.title}
      </Button>
      <GrantList taskId={task.taskId} grants={task.standingGrants} />
    </section>
  )
}

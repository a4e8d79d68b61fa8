import { ListTodo } from 'lucide-react'
import { useEffect, type ReactNode } from 'react'
import { t } from '../../i18n/text.ts'
import { useTaskById } from '../../store/hooks.ts'
import { changeUi, useUi } from '../../store/ui-store.ts'
import { useMedia } from '../../ui/media.ts'
import { Empty } from '../../ui/notice.tsx'
import { ApprovalTray } from '../approvals/tray.tsx'
import { Inspector } from './inspector.tsx'
import { TaskHeader } from './task-header.tsx'
import { Transcript } from './transcript.tsx'

/** From this width on the inspector has its own column; below it lies over the transcript when it is opened. */
const inspectorColumn = '(min-width: 1280px)'

/** Home: the shown task's transcript, the approvals under it, the inspector beside it. */
export function RoomScreen(): ReactNode {
  const taskId = useUi((ui) => ui.taskId)
  const task = useTaskById(taskId)
  const wide = useMedia(inspectorColumn)
  const setting = useUi((ui) => ui.inspector)
  const inspectorOpen = setting === 'auto' ? wide : setting === 'open'
  const toggle = (): void => {
    changeUi({ inspector: inspectorOpen ? 'closed' : 'open' })
  }
  const drawer = inspectorOpen && !wide
  useEffect(() => {
    if (!drawer) return
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && !event.defaultPrevented) changeUi({ inspector: 'closed' })
    }
    window.addEventListener('keydown', onKey)
    return () => {
      window.removeEventListener('keydown', onKey)
    }
  }, [drawer])
  return (
    <div className={`room${inspectorOpen ? (wide ? ' room-with-inspector' : ' room-with-drawer') : ''}`}>
      <div className="room-middle">
        {task === undefined ? (
          <Empty icon={ListTodo} title={t.room.pick}>
            {t.room.pickHint}
          </Empty>
        ) : (
          <>
            <TaskHeader task={task} inspector={{ open: inspectorOpen, toggle }} />
            <Transcript key={task.taskId} taskId={task.taskId} />
          </>
        )}
        <ApprovalTray compact={false} />
      </div>
      {task !== undefined && inspectorOpen ? <Inspector task={task} /> : null}
    </div>
  )
}

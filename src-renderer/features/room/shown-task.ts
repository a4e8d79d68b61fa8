import { useEffect } from 'react'
import { t } from '../../i18n/text.ts'
import { useRoom, useSyncState, useTaskKeys } from '../../store/hooks.ts'
import { changeUi, showTask, useUi } from '../../store/ui-store.ts'
import { say } from '../../ui/toasts.tsx'

/** Shows the newest task when none is shown, or when the shown one is gone. */
export function useShownTask(): void {
  const keys = useTaskKeys()
  const room = useRoom()
  const shown = useUi((ui) => ui.taskId)
  useEffect(() => {
    if (shown !== null && keys.includes(`task:${shown}`)) return
    const newest = keys[0] === undefined ? undefined : room.rows.task(keys[0])
    if (newest !== undefined) changeUi({ taskId: newest.taskId })
  }, [keys, room, shown])
  useEffect(() => {
    room.watch(shown)
  }, [room, shown])
}

/** A link from outside chooses what is shown and does nothing else; a task that is not there is told. Of several at once the last that is there stays. */
export function useLinkedTasks(): void {
  const linked = useUi((ui) => ui.linkedTaskIds)
  const room = useRoom()
  const live = useSyncState().at === 'live'
  useEffect(() => {
    if (linked.length === 0 || !live) return
    changeUi({ linkedTaskIds: [] })
    for (const taskId of linked) {
      if (room.rows.task(`task:${taskId}`) === undefined) say({ tone: 'info', text: t.app.linkUnknown, detail: t.app.linkUnknownHint })
      else showTask(taskId)
    }
  }, [linked, live, room])
}

import type { QueryClient } from '@tanstack/react-query'
import { useEffect, useLayoutEffect, useState, type ReactNode } from 'react'
import type { TaskId } from '../../src-preload/contract/ids.ts'
import { useTaskKeys } from '../store/hooks.ts'
import { useUi, type Screen } from '../store/ui-store.ts'
import { t } from '../i18n/text.ts'
import { late } from '../ui/late.tsx'
import { Loading } from '../ui/notice.tsx'
import { paletteTyped } from './palette/typed-ahead.ts'

// Loaded when first shown: the window is usable sooner, the diff viewer is large, and somebody without a task needs no transcript.
const room = late(async () => (await import('./room/room-screen.tsx')).RoomScreen, <Loading />)
const review = late(async () => (await import('./review/review-screen.tsx')).ReviewScreen, <Loading />)
const newTask = late(async () => (await import('./new-task/new-task-screen.tsx')).NewTaskScreen, <Loading />)
const settings = late(async () => (await import('./settings/settings-screen.tsx')).SettingsScreen, <Loading />)
const audit = late(async () => (await import('./audit/audit-screen.tsx')).AuditScreen, <Loading />)
const taskList = late(async () => (await import('./room/task-list.tsx')).TaskList, null)
const palette = late(async () => (await import('./palette/palette.tsx')).Palette, null)
const tray = late(async () => (await import('./approvals/tray.tsx')).ApprovalTray, null)

/** Fetches the room's code while main still reads a long journal. */
export function prepareRoom(): void {
  Promise.all([room.prepare(), taskList.prepare()]).catch((cause: unknown) => { console.warn('The room could not be prepared.', cause) })
}

/** Fetches the review ahead of the click, when the window has nothing else to do: its code, and the result if one waits to be looked at. */
export function prepareReview(queries: QueryClient, waiting: TaskId | null): void {
  const prepare = async (): Promise<void> => {
    await review.prepare()
    const { prepareResult } = await import('./review/prepare-result.ts')
    await prepareResult(queries, waiting)
  }
  requestIdleCallback(() => { prepare().catch((cause: unknown) => { console.warn('The review could not be prepared.', cause) }) }, { timeout: 2_000 })
}

/** The tasks at the left edge. Without one there is nothing to list and nothing to look for. */
export function TaskList(): ReactNode {
  if (useTaskKeys().length > 0) return <taskList.View />
  return <div className="task-list"><div className="task-list-empty quiet small">{t.nav.noTasks}</div></div>
}

/** The command palette; its code is fetched when the window has nothing else to do, or when it is opened: then what is typed meanwhile is its field's. */
export function Palette(): ReactNode {
  const open = useUi((ui) => ui.paletteOpen)
  const [wanted, setWanted] = useState(open)
  if (open && !wanted) setWanted(true)
  useLayoutEffect(() => (open ? paletteTyped.keep(window, () => document.activeElement?.closest('.palette') != null) : undefined), [open])
  useEffect(() => {
    const idle = requestIdleCallback(() => { palette.prepare().catch((cause: unknown) => { console.warn('The palette could not be prepared.', cause) }) }, { timeout: 2_000 })
    return () => { cancelIdleCallback(idle) }
  }, [])
  return wanted ? <palette.View /> : null
}

/** What waits for the owner, on any screen but the room, which has it itself. */
export function WaitingHolds(): ReactNode {
  return <tray.View compact />
}

/** The room of the shown task. */
export const Room = room.View

/** Every screen but the room. */
export function OtherScreen({ screen }: { readonly screen: Screen }): ReactNode {
  switch (screen.at) {
    case 'review':
      return <review.View />
    case 'new-task':
      return <newTask.View />
    case 'settings':
      return <settings.View section={screen.section} />
    case 'audit':
      return <audit.View />
    case 'room':
      return <room.View />
  }
}

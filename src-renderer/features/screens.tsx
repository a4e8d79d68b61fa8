import type { QueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { TaskId } from '../../src-preload/contract/ids.ts'
import type { Screen } from '../store/ui-store.ts'
import { late } from '../ui/late.tsx'
import { Loading } from '../ui/notice.tsx'

// Loaded when first shown: the window is usable sooner, the diff viewer is large, and somebody without a task needs no transcript.
const room = late(async () => (await import('./room/room-screen.tsx')).RoomScreen, <Loading />)
const review = late(async () => (await import('./review/review-screen.tsx')).ReviewScreen, <Loading />)
const newTask = late(async () => (await import('./new-task/new-task-screen.tsx')).NewTaskScreen, <Loading />)
const settings = late(async () => (await import('./settings/settings-screen.tsx')).SettingsScreen, <Loading />)
const audit = late(async () => (await import('./audit/audit-screen.tsx')).AuditScreen, <Loading />)
const tray = late(async () => (await import('./approvals/tray.tsx')).ApprovalTray, null)

/** Fetches the room's code while main still reads a long journal. */
export function prepareRoom(): void {
  room.prepare().catch((cause: unknown) => { console.warn('The room could not be prepared.', cause) })
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

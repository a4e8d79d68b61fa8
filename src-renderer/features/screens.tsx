import { lazy, Suspense, type ReactNode } from 'react'
import type { Screen } from '../store/ui-store.ts'
import { Loading } from '../ui/notice.tsx'

// Loaded when first shown: the window is usable sooner, the diff viewer is large, and somebody without a task needs no transcript.
const LazyRoom = lazy(async () => ({ default: (await import('./room/room-screen.tsx')).RoomScreen }))
const loadReview = () => import('./review/review-screen.tsx')
const ReviewScreen = lazy(async () => ({ default: (await loadReview()).ReviewScreen }))
const NewTaskScreen = lazy(async () => ({ default: (await import('./new-task/new-task-screen.tsx')).NewTaskScreen }))
const SettingsScreen = lazy(async () => ({ default: (await import('./settings/settings-screen.tsx')).SettingsScreen }))
const AuditScreen = lazy(async () => ({ default: (await import('./audit/audit-screen.tsx')).AuditScreen }))

/** Fetches the review ahead of the click, when a result is ready and the window has nothing else to do. */
export function prepareReview(): void {
  requestIdleCallback(() => void loadReview(), { timeout: 2_000 })
}

const LazyTray = lazy(async () => ({ default: (await import('./approvals/tray.tsx')).ApprovalTray }))

/** What waits for the owner, on any screen but the room, which has it itself. */
export function WaitingHolds(): ReactNode {
  return <Suspense fallback={null}><LazyTray compact /></Suspense>
}

/** The room of the shown task. */
export function Room(): ReactNode {
  return <Suspense fallback={<Loading />}><LazyRoom /></Suspense>
}

/** Every screen but the room. */
export function OtherScreen({ screen }: { readonly screen: Screen }): ReactNode {
  return <Suspense fallback={<Loading />}>{screen.at === 'review' ? <ReviewScreen /> : screen.at === 'new-task' ? <NewTaskScreen /> : screen.at === 'settings' ? <SettingsScreen section={screen.section} /> : <AuditScreen />}</Suspense>
}

import { lazy, Suspense, type ReactNode } from 'react'
import type { Screen } from '../store/ui-store.ts'
import { Loading } from '../ui/notice.tsx'

// Loaded when first shown: the window is usable sooner, and the diff viewer is large.
const ReviewScreen = lazy(async () => ({ default: (await import('./review/review-screen.tsx')).ReviewScreen }))
const NewTaskScreen = lazy(async () => ({ default: (await import('./new-task/new-task-screen.tsx')).NewTaskScreen }))
const SettingsScreen = lazy(async () => ({ default: (await import('./settings/settings-screen.tsx')).SettingsScreen }))
const AuditScreen = lazy(async () => ({ default: (await import('./audit/audit-screen.tsx')).AuditScreen }))

/** Every screen but the room. */
export function OtherScreen({ screen }: { readonly screen: Screen }): ReactNode {
  return <Suspense fallback={<Loading />}>{screen.at === 'review' ? <ReviewScreen /> : screen.at === 'new-task' ? <NewTaskScreen /> : screen.at === 'settings' ? <SettingsScreen section={screen.section} /> : <AuditScreen />}</Suspense>
}

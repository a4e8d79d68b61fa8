import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, type ReactNode } from 'react'
import { languageFor } from '../src-words/languages.ts'
import { bridge, call } from './bridge.ts'
import { Banners } from './features/banners.tsx'
import { useDesk } from './features/approvals/desk.ts'
import { runCommand } from './features/palette/commands.ts'
import { useCommandContext, useCommandKeys } from './features/palette/use-commands.ts'
import { FirstRun } from './features/room/first-run.tsx'
import { useLinkedTasks, useShownTask } from './features/room/shown-task.ts'
import { Sidebar } from './features/sidebar.tsx'
import { OtherScreen, Palette, prepareReview, prepareRoom, Room, WaitingHolds } from './features/screens.tsx'
import { speak, useSpoken } from './i18n/language.ts'
import { t } from './i18n/text.ts'
import { useRoom, useSyncState, useTaskById, useTaskKeys } from './store/hooks.ts'
import { useMethod } from './store/queries.ts'
import { changeUi, uiState, useUi } from './store/ui-store.ts'
import { Guard } from './ui/guard.tsx'
import { FailureNotice, Loading } from './ui/notice.tsx'
import { Toasts } from './ui/toasts.tsx'

/** The window. `firstScreen`: its page came with the first screen drawn, which then stays while the room is read. */
export function App({ firstScreen }: { readonly firstScreen: boolean }): ReactNode {
  useSpoken()
  useAppearance()
  useShownTask()
  useLinkedTasks()
  useSignals()
  useCommandKeys()
  const desk = useDesk()
  useEffect(() => desk.start(), [desk])
  const sync = useSyncState()
  const room = useRoom()
  const noTasks = useTaskKeys().length === 0
  const screen = useUi((ui) => ui.screen)
  const [drawn, setDrawn] = useState(firstScreen)
  if (drawn && sync.at !== 'loading') setDrawn(false)
  const waiting = sync.at === 'loading' && !drawn
  const firstRun = noTasks && screen.at === 'room'
  usePreparedRoom(waiting)
  usePreparedReview()
  return (
    <div className="app">
      <Banners />
      <Sidebar />
      <main className="main" data-screen={screen.at}>
        <Guard key={screen.at}>
          {waiting && noTasks ? (
            <Loading label={t.app.connecting} />
          ) : sync.at === 'failed' ? (
            <div className="screen-trouble">
              <FailureNotice failure={sync.failure} title={t.app.roomUnreadable} onRetry={() => { room.retry() }} />
            </div>
          ) : firstRun ? (
            <FirstRun />
          ) : screen.at === 'room' ? (
            <Room />
          ) : (
            <OtherScreen screen={screen} />
          )}
        </Guard>
        {screen.at === 'room' ? null : <WaitingHolds />}
      </main>
      <Palette />
      <Toasts />
    </div>
  )
}

/** Rows that are not there by then come from a long journal. */
const longReadMs = 100

/** While a long journal is read the window has nothing to do but to fetch what will draw its rows. */
function usePreparedRoom(waiting: boolean): void {
  useEffect(() => {
    if (!waiting) return
    const long = setTimeout(prepareRoom, longReadMs)
    return () => { clearTimeout(long) }
  }, [waiting])
}

/** A result that is there is looked at next: what that takes is fetched before the click. */
function usePreparedReview(): void {
  const queries = useQueryClient()
  const task = useTaskById(useUi((ui) => ui.taskId))
  const hasResult = task?.result != null
  const waiting = task?.status === 'result-ready' ? task.taskId : null
  useEffect(() => {
    if (hasResult) prepareReview(queries, waiting)
  }, [queries, hasResult, waiting])
}

/** Theme, density and language of the settings. */
function useAppearance(): void {
  const settings = useMethod('settings.get', {})
  const theme = settings.data?.appearance.theme
  const density = settings.data?.appearance.density
  useEffect(() => {
    // Until they are there the page has what main gave it along.
    if (theme === undefined) return
    const root = document.documentElement
    if (theme === 'system') delete root.dataset['theme']
    else root.dataset['theme'] = theme
    root.dataset['density'] = density
  }, [theme, density])
  const language = settings.data === undefined ? null : languageFor(settings.data.appearance.language ?? 'system', navigator.language)
  useEffect(() => {
    if (language !== null) void speak(language)
  }, [language])
}

/** Follows what main tells besides rows: changed app info and settings, and menu commands. */
function useSignals(): void {
  const queries = useQueryClient()
  const context = useCommandContext()
  useEffect(
    () =>
      bridge().onSignal((signal) => {
        if (signal.is === 'menu') runCommand(signal.command, context)
        else if (signal.is === 'link-waits') void takeLinks()
        else void queries.invalidateQueries()
      }),
    [queries, context],
  )
  // Some may have come before this window listened.
  useEffect(() => { void takeLinks() }, [])
}

/** Until none waits: of several at once each is followed, in its order. */
async function takeLinks(): Promise<void> {
  for (;;) {
    const link = await call('link.take', {})
    // Without a journal the call is refused like any other; the window says so elsewhere.
    if (!link.ok || link.value.taskId === null) return
    changeUi({ linkedTaskIds: [...uiState().linkedTaskIds, link.value.taskId] })
  }
}

import { QueryClientProvider, type QueryClient } from '@tanstack/react-query'
import { useEffect, type ReactNode } from 'react'
import type { TaskId } from '../../../src-preload/contract/ids.ts'
import type { Row } from '../../../src-preload/contract/rows.ts'
import { ApprovalDesk, DeskContext } from '../../features/approvals/desk.ts'
import { speakIn, spokenNow, type Spoken } from '../../i18n/language.ts'
import { Speaker } from '../../i18n/speaker.tsx'
import { RoomContext } from '../../store/hooks.ts'
import { createQueryClient } from '../../store/queries.ts'
import { RowSync } from '../../store/row-sync.ts'
import { changeUi, type UiState } from '../../store/ui-store.ts'
import { FakeMain } from '../fake-bridge.ts'

/** On what a story plays. */
export interface Scene {
  /** Made anew for each showing, so that times are of now. */
  readonly rows?: () => readonly Row[]
  /** As in the dev window's `flags`. */
  readonly flags?: readonly string[]
  readonly ui?: Partial<UiState>
}

/** The main process of fixtures and what a window keeps of it. */
export interface StageParts { readonly room: RowSync; readonly desk: ApprovalDesk; readonly queries: QueryClient }

/** Of the story that is shown: what its steps let the main process say. */
export function playedMain(): FakeMain {
  return (window as unknown as { readonly playedMain: FakeMain }).playedMain
}

const shownTask = 'task-1' as TaskId

/**
 * Sets the stage for one showing of a story: another main process, and a window that remembers nothing. The direction is that of the language, which
 * the document follows.
 */
export function setStage({ rows, flags = [], ui = {} }: Scene, theme: string, direction: Spoken['direction']): StageParts {
  speakIn({ ...spokenNow(), direction })
  const main = new FakeMain(rows?.() ?? [], new Set([...flags, theme]))
  Object.assign(window, { countersign: main.bridge, playedMain: main })
  changeUi({ screen: { at: 'room' }, taskId: shownTask, linkedTaskIds: [], inspector: 'auto', paletteOpen: false, taskFilter: '', open: new Map(), ...ui })
  const room = new RowSync(main.bridge)
  room.watch(shownTask)
  return { room, desk: new ApprovalDesk(room.rows), queries: createQueryClient() }
}

/** What stands around the window in main.tsx, around one part of it. */
export function Stage({ parts: { room, desk, queries }, children }: { readonly parts: StageParts; readonly children: ReactNode }): ReactNode {
  useEffect(() => {
    const rest = desk.start()
    return () => {
      rest()
      room.close()
    }
  }, [desk, room])
  return (
    <Speaker>
      <QueryClientProvider client={queries}>
        <RoomContext value={room}>
          <DeskContext value={desk}>{children}</DeskContext>
        </RoomContext>
      </QueryClientProvider>
    </Speaker>
  )
}

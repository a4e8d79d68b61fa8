import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode, useEffect, type ReactNode } from 'react'
import type { Bridge } from '../src-preload/contract/methods.ts'
import { App } from './app.tsx'
import { ApprovalDesk, DeskContext } from './features/approvals/desk.ts'
import { Speaker } from './i18n/speaker.tsx'
import { RoomContext } from './store/hooks.ts'
import { createQueryClient } from './store/queries.ts'
import { RowSync } from './store/row-sync.ts'

/** The window with all that it stands on. `firstScreen`: the page came with it drawn. `onReady` is called when it answers presses. */
export function wholeWindow(bridge: Bridge, { firstScreen, onReady }: { readonly firstScreen: boolean; readonly onReady: () => void }): ReactNode {
  const room = new RowSync(bridge)
  return (
    <StrictMode>
      <Speaker>
        <QueryClientProvider client={createQueryClient()}>
          <RoomContext value={room}>
            <DeskContext value={new ApprovalDesk(room.rows)}>
              <App firstScreen={firstScreen} />
              <Ready onReady={onReady} />
            </DeskContext>
          </RoomContext>
        </QueryClientProvider>
      </Speaker>
    </StrictMode>
  )
}

function Ready({ onReady }: { readonly onReady: () => void }): ReactNode {
  useEffect(onReady, [onReady])
  return null
}

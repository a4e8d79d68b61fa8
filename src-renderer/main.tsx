import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { I18nProvider } from 'react-aria-components'
import './styles.ts'
import { App } from './app.tsx'
import { bridge } from './bridge.ts'
import { ApprovalDesk, DeskContext } from './features/approvals/desk.ts'
import { t } from './i18n/text.ts'
import { RoomContext } from './store/hooks.ts'
import { createQueryClient } from './store/queries.ts'
import { RowSync } from './store/row-sync.ts'

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no #root')

if (window.countersign === undefined) {
  root.textContent = t.app.bridgeMissing
} else {
  const room = new RowSync(bridge())
  createRoot(root).render(
    <StrictMode>
      <I18nProvider locale="en-US">
        <QueryClientProvider client={createQueryClient()}>
          <RoomContext value={room}>
            <DeskContext value={new ApprovalDesk(room.rows)}>
              <App />
            </DeskContext>
          </RoomContext>
        </QueryClientProvider>
      </I18nProvider>
    </StrictMode>,
  )
}

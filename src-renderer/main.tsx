import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { isLanguageCode, languageFor } from '../src-words/languages.ts'
import './styles.ts'
import { App } from './app.tsx'
import { bridge } from './bridge.ts'
import { ApprovalDesk, DeskContext } from './features/approvals/desk.ts'
import { speak } from './i18n/language.ts'
import { Speaker } from './i18n/speaker.tsx'
import { t } from './i18n/text.ts'
import { RoomContext } from './store/hooks.ts'
import { createQueryClient } from './store/queries.ts'
import { RowSync } from './store/row-sync.ts'

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no #root')

// Main names the language if one was chosen; the settings come later and say the same.
const chosen = new URLSearchParams(location.search).get('language')
const language = languageFor(isLanguageCode(chosen) ? chosen : 'system', navigator.language)
if (language === 'en') draw(root)
else void speak(language).finally(() => { draw(root) })

function draw(into: HTMLElement): void {
  if (window.countersign === undefined) {
    into.textContent = t.app.bridgeMissing
    return
  }
  const room = new RowSync(bridge())
  createRoot(into).render(
    <StrictMode>
      <Speaker>
        <QueryClientProvider client={createQueryClient()}>
          <RoomContext value={room}>
            <DeskContext value={new ApprovalDesk(room.rows)}>
              <App />
            </DeskContext>
          </RoomContext>
        </QueryClientProvider>
      </Speaker>
    </StrictMode>,
  )
}

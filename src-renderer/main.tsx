import { createRoot, hydrateRoot } from 'react-dom/client'
import { isLanguageCode } from '../src-words/languages.ts'
import { bridge } from './bridge.ts'
import { speak } from './i18n/language.ts'
import { t } from './i18n/text.ts'
import type { KeptPresses } from './kept-presses.ts'
import { wholeWindow } from './whole-window.tsx'

/** Draws the window, or takes over what its page came with. */
export async function openWindow(presses: KeptPresses): Promise<void> {
  const root = document.getElementById('root')
  if (root === null) throw new Error('index.html has no #root')
  // Main names the language; the settings come later and say the same.
  const { lang } = document.documentElement
  try {
    if (isLanguageCode(lang)) await speak(lang)
  } finally {
    draw(root, presses)
  }
}

function draw(into: HTMLElement, presses: KeptPresses): void {
  if (window.countersign === undefined) {
    into.textContent = t.app.bridgeMissing
    return
  }
  const firstScreen = into.hasChildNodes()
  const whole = wholeWindow(bridge(), { firstScreen, onReady: presses.handOver })
  if (firstScreen) hydrateRoot(into, whole)
  else createRoot(into).render(whole)
}

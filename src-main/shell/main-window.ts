import { app, BrowserWindow, nativeTheme, screen, session } from 'electron'
import { join } from 'node:path'
import { appOrigin } from './app-protocol.ts'
import type { ChosenLooks } from './chosen-looks.ts'
import { rememberedPlace, rememberPlace } from './window-memory.ts'
import { openingPlace, windowMin } from './window-place.ts'

/** The window's ground before its page is there: `--canvas` of tokens.css, light and dark. */
const ground = { light: '#f3f4f6', dark: '#0f1114' }

/**
 * Opens the one window where it was last, if that display is there. Its zoom Chromium keeps by itself. `preload` is the absolute path of the
 * bundled bridge; `theme` the chosen one, null for the system's. It is shown at once, on its ground: what draws on the display only comes up for
 * a window that is shown, and does so beside the page's own process.
 */
export function openMainWindow(preload: string, theme: ChosenLooks['theme']): BrowserWindow {
  const placeFile = join(app.getPath('userData'), 'window.json')
  const { maximized, ...place } = openingPlace(rememberedPlace(placeFile), screen.getAllDisplays().map(({ workArea }) => workArea))
  const window = new BrowserWindow({
    title: 'Countersign',
    minWidth: windowMin.width,
    minHeight: windowMin.height,
    ...place,
    show: false,
    backgroundColor: ground[theme ?? (nativeTheme.shouldUseDarkColors ? 'dark' : 'light')],
    webPreferences: { preload, contextIsolation: true, sandbox: true, nodeIntegration: false, webviewTag: false, spellcheck: false, devTools: !app.isPackaged },
  })
  rememberPlace(window, placeFile, (why) => { console.error('the place of the window could not be written', why) })
  if (maximized) window.maximize()
  window.show()
  void window.loadURL(`${appOrigin}/`)
  return window
}

/** No page of this app goes anywhere, opens a window or takes in a guest, whichever page it is and however it came to be. Before any window is opened. */
export function confinePages(): void {
  app.on('web-contents-created', (_event, page) => {
    page.setWindowOpenHandler(() => ({ action: 'deny' }))
    for (const leaving of ['will-navigate', 'will-frame-navigate', 'will-redirect', 'will-attach-webview'] as const) page.on(leaving as 'will-navigate', (event) => { event.preventDefault() })
  })
}

/**
 * Keeps Chromium's spelling checker from asking the net for a dictionary as each window starts. Neither the window's `spellcheck: false` nor a checker
 * that is off does; a list without a language does, and an address at which there is none. Before any window is opened.
 */
export function fetchNoDictionaries(): void {
  session.defaultSession.setSpellCheckerEnabled(false)
  session.defaultSession.setSpellCheckerLanguages([])
  session.defaultSession.setSpellCheckerDictionaryDownloadURL(`${appOrigin}/no-dictionaries/`)
}

/** Refuses every permission that a page could ask for. */
export function denyPermissions(): void {
  session.defaultSession.setPermissionRequestHandler((_contents, _permission, answer) => {
    answer(false)
  })
  session.defaultSession.setPermissionCheckHandler(() => false)
  session.defaultSession.setDevicePermissionHandler(() => false)
}

/** Shows a window whatever hid it. */
export function bringToFront(window: BrowserWindow | null): void {
  if (window === null || window.isDestroyed()) return
  if (window.isMinimized()) window.restore()
  window.show()
  window.focus()
}

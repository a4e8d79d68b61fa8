import { app, BrowserWindow, session } from 'electron'
import { appOrigin } from './app-protocol.ts'

/** Opens the one window. `preload` is the absolute path of the bundled bridge. */
export function openMainWindow(preload: string): BrowserWindow {
  const window = new BrowserWindow({
    title: 'Countersign',
    minWidth: 1000,
    minHeight: 600,
    width: 1280,
    height: 840,
    show: false,
    // The spelling checker would fetch its dictionaries from the net.
    webPreferences: { preload, contextIsolation: true, sandbox: true, nodeIntegration: false, webviewTag: false, spellcheck: false, devTools: !app.isPackaged },
  })
  window.once('ready-to-show', () => {
    window.show()
  })
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

/** Refuses every permission that a page could ask for. */
export function denyPermissions(): void {
  session.defaultSession.setPermissionRequestHandler((_contents, _permission, answer) => {
    answer(false)
  })
  session.defaultSession.setPermissionCheckHandler(() => false)
  session.defaultSession.setDevicePermissionHandler(() => false)
}

/** True for the first instance; a second one hands over to `focusFirst` in the first and must quit. */
export function claimSingleInstance(focusFirst: () => void): boolean {
  if (!app.requestSingleInstanceLock()) return false
  app.on('second-instance', focusFirst)
  return true
}

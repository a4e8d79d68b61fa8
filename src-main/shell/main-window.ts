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
    webPreferences: { preload, contextIsolation: true, sandbox: true, nodeIntegration: false, spellcheck: false },
  })
  window.once('ready-to-show', () => {
    window.show()
  })
  window.webContents.setWindowOpenHandler(() => ({ action: 'deny' }))
  window.webContents.on('will-navigate', (event) => {
    event.preventDefault()
  })
  void window.loadURL(`${appOrigin}/`)
  return window
}

/** Refuses every permission that a page could ask for. */
export function denyPermissions(): void {
  session.defaultSession.setPermissionRequestHandler((_contents, _permission, answer) => {
    answer(false)
  })
  session.defaultSession.setPermissionCheckHandler(() => false)
}

/** True for the first instance; a second one hands over to `focusFirst` in the first and must quit. */
export function claimSingleInstance(focusFirst: () => void): boolean {
  if (!app.requestSingleInstanceLock()) return false
  app.on('second-instance', focusFirst)
  return true
}

// The least that an Electron app can be: one window with one button. Cold start and memory are measured against it, on the same runtime.
import { app, BrowserWindow } from 'electron'

app.on('window-all-closed', () => { app.quit() })
// Not awaited at the top: `ready` comes after this file has been evaluated.
void app.whenReady().then(() => {
  const window = new BrowserWindow({ title: 'Bare', width: 1280, height: 840, webPreferences: { contextIsolation: true, sandbox: true, nodeIntegration: false } })
  return window.loadURL('data:text/html,<!doctype html><title>Bare</title><button>Run the sample task</button>')
})

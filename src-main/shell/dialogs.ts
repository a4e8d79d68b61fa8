import { BrowserWindow, dialog, type WebContents } from 'electron'
import { t } from './language.ts'

/** The window's folder picker; null when the owner cancels. */
export async function pickFolder(page: WebContents): Promise<string | null> {
  const window = BrowserWindow.fromWebContents(page)
  const options: Electron.OpenDialogOptions = { properties: ['openDirectory'], title: t.dialog.pickFolder }
  const chosen = window === null ? await dialog.showOpenDialog(options) : await dialog.showOpenDialog(window, options)
  return chosen.canceled ? null : (chosen.filePaths[0] ?? null)
}

/** Where to save a file of that name; null when the owner cancels. */
export async function saveAs(page: WebContents, name: string): Promise<string | null> {
  const window = BrowserWindow.fromWebContents(page)
  const chosen = window === null ? await dialog.showSaveDialog({ defaultPath: name }) : await dialog.showSaveDialog(window, { defaultPath: name })
  return chosen.canceled || chosen.filePath === '' ? null : chosen.filePath
}

/** Asked once when the owner quits while a process works for a task. True: quit, which stops it with proof. */
export async function confirmQuit(window: BrowserWindow | null, tasks: readonly string[]): Promise<boolean> {
  const options: Electron.MessageBoxOptions = {
    type: 'question', buttons: [t.dialog.stopAndQuit, t.dialog.keepWorking], defaultId: 1, cancelId: 1, title: 'Countersign',
    message: t.dialog.running({ n: tasks.length }),
    detail: `${tasks.join('\n')}\n\n${t.dialog.quitMeans}`,
  }
  const answer = window === null ? await dialog.showMessageBox(options) : await dialog.showMessageBox(window, options)
  return answer.response === 0
}

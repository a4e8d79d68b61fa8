import { BrowserWindow, dialog, type WebContents } from 'electron'

/** The window's folder picker; null when the owner cancels. */
export async function pickFolder(page: WebContents): Promise<string | null> {
  const window = BrowserWindow.fromWebContents(page)
  const options: Electron.OpenDialogOptions = { properties: ['openDirectory'], title: 'Choose a folder' }
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
    type: 'question', buttons: ['Stop and quit', 'Keep working'], defaultId: 1, cancelId: 1, title: 'Countersign',
    message: tasks.length === 1 ? 'A task is still running.' : `${tasks.length} tasks are still running.`,
    detail: `${tasks.join('\n')}\n\nQuitting stops Bot B and checks that nothing is left. The next start shows the task as uncertain, with its exits; nothing is sent twice.`,
  }
  const answer = window === null ? await dialog.showMessageBox(options) : await dialog.showMessageBox(window, options)
  return answer.response === 0
}

import { app, Menu, type MenuItemConstructorOptions } from 'electron'

/** Commands that the window understands, by id; they are the palette's. */
const windowCommands = [
  { label: 'Run the sample task', id: 'run-sample', accelerator: undefined },
  { label: 'New task', id: 'new-task', accelerator: 'CmdOrCtrl+N' },
  { label: 'Command palette', id: 'palette', accelerator: 'CmdOrCtrl+K' },
] as const

/** Installs the application menu. `send` hands a command to the window. */
export function installMenu(send: (command: string) => void): void {
  const items: MenuItemConstructorOptions[] = windowCommands.map(({ label, id, accelerator }) => ({ label, ...(accelerator === undefined ? {} : { accelerator }), click: () => { send(id) } }))
  const template: MenuItemConstructorOptions[] = [
    ...(process.platform === 'darwin' ? [{ role: 'appMenu' as const }] : []),
    { label: 'Task', submenu: [...items, { type: 'separator' }, { label: 'Settings', click: () => { send('settings') } }, { label: 'Audit', click: () => { send('audit') } }, { type: 'separator' }, { role: 'quit' }] },
    { role: 'editMenu' },
    { label: 'View', submenu: [{ role: 'resetZoom' }, { role: 'zoomIn' }, { role: 'zoomOut' }, { type: 'separator' }, { role: 'togglefullscreen' }] },
    { role: 'windowMenu' },
  ]
  Menu.setApplicationMenu(Menu.buildFromTemplate(template))
  app.setAboutPanelOptions({ applicationName: 'Countersign', applicationVersion: app.getVersion() })
}

import { app, Menu, type MenuItemConstructorOptions } from 'electron'
import { t } from './language.ts'

/** Installs the application menu in the language that is spoken now. `send` hands a command to the window, by the id that the palette knows. */
export function installMenu(send: (command: string) => void): void {
  const asks = (label: string, id: string, accelerator?: string): MenuItemConstructorOptions => ({ label, ...(accelerator === undefined ? {} : { accelerator }), click: () => { send(id) } })
  const template: MenuItemConstructorOptions[] = [
    ...(process.platform === 'darwin' ? [appMenu()] : []),
    {
      label: t.menu.task,
      submenu: [
        asks(t.menu.runSample, 'run-sample'), asks(t.menu.newTask, 'new-task', 'CmdOrCtrl+N'), asks(t.menu.palette, 'palette', 'CmdOrCtrl+K'), { type: 'separator' },
        asks(t.menu.settings, 'settings'), asks(t.menu.audit, 'audit'), { type: 'separator' }, { role: 'quit', label: t.menu.quit },
      ],
    },
    {
      label: t.menu.edit,
      submenu: [
        { role: 'undo', label: t.menu.undo }, { role: 'redo', label: t.menu.redo }, { type: 'separator' }, { role: 'cut', label: t.menu.cut }, { role: 'copy', label: t.menu.copy }, { role: 'paste', label: t.menu.paste },
        { role: 'delete', label: t.menu.delete }, { type: 'separator' }, { role: 'selectAll', label: t.menu.selectAll },
      ],
    },
    { label: t.menu.view, submenu: [{ role: 'resetZoom', label: t.menu.resetZoom }, { role: 'zoomIn', label: t.menu.zoomIn }, { role: 'zoomOut', label: t.menu.zoomOut }, { type: 'separator' }, { role: 'togglefullscreen', label: t.menu.fullScreen }] },
    { role: 'window', label: t.menu.window, submenu: [{ role: 'minimize', label: t.menu.minimize }, { role: 'close', label: t.menu.close }] },
  ]
  Menu.setApplicationMenu(Menu.buildFromTemplate(template))
  app.setAboutPanelOptions({ applicationName: 'Countersign', applicationVersion: app.getVersion() })
}

/** What stands under the app's name on a Mac. */
function appMenu(): MenuItemConstructorOptions {
  return {
    label: 'Countersign',
    submenu: [
      { role: 'about', label: t.menu.about }, { type: 'separator' }, { role: 'services', label: t.menu.services }, { type: 'separator' }, { role: 'hide', label: t.menu.hide }, { role: 'hideOthers', label: t.menu.hideOthers },
      { role: 'unhide', label: t.menu.showAll }, { type: 'separator' }, { role: 'quit', label: t.menu.quit },
    ],
  }
}

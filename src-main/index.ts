import Database from 'better-sqlite3'
import { app } from 'electron'
import { join } from 'node:path'
import { declareAppScheme, serveApp } from './shell/app-protocol.ts'
import { claimSingleInstance, denyPermissions, openMainWindow } from './shell/main-window.ts'
import { resourcesFolder, sqliteAddonIn } from './shell/resources-folder.ts'

function proveSqlite(): void {
  const place = { isPackaged: app.isPackaged, resourcesPath: process.resourcesPath, env: process.env }
  const database = new Database(':memory:', { nativeBinding: sqliteAddonIn(resourcesFolder(place)) })
  const version = database.prepare('select sqlite_version()').pluck().get()
  database.close()
  const { electron, node, chrome } = process.versions
  console.log(`versions ${JSON.stringify({ app: app.getVersion(), electron, node, chrome, sqlite: version })}`)
}

async function main(): Promise<void> {
  declareAppScheme()
  let focus = (): void => undefined
  if (!claimSingleInstance(() => { focus() })) {
    app.quit()
    return
  }
  await app.whenReady()
  proveSqlite()
  denyPermissions()
  serveApp(join(import.meta.dirname, '../renderer'))
  const window = openMainWindow(join(import.meta.dirname, '../preload/index.cjs'))
  focus = () => {
    window.focus()
  }
  app.on('window-all-closed', () => {
    app.quit()
  })
}

void main()

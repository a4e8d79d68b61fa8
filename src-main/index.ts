import { app, crashReporter, type BrowserWindow } from 'electron'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { declareAppScheme, serveApp } from './shell/app-protocol.ts'
import { chosenLooks, type ChosenLooks } from './shell/chosen-looks.ts'
import { firstPage, hasNoTaskYet } from './shell/first-page.ts'
import { listenForLinks } from './shell/incoming-links.ts'
import { serveMethods, type Answer } from './shell/ipc/serve.ts'
import { bringToFront, confinePages, denyPermissions, fetchNoDictionaries, openMainWindow } from './shell/main-window.ts'

/** Opens the window, with nothing loaded that it does not need, and has the app started while the window's own process comes up. */
async function main(): Promise<void> {
  declareAppScheme()
  confinePages()
  let window: BrowserWindow | null = null
  // A second instance hands its arguments over to the first.
  if (!app.requestSingleInstanceLock()) { app.quit(); return }
  const links = listenForLinks(() => { bringToFront(window) })
  // Reports of crashes stay in the data folder: nobody sends them anywhere.
  crashReporter.start({ uploadToServer: false })
  await app.whenReady()
  let give: (answer: Answer) => void = () => undefined
  serveMethods(new Promise<Answer>((resolve) => { give = resolve }))
  denyPermissions()
  fetchNoDictionaries()
  const inDataFolder = (name: string): string => join(app.getPath('userData'), name)
  const isFirst = (): boolean => hasNoTaskYet(inDataFolder('tasks'))
  const looks = (): ChosenLooks => chosenLooks(inDataFolder('settings.json'))
  const served = serveApp(join(import.meta.dirname, '../renderer'), () => firstPage(looks(), app.getLocale(), isFirst()))
  window = openMainWindow(join(import.meta.dirname, '../preload/index.cjs'), looks().theme)
  // While the window's process comes up there is little to do for it: what the rest stands on, in pieces, between which its page comes through.
  // Where the page comes with its first screen, nothing else takes the machine until that has been painted.
  await (isFirst() ? served.code : served.page)
  await import('../src-preload/contract/failure.ts')
  await turn()
  await import('../src-preload/contract/methods.ts')
  // From its first request on it is served, and then evaluates its own scripts.
  await served.code
  const { startApp } = await import('./start.ts')
  await startApp({ window: () => window, entriesDir: import.meta.dirname, give, links })
}

main().catch((error: unknown) => {
  console.error(error)
  app.exit(1)
})

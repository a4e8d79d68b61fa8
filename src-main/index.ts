import { app, crashReporter, type BrowserWindow } from 'electron'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { declareAppScheme, serveApp } from './shell/app-protocol.ts'
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
  const served = serveApp(join(import.meta.dirname, '../renderer'))
  window = openMainWindow(join(import.meta.dirname, '../preload/index.cjs'))
  // While the window's process comes up there is little to do for it: what the rest stands on, in pieces, between which its page comes through.
  await served.page
  await import('../src-preload/contract/failure.ts')
  await turn()
  await import('../src-preload/contract/methods.ts')
  // From its first request on it is served, and then evaluates its own scripts.
  await served.scripts
  const { startApp } = await import('./start.ts')
  await startApp({ window: () => window, entriesDir: import.meta.dirname, give, links })
}

main().catch((error: unknown) => {
  console.error(error)
  app.exit(1)
})

import { app, safeStorage, type BrowserWindow } from 'electron'
import { join } from 'node:path'
import type { Failure } from '../src-preload/contract/failure.ts'
import { methodNames } from '../src-preload/contract/channels.ts'
import type { AppInfo } from '../src-preload/contract/methods.ts'
import { err, ok } from '../src-preload/contract/result.ts'
import { buildParts, layGround, startParts, stopParts, type ComposeOptions, type Ground, type Parts } from './compose.ts'
import { readAppInfo } from './shell/app-info.ts'
import { declareAppScheme, serveApp } from './shell/app-protocol.ts'
import { confirmQuit, pickFolder, saveAs } from './shell/dialogs.ts'
import { createHandlers } from './shell/ipc/handlers.ts'
import { Push } from './shell/ipc/push.ts'
import { serveMethods, type Handlers } from './shell/ipc/serve.ts'
import { claimSingleInstance, denyPermissions, openMainWindow } from './shell/main-window.ts'
import { installMenu } from './shell/menu.ts'
import { waitingNotifier } from './shell/notifier.ts'
import { testProvider } from './shell/provider-test.ts'
import { sampleIn } from './shell/resources-folder.ts'
import { readSampleTask } from './shell/sample-task.ts'

async function main(): Promise<void> {
  declareAppScheme()
  let window: BrowserWindow | null = null
  if (!claimSingleInstance(() => { window?.show(); window?.focus() })) { app.quit(); return }
  await app.whenReady()
  let give: (handlers: Handlers) => void = () => undefined
  const ready = new Promise<Handlers>((resolve) => { give = resolve })
  serveMethods(deferred(ready), (msg, fields) => { console.error(msg, fields) })
  denyPermissions()
  serveApp(join(import.meta.dirname, '../renderer'))
  window = openMainWindow(join(import.meta.dirname, '../preload/index.cjs'))
  const options: ComposeOptions = { dataDir: app.getPath('userData'), scriptedOwner: app.commandLine.hasSwitch('scripted-owner'), notifier: waitingNotifier(() => window), entriesDir: import.meta.dirname, appVersion: app.getVersion(), isPackaged: app.isPackaged, safeStorage }
  const ground = await layGround(options)
  const parts = buildParts(ground, options)
  if (!parts.ok) {
    ground.log.error('the journal cannot be used', { code: parts.error.code })
    give(blockedHandlers(ground, options, parts.error))
    app.on('window-all-closed', () => { app.quit() })
    return
  }
  const { electron, node, chrome } = process.versions
  console.log(`versions ${JSON.stringify({ app: app.getVersion(), electron, node, chrome, sqlite: parts.value.sqliteVersion })}`)
  const push = new Push(parts.value.engine.room)
  installMenu((command) => { push.signal({ is: 'menu', command }) })
  quitInOrder(parts.value, options, () => window)
  parts.value.gateway.onState(() => { push.signal({ is: 'app-info-changed' }) })
  const started = await startParts(parts.value)
  give(runningHandlers(parts.value, options, push, started.ok ? null : started.error))
}

/** Calls that come before everything is up wait for it. */
function deferred(ready: Promise<Handlers>): Handlers {
  return Object.fromEntries(methodNames.map((method) => [method, async (input: never, page: never) => (await ready)[method](input, page)])) as unknown as Handlers
}

/** Without a journal nothing runs: the window says why, and each call answers with it. */
function blockedHandlers(ground: Ground, options: ComposeOptions, why: Failure): Handlers {
  const refuse = Object.fromEntries(methodNames.map((method) => [method, () => err(why)])) as unknown as Handlers
  return {
    ...refuse,
    'app.info': async () => ok(await readAppInfo({ ...options, problems: [why, ...ground.problems], keyring: ground.keychain.backend(), running: null })),
    'room.snapshot': () => ok({ seq: 0, put: [], drop: [] }),
    'settings.get': () => ok(ground.settings.get()),
  }
}

function runningHandlers(parts: Parts, options: ComposeOptions, push: Push, proxyFailure: Failure | null): Handlers {
  const { ground, engine, journal, workspace } = parts
  const { settings, providers } = ground
  const proxy = (): AppInfo['proxy'] => {
    const now = parts.gateway.state()
    return { ...now, state: now.state === 'stopped' ? 'failed' : now.state }
  }
  // Keys and rules reach the running proxy at once; calls in flight go on as they began.
  const refreshed = <T extends { readonly ok: boolean }>(result: T): T => {
    if (result.ok) void parts.gateway.refresh()
    return result
  }
  return createHandlers({
    engine, push, workspace,
    info: () => readAppInfo({ ...options, problems: [...ground.problems, ...(proxyFailure === null ? [] : [proxyFailure])], keyring: ground.keychain.backend(), running: { sandbox: parts.sandbox, coder: parts.coder, sqliteVersion: parts.sqliteVersion, proxy: proxy() } }),
    sampleTask: (commandId) => readSampleTask(sampleIn(ground.resources), settings.get(), commandId),
    settings: { get: () => settings.get(), put: async (next) => refreshed(await settings.put(next)) },
    providers: {
      list: () => Promise.resolve(providers.list()), put: async (input) => refreshed(await providers.put(input)), remove: async (id) => refreshed(await providers.remove(id)),
      test: (input) => testProvider({ gateway: parts.gateway, directory: parts.directory, lead: parts.lead, ids: parts.ids }, input),
    },
    audit: {
      query: (input) => journal.audit(input), verify: () => journal.verifyChain(),
      exportTo: async (toPath, taskId) => {
        const written = await journal.exportJsonl({ toPath, taskId, at: Date.now(), versions: { app: app.getVersion(), electron: process.versions.electron, sqlite: parts.sqliteVersion } })
        return written.ok ? ok(null) : written
      },
    },
    dialogs: { pickFolder, saveAs },
  })
}

/** Quitting while a process works asks once; then it stops with proof, and what was in flight is found again. */
function quitInOrder(parts: Parts, options: ComposeOptions, window: () => BrowserWindow | null): void {
  let state: 'running' | 'asking' | 'stopping' | 'stopped' = 'running'
  const stop = async (): Promise<void> => {
    state = 'stopping'
    await stopParts(parts)
    state = 'stopped'
    app.quit()
  }
  app.on('before-quit', (event) => {
    if (state === 'stopped') return
    event.preventDefault()
    if (state !== 'running') return
    const live = parts.engine.liveTasks().map((task) => task.title)
    if (live.length === 0 || options.scriptedOwner) { void stop(); return }
    state = 'asking'
    void confirmQuit(window(), live).then(async (quit) => { if (quit) await stop(); else state = 'running' })
  })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => { if (state === 'running' || state === 'asking') void stop() })
  app.on('window-all-closed', () => { app.quit() })
}

main().catch((error: unknown) => {
  console.error(error)
  app.exit(1)
})


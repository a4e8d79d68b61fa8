import { app, safeStorage, type BrowserWindow } from 'electron'
import { setTimeout as pause } from 'node:timers/promises'
import { failure, type Failure } from '../src-preload/contract/failure.ts'
import { methodNames } from '../src-preload/contract/channels.ts'
import type { AppInfo, MethodName } from '../src-preload/contract/methods.ts'
import { err, ok, type Result } from '../src-preload/contract/result.ts'
import { removeOldCrashReports } from './adapters/system/crash-reports.ts'
import { markVersion, type VersionMark } from './adapters/system/version-mark.ts'
import { buildParts, layGround, stopParts, type ComposeOptions, type Ground, type Parts } from './compose.ts'
import { createDiagnostics, saveShown, type Diagnostics } from './diagnostics.ts'
import type { Updates } from './engine/updates.ts'
import { refusalOf } from './engine/refusal.ts'
import { loadOnce, type Late } from './late.ts'
import { readAppInfo } from './shell/app-info.ts'
import { confirmQuit, pickFolder, saveAs } from './shell/dialogs.ts'
import { LinkDesk } from './shell/link-desk.ts'
import type { IncomingLinks } from './shell/incoming-links.ts'
import { createAnswer, type Handlers } from './shell/ipc/answer.ts'
import { createHandlers, diagnosticsHandlers, type Services } from './shell/ipc/handlers.ts'
import { Push } from './shell/ipc/push.ts'
import type { Answer } from './shell/ipc/serve.ts'
import { speak } from './shell/language.ts'
import { installMenu } from './shell/menu.ts'
import { createOpenAtLogin, type OpenAtLogin } from './shell/open-at-login.ts'
import { createAttention } from './shell/attention.ts'
import { testProvider } from './shell/provider-test.ts'
import { sampleIn } from './shell/resources-folder.ts'
import { readSampleTask } from './shell/sample-task.ts'

interface Opened {
  readonly window: () => BrowserWindow | null
  /** Where `proxy.cjs` and `demo.cjs` are. */
  readonly entriesDir: string
  /** From then on calls of the window are answered. */
  readonly give: (answer: Answer) => void
  readonly links: IncomingLinks
}

/** For so long the first frames have the machine to themselves, at most so long after the room was handed out. */
const firstFramesMs = 150
const firstFramesMsMax = 2_000

/**
 * Starts the app behind a window that is open already: the journal is read and the room handed out first, so that there is something to look
 * at; processes follow at the first call that needs them.
 */
export async function startApp({ window, entriesDir, give, links }: Opened): Promise<void> {
  const attention = createAttention(window)
  const options: ComposeOptions = { dataDir: app.getPath('userData'), scriptedOwner: app.commandLine.hasSwitch('scripted-owner'), notifier: attention, entriesDir, appVersion: app.getVersion(), isPackaged: app.isPackaged, safeStorage }
  const answer = (handlers: Handlers): Answer => createAnswer(handlers, (msg, fields) => { console.error(msg, fields) })
  // Both wait for the disk only.
  const [ground, marked] = await Promise.all([layGround(options), keepForOldVersion(options)])
  attention.follow(() => ground.settings.get().attention)
  boundCrashReports(ground)
  const kept = toldOf(marked, ground, options)
  const built = kept.ok ? buildParts(ground, options) : kept
  if (!built.ok) {
    ground.log.error('the journal cannot be used', { code: built.error.code })
    give(answer(blockedHandlers(ground, options, built.error)))
    app.on('window-all-closed', () => { app.quit() })
    return
  }
  const parts = built.value
  const { electron, node, chrome } = process.versions
  console.log(`versions ${JSON.stringify({ app: app.getVersion(), electron, node, chrome, sqlite: parts.sqliteVersion })}`)
  const push = new Push(parts.engine.room)
  const drawMenu = (): void => { installMenu((command) => { push.signal({ is: 'menu', command }) }) }
  await speak(ground.settings.get().appearance.language ?? 'system')
  drawMenu()
  const updates = loadOnce(async () => (await import('./look-for-updates.ts')).openUpdates(parts, options, () => { push.signal({ is: 'app-info-changed' }) }))
  quitInOrder(parts, options, window, updates)
  const linkDesk = new LinkDesk(links, () => { push.signal({ is: 'link-waits' }) })
  parts.gateway.onState(() => { push.signal({ is: 'app-info-changed' }) })
  const unreadable = await takeUp(parts)
  if (unreadable !== null) { give(answer(blockedHandlers(ground, options, unreadable))); return }
  const handedOut = new Promise<void>((resolve) => { push.onSnapshot(resolve) })
  const drawn = Promise.race([handedOut.then(() => pause(firstFramesMs)), pause(firstFramesMsMax)])
  give(answer(warmingUp(parts, runningHandlers(parts, options, push, { changed: async () => { if (await speak(ground.settings.get().appearance.language ?? 'system')) drawMenu(); attention.settingsChanged() } }, updates, linkDesk))))
  await drawn
  // A task that waits may go on by itself, or at the next click.
  const open = parts.engine.openTasks()
  if (open.length > 0) parts.processes.warmUp({ demo: open.some(({ targets }) => targets.lead.demo || targets.coder.demo) })
  // New versions are looked for although a look breaks: one may mend it.
  await parts.engine.look().finally(async () => { (await updates.get()).start() })
}

/** Old reports of crashes go when the app starts and when a process of it crashes; a crash of the app itself is seen at the next start. */
function boundCrashReports({ log }: Ground): void {
  const bound = (): void => {
    removeOldCrashReports(app.getPath('crashDumps'), Date.now()).then(
      ({ removed }) => { if (removed > 0) log.info('old reports of crashes were removed', { removed }) },
      (error: unknown) => { log.warn('old reports of crashes could not be removed', { code: error instanceof Error && 'code' in error ? String(error.code) : 'unknown' }) },
    )
  }
  app.on('render-process-gone', bound)
  app.on('child-process-gone', bound)
  setTimeout(bound, firstFramesMsMax)
}

/** Takes up what an earlier life left under way. Gives why the journal cannot be read, or null. */
async function takeUp(parts: Parts): Promise<Failure | null> {
  try {
    await parts.engine.start()
    return null
  } catch (error) {
    const refused = refusalOf(error)
    if (refused === null) throw error
    parts.ground.log.error('the journal cannot be read', { code: refused.code })
    return refused
  }
}

/** U4. Before a version starts for the first time on the journal of another, that journal is kept as it is. */
async function keepForOldVersion({ dataDir, appVersion }: ComposeOptions): Promise<Result<VersionMark, Failure>> {
  try {
    return ok(await markVersion(dataDir, appVersion, Date.now()))
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    return err(failure(error.code === 'ENOSPC' || error.code === 'EDQUOT' ? 'disk-full' : 'unavailable', `The journal could not be backed up before this version uses it for the first time (${String(error.code)}).`, 'Free some space or make the data folder writable, and start the app again. Nothing was changed.'))
  }
}

function toldOf(marked: Result<VersionMark, Failure>, { log }: Ground, { appVersion }: ComposeOptions): Result<null, Failure> {
  if (!marked.ok) return marked
  const { before, backup } = marked.value
  if (backup !== null) log.info('the journal of another version was kept', { before: before ?? 'unknown', now: appVersion, backup })
  return ok(null)
}

/** Which calls begin something that asks a model soon. */
const leadsToModels: ReadonlySet<MethodName> = new Set(['task.create', 'task.runSample', 'task.revise', 'provider.test'])

/** With calls that lead to a model call, its processes start to come up; the call itself waits for nothing. */
function warmingUp(parts: Parts, handlers: Handlers): Handlers {
  return Object.fromEntries(methodNames.map((method) => {
    const handler = handlers[method] as (input: never, page: never) => unknown
    if (!leadsToModels.has(method)) return [method, handler]
    return [method, (input: never, page: never) => { parts.processes.warmUp({ demo: method === 'task.runSample' }); return handler(input, page) }]
  })) as unknown as Handlers
}

/** Without a journal nothing runs: the window says why, and each call answers with it. */
function blockedHandlers(ground: Ground, options: ComposeOptions, why: Failure): Handlers {
  const refuse = Object.fromEntries(methodNames.map((method) => [method, () => err(why)])) as unknown as Handlers
  const info = (): Promise<AppInfo> => readAppInfo({ ...options, problems: [why, ...ground.problems], keyring: ground.keychain.backend(), openAtLogin: systemLogin().get(), running: null })
  return {
    ...refuse,
    ...diagnosticsHandlers({ diagnostics: savedByDialog(createDiagnostics(ground, null, info)) }),
    'app.info': async () => ok(await info()),
    'room.snapshot': () => ok({ seq: 0, put: [], drop: [] }),
    'settings.get': () => ok(ground.settings.get()),
  }
}

function runningHandlers(parts: Parts, options: ComposeOptions, push: Push, settingsOutside: { readonly changed: () => Promise<void> }, updates: Late<Updates>, links: LinkDesk): Handlers {
  const { ground, engine, journal, workspace } = parts
  const { settings, providers } = ground
  // Keys and rules reach the running proxy at once; calls in flight go on as they began.
  const refreshed = <T extends { readonly ok: boolean }>(result: T): T => {
    if (result.ok) void parts.gateway.refresh()
    return result
  }
  const info = (): Promise<AppInfo> => readAppInfo({ ...options, problems: ground.problems, keyring: ground.keychain.backend(), openAtLogin: systemLogin().get(), running: { sandbox: parts.sandbox, coder: parts.coder, sqliteVersion: parts.sqliteVersion, proxy: () => parts.gateway.state() } })
  return createHandlers({
    engine, push, workspace, info,
    sampleTask: (commandId) => readSampleTask(sampleIn(ground.resources), settings.get(), commandId),
    settings: { get: () => settings.get(), put: async (next) => { const saved = refreshed(await settings.put(next)); await settingsOutside.changed(); return saved } },
    providers: {
      list: () => Promise.resolve(providers.list()), put: async (input) => refreshed(await providers.put(input)), remove: async (id) => refreshed(await providers.remove(id)),
      test: (input) => testProvider({ gateway: parts.processes.onDemand, directory: parts.directory, lead: parts.lead, ids: parts.ids }, input),
    },
    audit: {
      query: (input) => journal.audit(input), verify: () => journal.verifyChain(),
      exportTo: async (toPath, taskId) => {
        const written = await journal.exportJsonl({ toPath, taskId, at: Date.now(), versions: { app: app.getVersion(), electron: process.versions.electron, sqlite: parts.sqliteVersion } })
        return written.ok ? ok(null) : written
      },
    },
    dialogs: { pickFolder, saveAs },
    updates: () => updates.get(),
    diagnostics: savedByDialog(createDiagnostics(ground, parts, info)),
    takeLink: () => links.take(),
    openAtLogin: systemLogin(),
  })
}

function savedByDialog(diagnostics: Diagnostics): Services['diagnostics'] {
  return { preview: () => diagnostics.preview(), save: (digest, page) => saveShown(diagnostics, digest, (name) => saveAs(page, name)) }
}

function systemLogin(): OpenAtLogin {
  return createOpenAtLogin({ platform: process.platform, isPackaged: app.isPackaged, execPath: process.execPath, env: process.env, system: app })
}

/** Quitting while a process works asks once; then it stops with proof, and what was in flight is found again. */
function quitInOrder(parts: Parts, options: ComposeOptions, window: () => BrowserWindow | null, updates: Late<Updates>): void {
  let state: 'running' | 'asking' | 'stopping' | 'stopped' = 'running'
  const stop = async (): Promise<void> => {
    state = 'stopping'
    const installs = updates.now()?.installsAtQuit() === true
    updates.now()?.close()
    await stopParts(parts)
    state = 'stopped'
    // Ends the app by itself when it can install; else the quit goes on.
    if (!installs || updates.now()?.install().ok !== true) app.quit()
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

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { failure, type Failure } from '../src-preload/contract/failure.ts'
import { limits } from '../src-preload/contract/limits.ts'
import { err, ok, type Result } from '../src-preload/contract/result.ts'
import { openKeychain, type SafeStorage } from './adapters/keychain/keychain.ts'
import { createLead } from './adapters/lead/proxy-lead.ts'
import { createOpenCodeCoder } from './adapters/opencode/opencode-coder.ts'
import { startDemoProvider } from './adapters/proxy/demo-process.ts'
import { createModelGateway } from './adapters/proxy/gateway.ts'
import { VendorJobs } from './adapters/proxy/vendor-jobs.ts'
import { createBubblewrapSandbox } from './adapters/sandbox/bubblewrap-sandbox.ts'
import { closable } from './adapters/sandbox/closable-sandbox.ts'
import { insidePaths } from './adapters/sandbox/inside-paths.ts'
import { usableRunRoot } from './adapters/sandbox/run-folder.ts'
import { createVendorSandbox } from './adapters/sandbox/vendor-sandbox.ts'
import { createModelDirectory } from './adapters/settings/model-directory.ts'
import { loadProvidersFile } from './adapters/settings/providers-file.ts'
import { openSettings } from './adapters/settings/settings-store.ts'
import { openJournal } from './adapters/sqlite/open.ts'
import { systemClock } from './adapters/system/clock.ts'
import { createIds } from './adapters/system/ids.ts'
import { createLog, type LogFacts } from './adapters/system/log.ts'
import { createRedactor } from './adapters/system/redaction.ts'
import { textFiles } from './adapters/system/text-files.ts'
import { createTimers } from './adapters/system/timers.ts'
import { createWorkspace } from './adapters/workspace/workspace.ts'
import { Engine } from './engine/engine.ts'
import type { Notifier } from './engine/ports.ts'
import { failpointAt } from './shell/failpoint-at.ts'
import { demoAware, type DemoAddress } from './shell/demo-address.ts'
import { fallbackAware } from './shell/fallback-aware.ts'
import { forkOf } from './shell/fork.ts'
import { probeAware } from './shell/provider-test.ts'
import { servingRules } from './shell/serving-rules.ts'
import { bubblewrapIn, openCodeIn, resourcesFolder, sampleIn, sqliteAddonIn } from './shell/resources-folder.ts'

export interface ComposeOptions { readonly dataDir: string; readonly scriptedOwner: boolean; readonly notifier: Notifier; readonly entriesDir: string; readonly appVersion: string; readonly isPackaged: boolean; readonly safeStorage: SafeStorage }

/** Everything that stands before the journal: a window can be drawn and problems told with it. */
export type Ground = Awaited<ReturnType<typeof layGround>>

const clock = systemClock
const timers = createTimers(clock)
const ids = createIds(clock)

/** Settings, keys, log and folders. Never fails: what is broken is told in `problems`, and defaults stand in. */
export async function layGround(options: ComposeOptions) {
  const { dataDir } = options
  for (const folder of ['', 'journal', 'tasks', 'patches', 'logs']) mkdirSync(join(dataDir, folder), { recursive: true, mode: 0o700 })
  const resources = resourcesFolder({ isPackaged: options.isPackaged, resourcesPath: process.resourcesPath, env: process.env })
  const [settings, keychain, environment] = await Promise.all([
    openSettings(join(dataDir, 'settings.json'), textFiles),
    openKeychain({ path: join(dataDir, 'keys.json'), safeStorage: options.safeStorage, files: textFiles, env: process.env, now: () => clock.now() }),
    loadProvidersFile(process.env['COUNTERSIGN_PROVIDERS'], textFiles),
  ])
  const redact = createRedactor(() => keychain.secrets())
  const log = createLog({ dir: join(dataDir, 'logs'), name: 'countersign', clock, redact })
  const providers = createModelDirectory({ settings, fromEnvironment: environment.providers, keys: keychain })
  const problems: Failure[] = [settings.problem(), keychain.problem(), environment.problem].filter((problem) => problem !== null)
  // Paths of Unix sockets are short: a data folder deep down has its sockets elsewhere.
  const runRoot = await usableRunRoot(join(dataDir, 'run'))
  return { dataDir, runRoot, resources, settings, keychain, providers, redact, log, problems }
}

/** Processes that were asked for. */
interface Started { proxy: Promise<Result<null, Failure>> | null; demo: Promise<void> | null; stopping: boolean }

function nothingStarted(): Started {
  return { proxy: null, demo: null, stopping: false }
}

/** What a running app is made of. */
export type Parts = Extract<ReturnType<typeof buildParts>, { ok: true }>['value']

/** The journal, the processes and the engine. A journal that cannot be opened is the one thing that stops here. */
export function buildParts(ground: Ground, options: ComposeOptions) {
  const { dataDir, runRoot, resources, settings, providers, log } = ground
  const life = failpointAt(process.env)
  const journal = openJournal({ ...life, path: join(dataDir, 'journal', 'journal.sqlite'), nativeBinding: sqliteAddonIn(resources), clock, redact: ground.redact })
  if (!journal.ok) return journal
  const note = noteTo(log)
  const bundled = openCodeIn(resources, process.platform)
  const binaryPath = (): string => process.env['COUNTERSIGN_OPENCODE_BIN'] ?? settings.get().openCodeBinary ?? bundled
  const sandbox = closable(createBubblewrapSandbox({ runRoot, openCodeBinary: binaryPath, bundledBwrapPath: bubblewrapIn(resources), clock, ids }), clock)
  const coder = createOpenCodeCoder({ sandbox, binaryPath, clock, ids, timers, shellClientPath: insidePaths.shell, filesDir: join(dataDir, 'opencode-run'), log: ({ level, msg, ...facts }) => { log[level](msg, flat(facts)) } })
  const vendorJobs = new VendorJobs({
    sandbox: createVendorSandbox({ runRoot: join(runRoot, 'v'), openCodeBinary: binaryPath, bundledBwrapPath: bubblewrapIn(resources), clock }), vendor: () => settings.get().fallbacks.vendor ?? null, homeDir: join(dataDir, 'vendor-home'), runRoot,
    log: (level, message) => { log[level](message) },
  })
  const gateway = createModelGateway({
    fork: forkOf(join(options.entriesDir, 'proxy.js'), 'Countersign model proxy', (line) => { log.warn('proxy printed', { line }) }), runRoot,
    credentials: (providerId) => Promise.resolve(providers.credential(providerId)), clock, timers, ids, log: (level, message) => { log[level](message) },
    preferredPort: limits.proxyDefaultPort, serving: () => servingRules(settings.get(), process.env), vendorJobs,
  })
  const demo: DemoAddress = { port: null }
  const directory = fallbackAware(demoAware(providers, demo), () => settings.get(), process.env)
  const workspace = createWorkspace({ ...life, root: join(dataDir, 'tasks'), sampleDir: sampleIn(resources), clock, quotaBytes: () => settings.get().workspaceQuotaBytes, patchDir: join(dataDir, 'patches') })
  const probing = probeAware(gateway)
  const lead = createLead()
  const sqliteVersion = journal.value.facts().sqliteVersion
  const engine = new Engine({
    ...life, clock, ids, timers, journal: journal.value, sandbox, coder, gateway: probing, directory, lead, workspace, notifier: options.notifier,
    versions: () => ({ app: options.appVersion, electron: process.versions.electron, sqlite: sqliteVersion, openCode: null }), scriptedOwner: options.scriptedOwner, log: note,
  })
  return ok({ ground, journal: journal.value, sandbox, coder, gateway, directory, workspace, lead, engine, demo, started: nothingStarted(), sqliteVersion, ids, entriesDir: options.entriesDir })
}

/** Starts the proxy, once; whoever asks again gets the same outcome. Nothing starts while the app is quitting. */
export function startProxy(parts: Parts): Promise<Result<null, Failure>> {
  return parts.started.proxy ??= proxyStarted(parts)
}

async function proxyStarted(parts: Parts): Promise<Result<null, Failure>> {
  if (parts.started.stopping) return err(failure('proxy-failed', 'The app is quitting.', 'Start it again.'))
  const gateway = await parts.gateway.start()
  if (gateway.ok) return ok(null)
  parts.ground.log.error('the proxy did not start', { code: gateway.error.code })
  return gateway
}

/** Starts the demo model, once; it is started again when it dies. Only a task that uses it needs it. */
export function startDemo(parts: Parts): Promise<void> {
  return parts.started.demo ??= keepDemo(parts)
}

async function keepDemo(parts: Parts): Promise<void> {
  if (parts.started.stopping) return
  const { log } = parts.ground
  const holdMs = Number.parseInt(process.env['COUNTERSIGN_DEMO_HOLD_MS'] ?? '0', 10)
  const fork = forkOf(join(parts.entriesDir, 'demo.js'), 'Countersign demo model', (line) => { log.warn('demo printed', { line }) })
  const started = await startDemoProvider(fork, { holdMs: Number.isFinite(holdMs) && holdMs > 0 ? Math.min(holdMs, 600_000) : 0, timers })
  if (!started.ok) { log.error('the demo provider did not start', { code: started.error.code }); return }
  parts.demo.port = started.value.port
  parts.demo.stop = () => started.value.stop()
  void started.value.exited.then(() => {
    parts.demo.port = null
    if (!parts.started.stopping) timers.after(1_000, new AbortController().signal, () => { void keepDemo(parts) })
  })
}

/** Ends everything, children first, with the journal last. */
export async function stopParts(parts: Parts): Promise<void> {
  parts.started.stopping = true
  await parts.engine.close()
  await Promise.allSettled([parts.gateway.stop(), parts.demo.stop?.() ?? Promise.resolve(), parts.sandbox.close()])
  parts.journal.close()
  await parts.ground.log.flush()
}

function noteTo(log: Ground['log']): (level: 'info' | 'error', msg: string, fields: Record<string, unknown>) => void {
  return (level, msg, fields) => { log[level](msg, flat(fields)) }
}

function flat(fields: Record<string, unknown>): LogFacts {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null ? value : JSON.stringify(value)]))
}

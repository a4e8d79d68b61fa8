import { mkdirSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import type { Failure } from '../src-preload/contract/failure.ts'
import { limits } from '../src-preload/contract/limits.ts'
import { ok } from '../src-preload/contract/result.ts'
import { openKeychain, type SafeStorage } from './adapters/keychain/keychain.ts'
import { createMessageIds } from './adapters/opencode/message-ids.ts'
import { createModelGateway } from './adapters/proxy/gateway.ts'
import { closable } from './adapters/sandbox/closable-sandbox.ts'
import { endRecorded, removeLeftFolders } from './adapters/sandbox/orphans.ts'
import { usableRunRoot } from './adapters/sandbox/run-folder.ts'
import { createModelDirectory } from './adapters/settings/model-directory.ts'
import { loadProvidersFile } from './adapters/settings/providers-file.ts'
import { openSettings } from './adapters/settings/settings-store.ts'
import { openJournal } from './adapters/sqlite/open.ts'
import { createBreath } from './adapters/system/breath.ts'
import { systemClock } from './adapters/system/clock.ts'
import { createIds } from './adapters/system/ids.ts'
import { flat } from './adapters/system/log-facts.ts'
import { createLog } from './adapters/system/log.ts'
import { createRedactor } from './adapters/system/redaction.ts'
import { textFiles } from './adapters/system/text-files.ts'
import { createTimers } from './adapters/system/timers.ts'
import { createRoomTransport } from './engine/room-transport.ts'
import { Engine } from './engine/engine.ts'
import type { Notifier, Sandbox } from './engine/ports.ts'
import { late, loadOnce, type Late } from './late.ts'
import type { LateAdapters } from './late-adapters.ts'
import { ModelProcesses } from './model-processes.ts'
import { failpointAt } from './shell/failpoint-at.ts'
import { fallbackAware } from './shell/fallback-aware.ts'
import { forkOf } from './shell/fork.ts'
import { probeAware } from './shell/provider-test.ts'
import { servingRules } from './shell/serving-rules.ts'
import { bubblewrapIn, openCodeIn, openCodeNoteIn, resourcesFolder, sampleIn, sqliteAddonIn } from './shell/resources-folder.ts'

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
    openSettings(join(dataDir, 'settings.json'), textFiles, totalmem()),
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

/** What a running app is made of. */
export type Parts = Extract<ReturnType<typeof buildParts>, { ok: true }>['value']

/**
 * The journal, the engine and ways to all else. A journal that cannot be opened is the one thing that stops here. What no start needs is
 * loaded at its first use: a room is drawn from the journal alone.
 */
export function buildParts(ground: Ground, options: ComposeOptions) {
  const { dataDir, runRoot, resources, settings, providers, log } = ground
  const life = failpointAt(process.env)
  const journal = openJournal({ ...life, path: join(dataDir, 'journal', 'journal.sqlite'), nativeBinding: sqliteAddonIn(resources), clock, redact: ground.redact })
  if (!journal.ok) return journal
  const note = noteTo(log)
  const bundled = openCodeIn(resources, process.platform)
  const adapters = loadOnce(async () => (await import('./late-adapters.ts')).openLateAdapters({
    ...life, dataDir, runRoot, sampleDir: sampleIn(resources), settings, clock, ids, timers, log, bundledBwrapPath: bubblewrapIn(resources), shippedOpenCode: { path: bundled, notePath: openCodeNoteIn(resources) },
    openCodeBinary: () => process.env['COUNTERSIGN_OPENCODE_BIN'] ?? settings.get().openCodeBinary ?? bundled,
  }))
  const sandbox = closable(lateSandbox(adapters, runRoot), clock)
  const coder = { ...late(async () => (await adapters.get()).coder(sandbox), { probe: true, start: true }), mintIds: createMessageIds(ids) }
  const workspace = late(async () => (await adapters.get()).workspace, { inspect: true, prepare: true, locate: true, readExcerpt: true, diff: true, cleanCopy: true, apply: true, observeApply: true, writePatch: true, dispose: true, remove: true, usage: true })
  const lead = late(async () => (await adapters.get()).lead, { ask: true })
  const gateway = createModelGateway({
    fork: forkOf(join(options.entriesDir, 'proxy.cjs'), 'Countersign model proxy', (line) => { log.warn('proxy printed', { line }) }), runRoot,
    credentials: (providerId) => Promise.resolve(providers.credential(providerId)), clock, timers, ids, log: (level, message) => { log[level](message) },
    preferredPort: limits.proxyDefaultPort, serving: () => servingRules(settings.get(), process.env),
    vendorJobs: { ask: (...order) => { void adapters.get().then(({ vendorJobs }) => { vendorJobs.ask(...order) }) }, stop: (jobId) => { adapters.now()?.vendorJobs.stop(jobId) }, stopAll: async () => { await adapters.now()?.vendorJobs.stopAll() } },
  })
  const processes = new ModelProcesses({ gateway, forkDemo: forkOf(join(options.entriesDir, 'demo.cjs'), 'Countersign demo model', (line) => { log.warn('demo printed', { line }) }), timers, log, holdMs: demoHoldMs(process.env) })
  const directory = fallbackAware(providers, () => settings.get(), process.env)
  const sqliteVersion = journal.value.facts().sqliteVersion
  const engine = new Engine({
    ...life, clock, monotonicMs: () => performance.now(), ids, timers, journal: journal.value, sandbox, coder, gateway: probeAware(processes.onDemand), transport: createRoomTransport(), directory, lead, workspace, notifier: options.notifier,
    versions: () => ({ app: options.appVersion, electron: process.versions.electron, sqlite: sqliteVersion, openCode: null }), scriptedOwner: options.scriptedOwner, log: note, breathe: createBreath(),
  })
  return ok({ ground, journal: journal.value, sandbox, coder, gateway, directory, workspace, lead, engine, processes, sqliteVersion, ids })
}

/** R3 needs the sweep of what an earlier life left before the room is drawn, and nothing else of the sandbox. */
function lateSandbox(adapters: Late<LateAdapters>, runRoot: string): Sandbox {
  const whole = late(async () => (await adapters.get()).sandbox, { probe: true, places: true, launch: true, run: true, endOrphans: true })
  return {
    ...whole,
    endOrphans: async (recorded) => {
      // With sandboxes in use, or none to be had on this system, the adapter itself knows.
      if (adapters.now() !== null || process.platform !== 'linux') return whole.endOrphans(recorded)
      const proof = await endRecorded(recorded, () => clock.now())
      await removeLeftFolders(await usableRunRoot(runRoot), new Set())
      return proof
    },
  }
}

const demoHoldMsMax = 600_000

/** COUNTERSIGN_DEMO_HOLD_MS: for so long the demo model holds a tool's arguments half-way. */
function demoHoldMs(env: NodeJS.ProcessEnv): number {
  const holdMs = Number.parseInt(env['COUNTERSIGN_DEMO_HOLD_MS'] ?? '0', 10)
  return Number.isFinite(holdMs) && holdMs > 0 ? Math.min(holdMs, demoHoldMsMax) : 0
}

/** Ends everything, children first, with the journal last. */
export async function stopParts(parts: Parts): Promise<void> {
  parts.processes.startNoMore()
  await parts.engine.close()
  await Promise.allSettled([parts.processes.stop(), parts.sandbox.close()])
  parts.journal.close()
  await parts.ground.log.flush()
}

function noteTo(log: Ground['log']): (level: 'info' | 'error', msg: string, fields: Record<string, unknown>) => void {
  return (level, msg, fields) => { log[level](msg, flat(fields)) }
}

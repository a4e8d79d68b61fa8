import { app } from 'electron'
import { totalmem } from 'node:os'
import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import type { AppInfo } from '../../src-preload/contract/methods.ts'
import type { Coder, Sandbox } from '../engine/ports.ts'

export interface InfoSources {
  readonly dataDir: string
  readonly scriptedOwner: boolean
  readonly problems: readonly Failure[]
  readonly keyring: { readonly real: boolean; readonly backend: string }
  readonly openAtLogin: boolean | null
  readonly running: { readonly sandbox: Sandbox; readonly coder: Coder; readonly sqliteVersion: string; readonly proxy: () => AppInfo['proxy'] } | null
}

/** The product depends on this major version of Electron; another one is a stand-in for tests and trials. */
const shippedElectronMajor = 45

/** What the window shows of the app itself. Probes are bounded and cached by their owners. */
export async function readAppInfo(sources: InfoSources): Promise<AppInfo> {
  const { running } = sources
  const [isolation, openCode] = running === null ? [null, null] : await Promise.all([running.sandbox.probe(), running.coder.probe()])
  const { electron, chrome, node } = process.versions
  return {
    versions: { app: app.getVersion(), electron, chromium: chrome, node, sqlite: running?.sqliteVersion ?? 'not loaded', openCode: openCode?.ok === true ? openCode.value.version : null },
    runtimeNote: electron.startsWith(`${String(shippedElectronMajor)}.`) ? null : `Electron ${electron} is a stand-in for tests and trials; releases ship Electron ${String(shippedElectronMajor)}.`,
    platform: `${process.platform} ${process.arch}`, memoryBytes: totalmem(), dataDir: sources.dataDir, scriptedOwner: sources.scriptedOwner,
    isolation: isolation ?? { usable: false, level: 'none', summary: 'not probed', detail: '', checkedAt: Date.now(), failure: failure('unavailable', 'The app is not fully started.', 'Look at the message at the top of the window.') },
    openCodeFailure: openCode?.ok === false ? openCode.error : null,
    // Asked after the probes, which take their time: whoever asked meanwhile gets this same answer.
    openAtLogin: sources.openAtLogin, crashReports: app.getPath('crashDumps'),
    proxy: running?.proxy() ?? { state: 'failed', port: null, note: null }, keyring: sources.keyring, startProblems: [...sources.problems],
  }
}

import { electronRuntime, type ElectronRuntime } from './electron.ts'
import { sqliteAddon } from './sqlite-addon.ts'
import { ensureSystemPackages, type Purpose } from './system-packages.ts'

export interface Runtime {
  readonly electron: ElectronRuntime
  /** Path of the SQLite addon that loads in that Electron. */
  readonly sqliteAddon: string
}

/** True where windows need a virtual screen. */
export function hasNoDisplay(env: NodeJS.ProcessEnv = process.env): boolean {
  return process.platform === 'linux' && (env['DISPLAY'] ?? '') === '' && (env['WAYLAND_DISPLAY'] ?? '') === ''
}

/** Everything that the app needs on this machine, made if missing; under a second when it is all there. */
export async function setUp(purposes: readonly Purpose[]): Promise<Runtime> {
  await ensureSystemPackages(purposes)
  const electron = await electronRuntime()
  return { electron, sqliteAddon: await sqliteAddon(electron) }
}

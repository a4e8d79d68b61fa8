import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../src-preload/contract/result.ts'

/** Whether the app opens when its owner logs in. The system's own list is the only record of it. */
export interface OpenAtLogin {
  /** Null: this system, or this build, has no such thing. */
  get(): boolean | null
  set(on: boolean): Result<null, Failure>
}

export interface LoginPlace {
  readonly platform: NodeJS.Platform
  readonly isPackaged: boolean
  readonly execPath: string
  readonly env: NodeJS.ProcessEnv
  /** Electron's; asked on macOS and Windows only. */
  readonly system: { getLoginItemSettings(): { readonly openAtLogin: boolean }; setLoginItemSettings(settings: { readonly openAtLogin: boolean }): void }
}

const nowhere: OpenAtLogin = { get: () => null, set: () => err(failure('unavailable', 'This app cannot be opened at login here.', 'Install a package of it.')) }

/** macOS and Windows by Electron; on Linux an entry of the desktop's autostart folder, which every desktop reads. A run from the sources has none. */
export function createOpenAtLogin(place: LoginPlace): OpenAtLogin {
  if (!place.isPackaged) return nowhere
  if (place.platform === 'linux') return onLinux(place)
  if (place.platform !== 'darwin' && place.platform !== 'win32') return nowhere
  return {
    get: () => place.system.getLoginItemSettings().openAtLogin,
    set: (on) => { place.system.setLoginItemSettings({ openAtLogin: on }); return place.system.getLoginItemSettings().openAtLogin === on ? ok(null) : err(failure('unavailable', 'The system did not take it.', 'Look into the system\'s own settings for login items.')) },
  }
}

function onLinux({ env, execPath }: LoginPlace): OpenAtLogin {
  const home = env['HOME']
  const config = env['XDG_CONFIG_HOME'] ?? (home === undefined ? undefined : join(home, '.config'))
  // An AppImage runs from a mount that is another at each start.
  const program = env['APPIMAGE'] ?? execPath
  if (config === undefined || !config.startsWith('/') || /[\n\r]/.test(program)) return nowhere
  const folder = join(config, 'autostart')
  const path = join(folder, 'countersign.desktop')
  const withDisk = (act: () => void): Result<null, Failure> => {
    try {
      act()
      return ok(null)
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error)) throw error
      return err(failure(error.code === 'ENOSPC' || error.code === 'EDQUOT' ? 'disk-full' : 'unavailable', `It could not be written down (${String(error.code)}): ${path}`, 'Make the folder writable and try again.'))
    }
  }
  return {
    get: () => isOn(path),
    set: (on) => withDisk(() => {
      if (!on) { rmSync(path, { force: true }); return }
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeFileSync(path, autostartEntry(program))
    }),
  }
}

/** There, and not switched off by the desktop's own settings. */
function isOn(path: string): boolean {
  try {
    const entry = readFileSync(path, 'utf8')
    return !/^Hidden\s*=\s*true\s*$/m.test(entry) && !/^X-GNOME-Autostart-enabled\s*=\s*false\s*$/m.test(entry)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false
    throw error
  }
}

/** Desktop Entry Specification 1.5. With TryExec, an entry that outlived the app is passed over. */
export function autostartEntry(program: string): string {
  // A string value escapes backslashes once; within it, a quoted argument of Exec escapes these four and doubles the percent sign.
  const quoted = `"${program.replaceAll(/["`$\\]/g, '\\$&').replaceAll('%', '%%')}"`.replaceAll('\\', '\\\\')
  return `[Desktop Entry]\nType=Application\nName=Countersign\nComment=Coding bots whose work you countersign\nTryExec=${program.replaceAll('\\', '\\\\')}\nExec=${quoted}\nTerminal=false\nX-GNOME-Autostart-enabled=true\n`
}

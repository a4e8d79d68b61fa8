/**
 * Windows. How the Linux launcher would be started inside WSL 2, as documented and never tried on Windows. No launcher uses it and nothing but its test
 * imports it: every run there is refused (`unavailable-sandbox.ts`).
 * A Job Object ends a tree but keeps nobody in, so without WSL 2 nothing runs at all.
 */
export interface WslShape {
  /** A distribution of the app's own, so that no other program's settings or services are in it. */
  readonly distribution: string
  /** Paths inside the distribution. */
  readonly bwrapPath: string
  readonly bwrapArguments: readonly string[]
}

const nameOfDistribution = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/**
 * `wsl.exe` and its arguments. `--exec` starts the program without a shell, so that no argument is read twice; `--user` is never root; the folder is one of
 * the distribution, since a Windows folder would be entered by its mount. Throws when a name or argument cannot be carried whole.
 */
export function wslCommand(shape: WslShape): readonly [program: string, args: readonly string[]] {
  if (!nameOfDistribution.test(shape.distribution)) throw new RangeError(`“${shape.distribution}” is no name of a distribution`)
  const all = [shape.bwrapPath, ...shape.bwrapArguments]
  if (all.some((word) => /[\0\r\n]/.test(word))) throw new RangeError('an argument with a line break cannot be handed to wsl.exe')
  return ['wsl.exe', ['--distribution', shape.distribution, '--user', 'countersign', '--cd', '/', '--exec', ...all]]
}

/**
 * `/etc/wsl.conf` of that distribution: Windows programs cannot be started from it, Windows' PATH and drives are not in it, nothing starts with it. Without
 * this a sandbox would have a way out: /init hands any .exe to Windows.
 */
export const wslConfiguration = [
  '[automount]', 'enabled=false', 'mountFsTab=false',
  '[interop]', 'enabled=false', 'appendWindowsPath=false',
  '[user]', 'default=countersign',
  '[boot]', 'systemd=false', '',
].join('\n')

/**
 * Why what `wsl.exe --status` and the distribution's own settings say is no ground to run on, or null. `configuration`: its /etc/wsl.conf;
 * `version`: 1 or 2, as `wsl.exe --list --verbose` says; `binaryFormats`: names in its /proc/sys/fs/binfmt_misc.
 */
export function wslObjection(seen: { readonly version: number; readonly configuration: string; readonly binaryFormats: readonly string[] }): string | null {
  if (seen.version !== 2) return 'the distribution runs under WSL 1, which has no namespaces'
  if (seen.binaryFormats.some((name) => /^WSLInterop/i.test(name))) return 'Windows programs can be started from the distribution'
  if (seen.configuration.replaceAll('\r\n', '\n').trim() !== wslConfiguration.trim()) return 'the distribution\'s settings are not those that the app wrote'
  return null
}

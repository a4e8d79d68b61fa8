import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { run } from './run-command.ts'

/** `window`: what Electron and the sandbox need. `display`: a screen for machines without one. `stand-in`: to make the stand-in and its SQLite addon. `bubblewrap-source`: to build the one that packages bring along. `peer`: what a benchmark compares with. */
export type Purpose = 'window' | 'display' | 'stand-in' | 'bubblewrap-source' | 'peer'

interface Need {
  readonly purpose: Purpose
  readonly debianPackage: string
  readonly present: (seen: Seen) => boolean
}

interface Seen {
  readonly libraries: string
  readonly command: (name: string) => boolean
  readonly fonts: () => boolean
}

const library = (soname: string) => (seen: Seen): boolean => seen.libraries.includes(soname)
const command = (name: string) => (seen: Seen): boolean => seen.command(name)

/** Where nginx may stand; on Debian it is outside an ordinary account's PATH. */
export const nginxPaths = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx'] as const

const needs: readonly Need[] = [
  { purpose: 'window', debianPackage: 'libgtk-3-0', present: library('libgtk-3.so.0') },
  { purpose: 'window', debianPackage: 'libnss3', present: library('libnss3.so') },
  { purpose: 'window', debianPackage: 'libasound2', present: library('libasound.so.2') },
  { purpose: 'window', debianPackage: 'libgbm1', present: library('libgbm.so.1') },
  { purpose: 'window', debianPackage: 'fonts-dejavu-core', present: (seen) => seen.fonts() },
  { purpose: 'window', debianPackage: 'bubblewrap', present: command('bwrap') },
  { purpose: 'window', debianPackage: 'ripgrep', present: command('rg') },
  { purpose: 'window', debianPackage: 'git', present: command('git') },
  { purpose: 'display', debianPackage: 'xvfb', present: command('Xvfb') },
  { purpose: 'display', debianPackage: 'xauth', present: command('xauth') },
  { purpose: 'stand-in', debianPackage: 'unzip', present: command('unzip') },
  { purpose: 'stand-in', debianPackage: 'python3', present: command('python3') },
  { purpose: 'stand-in', debianPackage: 'make', present: command('make') },
  { purpose: 'stand-in', debianPackage: 'g++', present: command('g++') },
  { purpose: 'bubblewrap-source', debianPackage: 'gcc', present: command('cc') },
  { purpose: 'bubblewrap-source', debianPackage: 'libc6-dev', present: () => existsSync('/usr/include/stdio.h') },
  { purpose: 'bubblewrap-source', debianPackage: 'libcap-dev', present: () => existsSync('/usr/include/sys/capability.h') },
  { purpose: 'bubblewrap-source', debianPackage: 'xz-utils', present: command('xz') },
  { purpose: 'peer', debianPackage: 'nginx-light', present: () => nginxPaths.some((path) => existsSync(path)) },
]

/** The Debian packages behind whatever is missing on this Linux for `purposes`, judged by libraries and commands, not by package names. */
export function missingPackages(purposes: readonly Purpose[]): readonly string[] {
  const seen = look()
  return needs.filter((need) => purposes.includes(need.purpose) && !need.present(seen)).map((need) => need.debianPackage)
}

/**
 * Installs what is missing when this is root on a Debian-like Linux; elsewhere names the exact line. Does nothing on other platforms.
 * @throws with that line when something is missing and cannot be installed from here
 */
export async function ensureSystemPackages(purposes: readonly Purpose[]): Promise<void> {
  if (process.platform !== 'linux') return
  const missing = missingPackages(purposes)
  if (missing.length === 0) return
  const install = ['install', '-y', '--no-install-recommends', ...missing]
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Error(
      `Missing system packages. Install them (Debian's names) and start again:\n  sudo apt-get ${install.join(' ')}`,
    )
  }
  console.log(`set-up: installing system packages: ${missing.join(' ')}`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await run('apt-get', ['update', '-q'], { env, output: 'quiet' })
  await run('apt-get', install, { env, output: 'quiet' })
  const still = missingPackages(purposes)
  if (still.length > 0) throw new Error(`Still missing after apt-get install: ${still.join(' ')}`)
}

function look(): Seen {
  return { libraries: knownLibraries(), command: isOnPath, fonts: () => hasFont('/usr/share/fonts', 4) }
}

function knownLibraries(): string {
  const ldconfig = ['/sbin/ldconfig', '/usr/sbin/ldconfig'].find((path) => existsSync(path))
  if (ldconfig === undefined) throw new Error('ldconfig not found: cannot tell which system libraries are there')
  return execFileSync(ldconfig, ['-p'], { encoding: 'utf8' })
}

function isOnPath(name: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => isExecutable(join(folder, name)))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch (error) {
    if (error instanceof Error) return false
    throw error
  }
}

function hasFont(folder: string, depthMax: number): boolean {
  if (depthMax === 0 || !existsSync(folder)) return false
  return readdirSync(folder, { withFileTypes: true }).some((entry) =>
    entry.isDirectory() ? hasFont(join(folder, entry.name), depthMax - 1) : /\.(ttf|otf|ttc)$/i.test(entry.name),
  )
}

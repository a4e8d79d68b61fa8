import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SharedFiles } from './bubblewrap-arguments.ts'
import { sandboxLimits } from './sandbox-limits.ts'
import { handOver } from './unprivileged.ts'
import { insidePaths } from './inside-paths.ts'
import { bridgeScript, bunScript, shellClientScript, shellScript, type ScriptPlaces } from './scripts.ts'

/** A private folder of one launch: our scripts, the synthetic /etc and the sockets. */
export interface RunFolder {
  readonly path: string
  readonly files: SharedFiles
  /** The only folder of it that the agent can write to. */
  readonly controlDir: string
  readonly controlSocketInside: string
  readonly controlSocket: string
  readonly brokerSocket: string
  /** Removes it with everything in it; idempotent. */
  remove(): Promise<void>
}

/** Starts every run folder's name, so that left-over ones can be told. */
export const runFolderPrefix = 'r-'
const longestSocketName = `/${runFolderPrefix}XXXXXX/ctl/control.sock`

const etcFiles: Readonly<Record<string, string>> = {
  'hosts': '127.0.0.1 localhost agent work\n::1 localhost\n',
  'passwd': 'root:x:0:0::/root:/bin/sh\nagent:x:1000:1000::/home/agent:/bin/bash\n',
  'group': 'root:x:0:\nagent:x:1000:\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
}

/** What the masks show instead of a workspace's own. OpenCode writes the schema's name and a .gitignore where they lack, and fails when it cannot. */
const emptyConfiguration = '{"$schema":"https://opencode.ai/config.json"}\n'

/** `sh` is only the place where the system's shell gets mounted. */
const appFiles = (places: ScriptPlaces): Readonly<Record<string, { readonly text: string; readonly mode: number }>> => ({
  'bridge.js': { text: bridgeScript, mode: 0o444 }, 'client.js': { text: shellClientScript(places), mode: 0o444 }, 'bunfig.toml': { text: '', mode: 0o444 },
  'shell': { text: shellScript(places), mode: 0o555 }, 'sh': { text: '', mode: 0o555 },
})

async function put(path: string, text: string, mode: number): Promise<void> {
  await writeFile(path, text, { flag: 'wx', mode })
  // The umask may have taken bits away that the sandbox's user needs.
  await chmod(path, mode)
}

/** A name in the common temporary folder can have been taken by somebody else. */
async function ownPrivateFolder(path: string): Promise<string> {
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  })
  const found = await lstat(path)
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0) throw Object.assign(new Error(`${path} belongs to somebody else`), { syscall: 'mkdir', code: 'EEXIST' })
  return path
}

/**
 * Where run folders are made: `runRoot`, or always the same private folder below the system's temporary one when sockets in
 * `runRoot` would have too long a path (`sun_path` holds 107 bytes, on macOS 103, where an account's own temporary folder is too long as well).
 */
export async function usableRunRoot(runRoot: string): Promise<string> {
  if (Buffer.byteLength(runRoot + longestSocketName) > sandboxLimits.socketPathBytesMax) return ownPrivateFolder(join(process.platform === 'darwin' ? '/private/tmp' : tmpdir(), `countersign-${createHash('sha256').update(runRoot).digest('hex').slice(0, 16)}`))
  await mkdir(runRoot, { recursive: true, mode: 0o700 })
  return runRoot
}

/** Makes a run folder (mode 0700) below `runRoot` and writes everything that a sandbox needs of us. Throws when the disk refuses. */
export async function makeRunFolder(runRoot: string): Promise<RunFolder> {
  const folder = await fillRunFolder(await mkdtemp(join(runRoot, runFolderPrefix)), insidePaths)
  await handOver(folder.controlDir)
  return folder
}

/** The same in a folder that is there already, empty and private. `places`: what its scripts name. */
export async function fillRunFolder(path: string, places: ScriptPlaces): Promise<RunFolder> {
  const at = (...names: readonly string[]): string => join(path, ...names)
  await mkdir(at('ctl'), { mode: 0o700 })
  // Of these the sandboxes' id may be another than ours; nobody else gets past the run folder itself.
  await Promise.all(['etc', 'app', 'tools', 'opencode'].map(async (name) => { await mkdir(at(name)); await chmod(at(name), 0o755) }))
  await Promise.all([
    ...Object.entries(etcFiles).map(([name, text]) => put(at('etc', name), text, 0o444)),
    ...Object.entries(appFiles(places)).map(([name, file]) => put(at('app', name), file.text, file.mode)),
    put(at('tools', 'bun'), bunScript(places), 0o555),
    put(at('empty.json'), emptyConfiguration, 0o444),
    put(at('opencode', '.gitignore'), '*\n', 0o444),
  ])
  return {
    path, files: { etc: at('etc'), app: at('app'), tools: at('tools'), emptyJson: at('empty.json'), emptyFolder: at('opencode') },
    controlDir: at('ctl'), controlSocketInside: at('ctl', 'control.sock'), controlSocket: at('control.sock'), brokerSocket: at('broker.sock'),
    remove: () => rm(path, { recursive: true, force: true }),
  }
}

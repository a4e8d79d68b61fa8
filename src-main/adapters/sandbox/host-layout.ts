import { lstat, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import { findBwrap, firstProgram, type BwrapChoice } from './find-bwrap.ts'
import { isRoot, type DropPrograms } from './unprivileged.ts'

/** What of this Linux the sandboxes are built from. */
export interface HostLayout {
  readonly bwrapPath: string
  /** For a reader, why it is not the system's; null: it is. */
  readonly bwrapNote: string | null
  /** Old names of folders that moved into /usr: link → target. */
  readonly systemLinks: readonly { readonly at: string; readonly target: string }[]
  /** The same names where they are folders of their own. */
  readonly systemFolders: readonly string[]
  /** Real path of /bin/sh. */
  readonly plainShell: string
  /** Real path of a program → nothing of that kind can be started by the agent itself. */
  readonly interpreters: readonly string[]
  /** Interpreter of commands: bash, else sh, as a path inside. */
  readonly commandShell: string
  readonly prlimit: string
  /** For closing inherited descriptors, see `inherited-descriptors.ts`. */
  readonly bash: string | null
  /** By what a sandbox is taken root's rights; null when the app has none to give up. */
  readonly drop: DropPrograms | null
}

const programFolders = ['/usr/bin', '/usr/local/bin', '/bin', '/usr/sbin', '/sbin'] as const
const oldNames = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'] as const
const interpreterNames = ['git', 'bash', 'dash', 'sh', 'zsh', 'ksh', 'busybox', 'perl', 'env', 'python3', 'ruby', 'node'] as const

async function systemNames(): Promise<Pick<HostLayout, 'systemLinks' | 'systemFolders'>> {
  const systemLinks: { at: string; target: string }[] = []
  const systemFolders: string[] = []
  for (const name of oldNames) {
    const at = `/${name}`
    const found = await lstat(at).catch(() => null)
    if (found?.isSymbolicLink() === true) systemLinks.push({ at, target: await readlink(at) })
    else if (found?.isDirectory() === true) systemFolders.push(at)
  }
  return { systemLinks, systemFolders }
}

async function realInterpreters(): Promise<readonly string[]> {
  const found = new Set<string>()
  for (const name of interpreterNames) {
    for (const folder of programFolders) {
      const path = await realpath(join(folder, name)).catch(() => null)
      // Outside /usr there is nothing to hide: the sandbox does not have it.
      if (path?.startsWith('/usr/') === true) found.add(path)
    }
  }
  return [...found].sort()
}

const missing = (what: string, packageName: string): Failure =>
  failure('isolation-unavailable', `${what} is not installed, so nothing can be run safely.`, `Install the package “${packageName}” with your system's package manager (Debian, Ubuntu: sudo apt install ${packageName}; Fedora: sudo dnf install ${packageName}; Arch: sudo pacman -S ${packageName}), then check again.`)

/** What root needs to start a sandbox as somebody else; a failure names the missing program. */
async function dropPrograms(): Promise<Result<DropPrograms | null, Failure>> {
  if (!isRoot()) return ok(null)
  const [unshare, mount, mkdir, setpriv] = await Promise.all([firstProgram('unshare', programFolders), firstProgram('mount', programFolders), firstProgram('mkdir', programFolders), firstProgram('setpriv', programFolders)])
  if (unshare === null || mount === null || mkdir === null || setpriv === null) return err(missing('A program (unshare, mount or setpriv) that root needs to start a sandbox as somebody else', 'util-linux'))
  return ok({ unshare, mount, mkdir, setpriv, sh: '/bin/sh' })
}

/** Looks at the system. Fails with `isolation-unavailable` and the package to install when a needed program is missing. */
export async function readHostLayout(choice: BwrapChoice, searchPath: string): Promise<Result<HostLayout, Failure>> {
  const [bwrap, ripgrep, prlimit, bash, sh] = await Promise.all([
    findBwrap(choice, [...programFolders, ...searchPath.split(':').filter((folder) => folder.startsWith('/'))]), firstProgram('rg', programFolders), firstProgram('prlimit', programFolders), firstProgram('bash', programFolders), realpath('/bin/sh').catch(() => null),
  ])
  if (bwrap === null) return err(missing('bubblewrap', 'bubblewrap'))
  // Without it OpenCode tries to download one at its first search, which the sandbox does not allow.
  if (ripgrep === null) return err(missing('ripgrep (rg), which the coder searches with,', 'ripgrep'))
  if (prlimit === null) return err(missing('prlimit', 'util-linux'))
  if (sh === null) return err(missing('A shell at /bin/sh', 'dash'))
  const drop = await dropPrograms()
  if (!drop.ok) return drop
  return ok({ bwrapPath: bwrap.path, bwrapNote: bwrap.why, drop: drop.value, ...(await systemNames()), plainShell: sh, interpreters: await realInterpreters(), commandShell: bash ?? '/bin/sh', prlimit, bash })
}

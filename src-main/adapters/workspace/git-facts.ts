import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { copyFile, lstat, mkdir, mkdtemp, open, readFile, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join, posix, relative, resolve } from 'node:path'
import { unless } from './fault.ts'
import { ignoreFileBytesMax, type IgnoreSource } from './ignore-rules.ts'

/** What git knows of a folder. `prefix` is the folder's path below the top of its repository. `tracked` are paths below the folder. */
export interface GitFacts {
  readonly prefix: string
  readonly branch: string | null
  readonly commit: string | null
  /** Tracked files that differ from the last commit or from the index; null when git could not say in time. */
  readonly changedFiles: number | null
  readonly submodules: readonly string[]
  readonly tracked: readonly string[]
  /** Rules from outside the folder: of the folders above it, and `.git/info/exclude`. */
  readonly sources: readonly IgnoreSource[]
}
export type GitReading = { readonly is: 'none' } | { readonly is: 'git'; readonly facts: GitFacts } | { readonly is: 'unreadable'; readonly reason: string }

const gitTimeoutMs = 20_000
const outputBytesMax = 64 * 1024 * 1024
const indexBytesMax = 256 * 1024 * 1024

/**
 * Reads a repository without running anything of it. Files and changes are read through a private git folder that has the repository's index
 * and objects, but neither its configuration nor its hooks: no filter, fsmonitor or include of a hostile repository is ever seen by git.
 * Never throws for what a repository can hold; `unreadable` says why git could not help.
 */
export async function readGit(folder: string, signal: AbortSignal): Promise<GitReading> {
  const place = await findRepository(folder)
  if (place === null) return { is: 'none' }
  const own = await mkdtemp(join(tmpdir(), 'countersign-git-'))
  try {
    const git = (gitDir: string, args: readonly string[]): Promise<string | Error> => runGit({ gitDir, top: place.top, objects: join(place.common, 'objects'), own, args, signal })
    const commit = await git(place.gitDir, ['rev-parse', '-q', '--verify', 'HEAD^{commit}'])
    const format = await git(place.gitDir, ['rev-parse', '--show-object-format'])
    if (format instanceof Error) return { is: 'unreadable', reason: format.message }
    const branch = await git(place.gitDir, ['symbolic-ref', '-q', '--short', 'HEAD'])
    const head = commit instanceof Error ? null : commit.trim()
    await makePrivateGit(own, place, head, format.trim())
    const prefix = relative(place.top, folder)
    const listed = await git(join(own, 'git'), ['ls-files', '-s', '-z', ...(prefix === '' ? [] : ['--', `:(literal,top)${prefix}`])])
    if (listed instanceof Error) return { is: 'unreadable', reason: listed.message }
    const { tracked, submodules } = parseListing(listed, prefix)
    if (prefix !== '' && tracked.length + submodules.length === 0) return { is: 'none' }
    const status = await git(join(own, 'git'), ['status', '--porcelain=v1', '-z', '-uno', '--no-renames', '--ignore-submodules=all'])
    const changedFiles = status instanceof Error ? null : status.split('\0').filter((record) => inside(record.slice(3), prefix)).length
    return { is: 'git', facts: { prefix, branch: branch instanceof Error ? null : branch.trim(), commit: head, changedFiles, submodules, tracked, sources: await outerRules(place, prefix) } }
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}

interface Repository { readonly top: string; readonly gitDir: string; readonly common: string }

async function findRepository(folder: string): Promise<Repository | null> {
  for (let top = folder; ; top = dirname(top)) {
    const gitDir = await gitDirOf(top)
    if (gitDir !== null) {
      const common = await unless(['ENOENT'], readFile(join(gitDir, 'commondir'), 'utf8'))
      return { top, gitDir, common: common === null ? gitDir : resolve(gitDir, common.trim()) }
    }
    if (dirname(top) === top) return null
  }
}

/** The git folder of a work tree: `.git` itself, or where a `.git` file points (linked work trees, submodules). */
async function gitDirOf(top: string): Promise<string | null> {
  const dotGit = join(top, '.git')
  const found = await unless(['ENOENT', 'ENOTDIR', 'ELOOP'], stat(dotGit))
  if (found === null) return null
  if (found.isDirectory()) return (await isGitDir(dotGit)) ? dotGit : null
  if (!found.isFile() || found.size > 8_192) return null
  const target = /^gitdir: (.+?)\n?$/.exec(await readFile(dotGit, 'utf8'))?.[1]
  const gitDir = target === undefined ? null : isAbsolute(target) ? target : resolve(top, target)
  return gitDir !== null && (await isGitDir(gitDir)) ? gitDir : null
}

/** Whether this folder looks like a git folder: for finding repositories, and for refusing a bare one. */
export async function isGitDir(folder: string): Promise<boolean> {
  const head = await unless(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'], lstat(join(folder, 'HEAD')))
  if (head?.isFile() !== true) return false
  if ((await unless(['ENOENT', 'ENOTDIR'], stat(join(folder, 'commondir')))) !== null) return true
  const objects = await unless(['ENOENT', 'ENOTDIR', 'ELOOP'], stat(join(folder, 'objects')))
  const refs = await unless(['ENOENT', 'ENOTDIR', 'ELOOP'], stat(join(folder, 'refs')))
  return objects?.isDirectory() === true && refs?.isDirectory() === true
}

async function makePrivateGit(own: string, place: Repository, head: string | null, format: string): Promise<void> {
  const gitDir = join(own, 'git')
  await mkdir(join(gitDir, 'refs'), { recursive: true })
  await mkdir(join(gitDir, 'objects'))
  const sha256 = format === 'sha256'
  await writeFile(join(gitDir, 'config'), `[core]\nrepositoryformatversion = ${sha256 ? 1 : 0}\nbare = false\n${sha256 ? '[extensions]\nobjectFormat = sha256\n' : ''}`)
  await writeFile(join(gitDir, 'HEAD'), head === null ? 'ref: refs/heads/none\n' : `${head}\n`)
  const indexes = (await readdir(place.gitDir)).filter((name) => name === 'index' || /^sharedindex\.[0-9a-f]+$/.test(name))
  for (const name of indexes) {
    const found = await lstat(join(place.gitDir, name))
    if (!found.isFile() || found.size > indexBytesMax) continue
    await copyFile(join(place.gitDir, name), join(gitDir, name), constants.COPYFILE_FICLONE)
    // By the time of its index git knows which files may have changed since without looking different: those it reads. A copy must not seem younger.
    await utimes(join(gitDir, name), found.atime, new Date(Math.floor(found.mtimeMs)))
  }
}

interface GitCall { readonly gitDir: string; readonly top: string; readonly objects: string; readonly own: string; readonly args: readonly string[]; readonly signal: AbortSignal }

function runGit(call: GitCall): Promise<string | Error> {
  const env = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', HOME: call.own, GIT_DIR: call.gitDir, GIT_WORK_TREE: call.top, GIT_OBJECT_DIRECTORY: call.objects,
    GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_ATTR_NOSYSTEM: '1', GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', GIT_NO_LAZY_FETCH: '1', GIT_NO_REPLACE_OBJECTS: '1',
  }
  const args = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '-c', 'core.untrackedCache=false', '--no-optional-locks', ...call.args]
  return new Promise<string | Error>((done, abort) => {
    execFile('git', args, { cwd: call.own, env, timeout: gitTimeoutMs, killSignal: 'SIGKILL', maxBuffer: outputBytesMax, encoding: 'utf8', signal: call.signal }, (error, stdout, stderr) => {
      if (error === null) done(stdout)
      else if (error.name === 'AbortError') abort(new DOMException('git was stopped', 'AbortError'))
      else done(new Error(stderr.trim() === '' ? error.message : stderr.trim().split('\n')[0]))
    })
  })
}

/** Lines of `ls-files -s -z`: `mode oid stage<TAB>path`. Mode 160000 is a submodule; stages 1 to 3 name a file in conflict more than once. */
function parseListing(text: string, prefix: string): { readonly tracked: readonly string[]; readonly submodules: readonly string[] } {
  const tracked = new Set<string>()
  const submodules = new Set<string>()
  for (const record of text.split('\0')) {
    const tab = record.indexOf('\t')
    const path = record.slice(tab + 1)
    if (tab < 0 || path.includes('\uFFFD') || !inside(path, prefix)) continue
    ;(record.startsWith('160000 ') ? submodules : tracked).add(prefix === '' ? path : path.slice(prefix.length + 1))
  }
  return { tracked: [...tracked], submodules: [...submodules] }
}

const inside = (path: string, prefix: string): boolean => path !== '' && (prefix === '' || path.startsWith(`${prefix}/`))

/** Rules that reach into the folder from outside it. */
async function outerRules(place: Repository, prefix: string): Promise<readonly IgnoreSource[]> {
  const sources: IgnoreSource[] = []
  const exclude = await readSmall(join(place.common, 'info', 'exclude'))
  if (exclude !== null) sources.push({ folder: '', level: 'exclude', text: exclude })
  for (let folder = prefix === '' ? null : posix.dirname(prefix); folder !== null; folder = folder === '.' ? null : posix.dirname(folder)) {
    const text = await readSmall(join(place.top, folder, '.gitignore'))
    if (text !== null) sources.push({ folder: folder === '.' ? '' : folder, level: 'gitignore', text })
  }
  return sources
}

async function readSmall(path: string): Promise<string | null> {
  const handle = await unless(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENXIO'], open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK))
  if (handle === null) return null
  try {
    const found = await handle.stat()
    return found.isFile() && found.size <= ignoreFileBytesMax ? await handle.readFile('utf8') : null
  } finally {
    await handle.close()
  }
}

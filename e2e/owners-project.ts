import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, lstatSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { give } from './owner-folder.ts'

export type ProjectFiles = Readonly<Record<string, string>>;

/**
 * A git repository of the owner: `committed` is in its one commit, `dirty` lies over it uncommitted.
 * The name has spaces and letters beyond ASCII, as people's folders do.
 */
export function makeProject(ownerFolder: string, committed: ProjectFiles, dirty: ProjectFiles = {}, name = 'Meine Übungen & more'): string {
  const folder = join(ownerFolder, name)
  mkdirSync(folder)
  put(folder, committed)
  const git = (...args: string[]): void => {
    execFileSync('git', ['-c', 'user.name=Owner', '-c', 'user.email=owner@example.com', '-c', 'init.defaultBranch=main', ...args], { cwd: folder, stdio: 'pipe', env: { PATH: process.env['PATH'], HOME: ownerFolder } })
  }
  git('init', '--quiet')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'Begin')
  put(folder, dirty)
  giveAll(folder)
  return folder
}

/** Every file below a folder, git's own left out, as path → bytes in base64. */
export function contents(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path !== '.git' && !path.startsWith('.git/') && lstatSync(join(folder, path)).isFile())
  return Object.fromEntries(files.sort().map((path) => [path, readFileSync(join(folder, path)).toString('base64')]))
}

function put(folder: string, files: ProjectFiles): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

function giveAll(folder: string): void {
  give(folder)
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) give(join(folder, path))
}

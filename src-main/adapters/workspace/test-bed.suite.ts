import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Failure } from '../../../src-preload/contract/failure.ts'
import { taskIdSchema, type Digest, type TaskId } from '../../../src-preload/contract/ids.ts'
import type { Result } from '../../../src-preload/contract/result.ts'
import type { Mount } from '../../../src-preload/contract/task.ts'
import type { FailpointHook } from '../../engine/failpoints.ts'
import type { PreparedWorkspace, Workspace } from '../../engine/ports.ts'
import { createWorkspace } from './workspace.ts'

const run = promisify(execFile)
export const sampleDir = resolve(import.meta.dirname, '../../../resources/sample')
export const taskId: TaskId = taskIdSchema.parse('task_1')
export const never = new AbortController().signal

/** A disposable place with a data folder, a home and a project folder whose name has blanks and letters beyond ASCII. */
export interface Bed {
  readonly dir: string
  readonly project: string
  readonly tasks: string
  readonly home: string
  readonly patches: string
  readonly workspace: Workspace
  open(failpoint?: FailpointHook, quotaBytes?: number): Workspace
  put(files: Readonly<Record<string, string>>): Promise<void>
  prepared(mounts?: readonly Mount[]): Promise<PreparedWorkspace>
  /** Below the coder's workspace. */
  inWork(path: string): string
  remove(): Promise<void>
}

/** `inMemory`: on a file system without a disk where there is one, for tests that wait for a great many fsyncs. */
export async function makeBed(inMemory = false): Promise<Bed> {
  const dir = await mkdtemp(join(inMemory && existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'countersign-bed-'))
  const [project, home, tasks, patches] = [join(dir, 'Ein Prøjekt – 项目'), join(dir, 'home'), join(dir, 'data', 'tasks'), join(dir, 'data', 'patches')]
  await mkdir(project)
  await mkdir(home)
  const open: Bed['open'] = (failpoint, quotaBytes = 2 ** 40) => createWorkspace({
    root: tasks, sampleDir, patchDir: patches, homeDir: home, clock: { now: () => 1_700_000_000_000 }, quotaBytes: () => quotaBytes, ...(failpoint === undefined ? {} : { failpoint }),
  })
  const workspace = open()
  return {
    dir, project, tasks, home, patches, workspace, open,
    put: (files) => putFiles(project, files),
    prepared: async (mounts = []) => valueOf(await workspace.prepare(taskId, { kind: 'folder', path: project, mounts: [...mounts] }, never)),
    inWork: (path) => join(tasks, taskId, 'workspace', path),
    remove: async () => {
      await run('chmod', ['-R', 'u+rwX', '--', dir])
      await run('rm', ['-rf', '--', dir])
    },
  }
}

export async function putFiles(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
}

export function valueOf<T>(result: Result<T, Failure>): T {
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`)
  return result.value
}

export function failureOf(result: Result<unknown, Failure>): Failure {
  if (result.ok) throw new Error('expected a failure')
  return result.error
}

/** The owner's own git, with a fixed author. */
export async function git(cwd: string, ...args: string[]): Promise<string> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: cwd, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', GIT_AUTHOR_NAME: 'o', GIT_AUTHOR_EMAIL: 'o@example.org', GIT_COMMITTER_NAME: 'o', GIT_COMMITTER_EMAIL: 'o@example.org' }
  return (await run('git', ['-c', 'init.defaultBranch=main', '-c', 'protocol.file.allow=always', ...args], { cwd, env, maxBuffer: 2 ** 26 })).stdout
}

/** Every file and link below a folder with content, target and execute bit; folders end with a slash. `.git` is left out. */
export async function pictureOf(root: string, path = ''): Promise<Readonly<Record<string, string>>> {
  const picture: Record<string, string> = {}
  for (const name of (await readdir(join(root, path))).sort()) {
    if (name === '.git') continue
    const at = path === '' ? name : `${path}/${name}`
    const stat = await lstat(join(root, at))
    if (stat.isDirectory()) Object.assign(picture, await pictureOf(root, at), { [`${at}/`]: 'folder' })
    else if (stat.isSymbolicLink()) picture[at] = `-> ${await readlink(join(root, at))}`
    else if (stat.isFile()) picture[at] = `${(stat.mode & 0o100) === 0 ? '' : 'x:'}${(await readFile(join(root, at))).toString('latin1')}`
    else picture[at] = 'special'
  }
  return picture
}

export const removeAll = (path: string): Promise<void> => rm(path, { recursive: true, force: true })

/** A base, and a coder's work on it that has every kind of step: edit, add in new folders, remove, empty a folder, swap file and folder, links, modes. */
export async function workOn(bed: Bed): Promise<Digest> {
  await bed.put({ '.gitignore': 'ignored/\n', 'edit.txt': 'old\n', 'gone.txt': 'g\n', 'd/only.txt': 'o\n', 'to-folder': 'f\n', 'to-file/a/b': 'b\n', 'to-file/c': 'c\n', run: 'r\n', stay: 's\n', 'ignored/mine': 'm' })
  await symlink('stay', join(bed.project, 'link'))
  await bed.prepared()
  await chmod(bed.inWork('run'), 0o755)
  for (const path of ['gone.txt', 'd', 'to-folder', 'to-file', 'link']) await rm(bed.inWork(path), { recursive: true })
  await symlink('edit.txt', bed.inWork('link'))
  await symlink('stay', bed.inWork('new-link'))
  await putFiles(bed.inWork(''), { 'edit.txt': 'new\n', 'new/deep/er.txt': 'n\n', 'to-folder/in': 'i\n', 'to-file': 't\n' })
  return valueOf(await bed.workspace.diff(taskId, never)).treeDigest
}
export const treeBefore = { '.gitignore': 'ignored/\n', 'd/': 'folder', 'd/only.txt': 'o\n', 'edit.txt': 'old\n', 'gone.txt': 'g\n', 'ignored/': 'folder', 'ignored/mine': 'm', link: '-> stay', run: 'r\n', stay: 's\n', 'to-file/': 'folder', 'to-file/a/': 'folder', 'to-file/a/b': 'b\n', 'to-file/c': 'c\n', 'to-folder': 'f\n' }
export const treeAfter = { '.gitignore': 'ignored/\n', 'edit.txt': 'new\n', 'ignored/': 'folder', 'ignored/mine': 'm', link: '-> edit.txt', 'new-link': '-> stay', 'new/': 'folder', 'new/deep/': 'folder', 'new/deep/er.txt': 'n\n', run: 'x:r\n', stay: 's\n', 'to-file': 't\n', 'to-folder/': 'folder', 'to-folder/in': 'i\n' }

import { execFile } from 'node:child_process'
import { chmod, mkdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { folderFactsSchema } from '../../../src-preload/contract/methods.ts'
import { git, makeBed, pictureOf, putFiles, type Bed } from './test-bed.suite.ts'

let bed: Bed
beforeEach(async () => { bed = await makeBed() })
afterEach(() => bed.remove())

const refusalOf = async (path: string): Promise<string> => {
  const facts = await bed.workspace.inspect(path)
  expect(folderFactsSchema.parse(facts)).toEqual(facts)
  expect(facts.refusal?.code ?? 'none').toBe('folder-refused')
  expect(facts.refusal?.todo).not.toBe('')
  return facts.refusal?.message ?? ''
}

describe('a folder that works', () => {
  test('a plain folder with blanks and letters beyond ASCII in its path', async () => {
    await bed.put({ 'a.txt': 'abc', 'b/c.txt': '12345', 'node_modules/x/index.js': 'x' })
    const facts = await bed.workspace.inspect(bed.project)
    expect(facts).toMatchObject({ path: bed.project, label: 'Ein Prøjekt – 项目', git: null, files: 2, bytes: 8, refusal: null })
    expect(facts.proposals.map((mount) => [mount.into, mount.mode])).toEqual([['node_modules', 'read-only']])
  })

  test('a git repository: branch, commit, changes, and what it ignores', async () => {
    await bed.put({ '.gitignore': 'node_modules/\n.venv\ntarget/\nsecret.txt\n', 'a.txt': '1', 'src/b.txt': '2', 'gone.txt': '3' })
    await git(bed.project, 'init', '-q')
    await git(bed.project, 'add', '.')
    await git(bed.project, 'commit', '-qm', 'one')
    const commit = (await git(bed.project, 'rev-parse', 'HEAD')).trim()
    await rm(join(bed.project, 'gone.txt'))
    await bed.put({ 'a.txt': 'changed', 'new.txt': '', 'staged.txt': '', 'node_modules/.bin/x': '', 'packages/p/node_modules/y': '', '.venv/bin/python': '', 'target/o': '', 'secret.txt': 's' })
    await git(bed.project, 'add', 'staged.txt')
    const facts = await bed.workspace.inspect(bed.project)
    expect(facts.git).toEqual({ branch: 'main', commit, dirtyFiles: 4, submodules: 0 })
    expect(facts.files).toBe(5)
    expect(facts.notes.join()).toContain('4 files differ from the last commit')
    expect(facts.proposals.map((mount) => [mount.into, mount.mode, mount.pathEntry])).toEqual([
      ['.venv', 'read-only', '/workspace/.venv/bin'], ['node_modules', 'read-only', '/workspace/node_modules/.bin'], ['target', 'copy', null], ['packages/p/node_modules', 'read-only', null],
    ])
  })

  test('a repository without a commit, and one on a detached head', async () => {
    await bed.put({ 'a.txt': '1' })
    await git(bed.project, 'init', '-q')
    await git(bed.project, 'add', '.')
    expect(await bed.workspace.inspect(bed.project)).toMatchObject({ refusal: null, files: 1, git: { branch: 'main', commit: null, dirtyFiles: 1 } })
    await git(bed.project, 'commit', '-qm', 'one')
    await git(bed.project, 'checkout', '-q', '--detach')
    expect((await bed.workspace.inspect(bed.project)).git?.branch).toBe(null)
  })

  test('a file that was changed to the same size in the second of its commit is a change, also when it is looked at later', async () => {
    await bed.put({ 'a.txt': '1' })
    await git(bed.project, 'init', '-q')
    await git(bed.project, 'add', '.')
    await git(bed.project, 'commit', '-qm', 'one')
    await bed.put({ 'a.txt': '2' })
    const { mtimeMs } = await stat(join(bed.project, 'a.txt'))
    await expect.poll(() => Math.floor(Date.now() / 1_000)).toBeGreaterThan(Math.floor(mtimeMs / 1_000))
    expect(await bed.workspace.inspect(bed.project)).toMatchObject({ git: { dirtyFiles: 1 } })
  })

  test('submodules are counted, copied as files, and never updated', async () => {
    const other = join(bed.dir, 'other')
    await putFiles(other, { 'lib.txt': 'lib' })
    await git(other, 'init', '-q')
    await git(other, 'add', '.')
    await git(other, 'commit', '-qm', 'one')
    await git(bed.project, 'init', '-q')
    await git(bed.project, 'submodule', '-q', 'add', other, 'libs/other')
    await git(bed.project, 'commit', '-qm', 'one')
    const facts = await bed.workspace.inspect(bed.project)
    expect(facts).toMatchObject({ refusal: null, git: { submodules: 1, dirtyFiles: 0 }, files: 2 })
    expect(facts.notes.join()).toContain('libs/other')
    await bed.prepared()
    expect(Object.keys(await pictureOf(bed.inWork(''))).sort()).toEqual(['.gitmodules', 'libs/', 'libs/other/', 'libs/other/lib.txt'])
  })

  test('a linked work tree, and a part of a larger repository', async () => {
    await bed.put({ '.gitignore': '*.log\n', 'part/a.txt': '1', 'part/a.log': '', 'rest.txt': '' })
    await git(bed.project, 'init', '-q')
    await git(bed.project, 'add', '.')
    await git(bed.project, 'commit', '-qm', 'one')
    const tree = join(bed.dir, 'tree')
    await git(bed.project, 'worktree', 'add', '-q', '-b', 'side', tree)
    expect(await bed.workspace.inspect(tree)).toMatchObject({ refusal: null, git: { branch: 'side', dirtyFiles: 0 }, files: 3 })
    const part = await bed.workspace.inspect(join(bed.project, 'part'))
    expect(part).toMatchObject({ refusal: null, git: { branch: 'main', dirtyFiles: 0 }, files: 1 })
    expect(part.notes.join()).toContain('a part (part) of a larger repository')
  })

  test('a folder that an outer repository ignores is a plain folder', async () => {
    await git(bed.dir, 'init', '-q')
    await writeFile(join(bed.dir, '.gitignore'), '*\n')
    await bed.put({ 'a.txt': '1' })
    expect(await bed.workspace.inspect(bed.project)).toMatchObject({ refusal: null, git: null, files: 1 })
  })

  test('toolchains in the home folder are proposed read-only, outside every home, only where the project needs them', async () => {
    await putFiles(bed.home, { '.nvm/versions/node/v9.1.0/bin/node': '', '.nvm/versions/node/v22.1.0/bin/node': '', '.cargo/registry/x': '', '.rustup/toolchains/stable-x/bin/rustc': '', '.pyenv/versions/3.12.1/bin/python': '' })
    await bed.put({ 'package.json': '{}', 'Cargo.toml': '' })
    const { proposals } = await bed.workspace.inspect(bed.project)
    expect(proposals.map((mount) => [mount.into, mount.pathEntry, mount.mode])).toEqual([
      ['/opt/toolchains/nvm-v22.1.0', '/opt/toolchains/nvm-v22.1.0/bin', 'read-only'], ['/opt/toolchains/nvm-v9.1.0', '/opt/toolchains/nvm-v9.1.0/bin', 'read-only'],
      ['/opt/toolchains/rustup-stable-x', '/opt/toolchains/rustup-stable-x/bin', 'read-only'], ['/opt/toolchains/cargo/registry', null, 'read-only'],
    ])
  })

  test.each([
    [{ 'package.json': '{"scripts":{"test":"bun test"}}' }, ['bun test']],
    [{ 'package.json': '{"scripts":{"test":"vitest run"}}' }, ['npm test']],
    [{ 'package.json': '{"scripts":{"test":"jest"}}', 'pnpm-lock.yaml': '' }, ['pnpm test', 'npm test']],
    [{ 'package.json': '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}' }, []],
    [{ 'package.json': '{broken' }, []],
    [{ 'pyproject.toml': '[tool.pytest.ini_options]\n' }, ['python3 -m pytest']],
    [{ 'Cargo.toml': '', 'Makefile': 'all:\n\ntest: all\n' }, ['cargo test --offline', 'make test']],
    [{ 'go.mod': '', 'Makefile': 'test := x\n' }, ['go test ./...']],
  ])('likely test commands of %j', async (files, commands) => {
    await bed.put(files)
    expect((await bed.workspace.inspect(bed.project)).testCommands).toEqual(commands)
  })

  test('a link to a folder is followed once, and the real path is shown', async () => {
    await symlink(bed.project, join(bed.dir, 'link'))
    expect(await bed.workspace.inspect(join(bed.dir, 'link'))).toMatchObject({ path: bed.project, refusal: null })
  })
})

describe('a folder that is refused, with the reason', () => {
  test('it does not exist, is a file, or is no full path', async () => {
    await bed.put({ 'a.txt': '' })
    expect(await refusalOf(join(bed.dir, 'absent'))).toContain('does not exist')
    expect(await refusalOf(join(bed.project, 'a.txt'))).toContain('a file, not a folder')
    expect(await refusalOf(join(bed.project, 'a.txt', 'x'))).toContain('not a folder')
    expect(await refusalOf('project')).toContain('not a full path')
    expect(await refusalOf(`${bed.dir}/x\0y`)).toContain('not a full path')
  })

  test('the whole disk, the home folder, the system, and our own data', async () => {
    expect(await refusalOf('/')).toContain('whole disk')
    expect(await refusalOf(bed.home)).toContain('home folder')
    expect(await refusalOf('/usr/share')).toContain('belongs to the system')
    await mkdir(join(bed.dir, 'data/tasks/x'), { recursive: true })
    expect(await refusalOf(join(bed.dir, 'data/tasks/x'))).toContain('own data')
    expect(await refusalOf(bed.dir)).toMatch(/home folder|own data/)
  })

  test('a bare repository, and the inside of one', async () => {
    await git(bed.project, 'init', '-q', '--bare')
    expect(await refusalOf(bed.project)).toContain('bare git repository')
    const other = join(bed.dir, 'other')
    await mkdir(other)
    await git(other, 'init', '-q')
    expect(await refusalOf(join(other, '.git'))).toContain('bare git repository')
    expect(await refusalOf(join(other, '.git', 'refs'))).toContain('bare git repository')
  })

  test('one file more than 50,000 is refused; exactly 50,000 are not', async () => {
    await bed.remove()
    bed = await makeBed(true)
    await promisify(execFile)('bash', ['-c', 'for d in $(seq 1 50); do mkdir d$d; (cd d$d; touch $(seq 1 1000)); done'], { cwd: bed.project })
    expect(await bed.workspace.inspect(bed.project)).toMatchObject({ refusal: null, files: 50_000 })
    await bed.put({ 'one-more': '' })
    expect(await refusalOf(bed.project)).toContain('more than 50,000 files')
    await bed.put({ '.gitignore': 'one-more\nd1/\n' })
    expect(await bed.workspace.inspect(bed.project)).toMatchObject({ refusal: null, files: 49_001 })
  }, 120_000)

  test('more than 2 GiB are refused', async () => {
    await promisify(execFile)('truncate', ['-s', String(2 ** 31 + 1), join(bed.project, 'huge')])
    expect(await refusalOf(bed.project)).toContain('more than 2,048 MiB')
  })
})

describe('a hostile repository', () => {
  test('runs nothing of its configuration: hooks, fsmonitor, filters, includes, pagers', async () => {
    const trap = join(bed.dir, 'sprung')
    await writeFile(join(bed.dir, 'trap.sh'), `#!/bin/sh\necho "$0 $*" >> '${trap}'\nexit 1\n`)
    await chmod(join(bed.dir, 'trap.sh'), 0o755)
    await bed.put({ 'a.txt': '1', '.gitattributes': '* filter=evil diff=evil\n' })
    await git(bed.project, 'init', '-q')
    await git(bed.project, 'add', '.')
    await git(bed.project, 'commit', '-qm', 'one')
    const command = join(bed.dir, 'trap.sh')
    await writeFile(join(bed.project, '.git/config'), `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ${command}\n\thooksPath = ${bed.dir}\n\tpager = ${command}\n\tsshCommand = ${command}\n[filter "evil"]\n\tclean = ${command}\n\tsmudge = ${command}\n\tprocess = ${command}\n\trequired = true\n[diff "evil"]\n\ttextconv = ${command}\n\tcommand = ${command}\n[diff]\n\texternal = ${command}\n[alias]\n\tstatus = !${command}\n[status]\n\tsubmoduleSummary = true\n`)
    for (const hook of ['post-index-change', 'post-checkout', 'pre-commit', 'fsmonitor-watchman']) {
      await writeFile(join(bed.project, '.git/hooks', hook), `#!/bin/sh\necho ${hook} >> '${trap}'\n`)
      await chmod(join(bed.project, '.git/hooks', hook), 0o755)
    }
    await bed.put({ 'a.txt': '2' })
    expect(await bed.workspace.inspect(bed.project)).toMatchObject({ refusal: null, git: { dirtyFiles: 1 } })
    await bed.prepared()
    await expect(git(bed.dir, 'hash-object', trap)).rejects.toThrow('sprung')
    // The trap itself works: the owner's own git springs it.
    await git(bed.project, 'diff-files', '-p').catch(() => '')
    expect(await git(bed.dir, 'hash-object', trap)).toMatch(/^[0-9a-f]{40}/)
  })

  test('is not touched by looking at it', async () => {
    await bed.put({ 'a.txt': '1' })
    await git(bed.project, 'init', '-q')
    await git(bed.project, 'add', '.')
    const before = await promisify(execFile)('bash', ['-c', 'find . -printf "%p %T@ %C@ %s\\n" | sort'], { cwd: bed.project })
    await bed.workspace.inspect(bed.project)
    await bed.prepared()
    const after = await promisify(execFile)('bash', ['-c', 'find . -printf "%p %T@ %C@ %s\\n" | sort'], { cwd: bed.project })
    expect(after.stdout).toBe(before.stdout)
  })

  test('that git cannot read is copied as a plain folder, and the owner is told', async () => {
    await bed.put({ 'a.txt': '1', '.gitignore': 'b.txt', 'b.txt': '' })
    await git(bed.project, 'init', '-q')
    await writeFile(join(bed.project, '.git/config'), '[core\nbroken')
    const facts = await bed.workspace.inspect(bed.project)
    expect(facts).toMatchObject({ refusal: null, git: null, files: 2 })
    expect(facts.notes.join()).toContain('Git could not read this repository')
  })
})

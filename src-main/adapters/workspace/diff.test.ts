import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fileChangeSchema } from '../../../src-preload/contract/task.ts'
import type { WorkspaceDiff } from '../../engine/ports.ts'
import { blobId, quotePath, textPatch } from './git-patch.ts'
import { hunksBetween } from './line-hunks.ts'
import { failureOf, git, makeBed, never, pictureOf, putFiles, taskId, valueOf, type Bed } from './test-bed.suite.ts'

const run = promisify(execFile)
let bed: Bed
beforeEach(async () => { bed = await makeBed() })
afterEach(() => bed.remove())

const diff = async (): Promise<WorkspaceDiff> => valueOf(await bed.workspace.diff(taskId, never))

/** Applies the written patch to a copy of the owner's folder with the real git, and compares the folder with the workspace. */
async function expectGitAgrees(): Promise<void> {
  const copy = join(bed.dir, 'copy')
  await cp(bed.project, copy, { recursive: true, verbatimSymlinks: true })
  await git(copy, 'init', '-q')
  const patch = join(bed.dir, 'x.patch')
  valueOf(await bed.workspace.writePatch(taskId, patch))
  await git(copy, 'apply', '--check', '--whitespace=nowarn', patch)
  await git(copy, 'apply', '--whitespace=nowarn', patch)
  const files = (picture: Readonly<Record<string, string>>): unknown => Object.fromEntries(Object.entries(picture).filter(([path]) => !path.endsWith('/')))
  expect(files(await pictureOf(copy))).toEqual(files(await pictureOf(bed.inWork(''))))
}

describe('the diff of a workspace', () => {
  test('nothing changed: no files, and the base\'s digest', async () => {
    await bed.put({ 'a.txt': '1' })
    const prepared = await bed.prepared()
    expect(await diff()).toMatchObject({ files: [], treeDigest: prepared.baseDigest })
    valueOf(await bed.workspace.writePatch(taskId, join(bed.dir, 'x.patch')))
    expect(await readFile(join(bed.dir, 'x.patch'), 'utf8')).toBe('')
  })

  test('adds, edits, deletes, renames, modes, links and kinds: counted right, and git applies the patch to the same tree', async () => {
    const long = Array.from({ length: 60 }, (_, i) => `line ${i}`).join('\n')
    await bed.put({ 'edit.txt': `${long}\n`, 'gone.txt': 'a\nb\n', 'old name.txt': 'same\n', 'no-newline': 'x', run: 'r\n', 'to-link': 't\n', 'dir/one': '1\n', 'to-folder': 'f\n', 'crlf.txt': 'a\r\nb\r\n', empty: '', 'nein "ü"\n.txt': '1\n', 'fill': 'x\n' })
    await symlink('edit.txt', join(bed.project, 'link'))
    await symlink('run', join(bed.project, 'to-file'))
    await bed.prepared()
    const at = bed.inWork
    await writeFile(at('edit.txt'), `first\n${long.replace('line 30\n', 'line thirty\n')}\nlast`)
    await rm(at('gone.txt'))
    await rename(at('old name.txt'), at('new name.txt'))
    await writeFile(at('no-newline'), 'x\ny')
    await chmod(at('run'), 0o755)
    await rm(at('to-link')); await symlink('run', at('to-link'))
    await rm(at('link')); await symlink('run', at('link'))
    await rm(at('to-file')); await writeFile(at('to-file'), 'now a file\n')
    await rm(at('dir'), { recursive: true }); await writeFile(at('dir'), 'now a file\n')
    await rm(at('to-folder')); await putFiles(at(''), { 'to-folder/in': 'x\n', 'crlf.txt': 'a\r\nc\r\n', empty: 'filled\n', fill: '', 'brand/new/empty': '', 'nein "ü"\n.txt': '2\n' })
    const seen = await diff()
    for (const file of seen.files) expect(fileChangeSchema.parse(file.change)).toEqual(file.change)
    expect(Object.fromEntries(seen.files.map(({ change }) => [change.path, `${change.status} +${change.additions} -${change.deletions}`]))).toEqual({
      'edit.txt': 'modified +3 -1', 'gone.txt': 'deleted +0 -2', 'old name.txt': 'deleted +0 -1', 'new name.txt': 'added +1 -0', 'no-newline': 'modified +2 -1', run: 'modified +0 -0', 'to-link': 'modified +1 -1', link: 'modified +1 -1', 'to-file': 'modified +1 -1',
      'dir/one': 'deleted +0 -1', dir: 'added +1 -0', 'to-folder': 'deleted +0 -1', 'to-folder/in': 'added +1 -0', 'crlf.txt': 'modified +1 -1', empty: 'modified +1 -0', fill: 'modified +0 -1', 'brand/new/empty': 'added +0 -0', 'nein "ü"\n.txt': 'modified +1 -1',
    })
    await expectGitAgrees()
  })

  test('binary files are flagged, not shown, and whole in the patch file', async () => {
    await run('bash', ['-c', 'head -c 70001 /dev/urandom > b.bin; printf "a\\0b" > small; printf "\\xff\\xfe text" > latin; printf "\\xef\\xbb\\xbfbom\\n" > bom'], { cwd: bed.project })
    await bed.prepared()
    await run('bash', ['-c', 'head -c 500 /dev/urandom >> b.bin; rm small; printf "\\xff\\xfe more" > latin; printf "\\0" > new.bin; : > emptied; printf "\\xef\\xbb\\xbfBOM\\n" > bom'], { cwd: bed.inWork('') })
    expect((await diff()).files.map(({ change, patch }) => [change.path, change.binary, patch === null])).toEqual([['b.bin', true, true], ['bom', false, false], ['emptied', false, false], ['latin', true, true], ['new.bin', true, true], ['small', true, true]])
    await expectGitAgrees()
  })

  test('a large new file is shown whole; a huge one is not shown but is in the patch file', async () => {
    await bed.put({ a: '' })
    await bed.prepared()
    const large = `${'0123456789abcdef\n'.repeat(7_240)}0123456789`
    expect(large).toHaveLength(123_090)
    await putFiles(bed.inWork(''), { large, huge: 'line\n'.repeat(900_000) })
    const [huge, big] = (await diff()).files
    expect(big).toMatchObject({ change: { path: 'large', additions: 7_241, binary: false }, patch: expect.stringContaining('+1,7241') })
    expect(huge).toMatchObject({ change: { path: 'huge' }, patch: null })
    await expectGitAgrees()
  })

  test('texts that share nothing become one hunk that replaces every line', async () => {
    const lines = (word: string): string => Array.from({ length: 2_500 }, (_, i) => `${word} ${i * 7919}`).join('\n')
    await bed.put({ 'a.txt': lines('old') })
    await bed.prepared()
    await writeFile(bed.inWork('a.txt'), `${lines('new')}\n`)
    expect((await diff()).files[0]?.change).toMatchObject({ additions: 2_500, deletions: 2_500 })
    await expectGitAgrees()
  })

  test('ignores by the base\'s rules: what the coder adds to .gitignore hides nothing', async () => {
    await bed.put({ '.gitignore': 'out/\n*.log\n', 'a.txt': '' })
    await git(bed.project, 'init', '-q')
    await bed.prepared()
    await putFiles(bed.inWork(''), { 'out/o': 'built', 'x.log': '', '__pycache__/x.pyc': '', '.opencode/x': '', 'opencode.json': '', '.git/config': '[core]', '.gitignore': '*\n', 'sly.txt': 'hidden?', 'sub/.gitignore': '*\n', 'sub/sly.txt': 'hidden?' })
    expect((await diff()).files.map(({ change }) => change.path)).toEqual(['.gitignore', 'sly.txt', 'sub/.gitignore', 'sub/sly.txt'])
  })

  test('what leads out of the workspace is never followed, never counts, and is reported', async () => {
    await bed.put({ 'a.txt': '1', 'd/b.txt': '2' })
    const prepared = await bed.prepared()
    await writeFile(join(bed.dir, 'secret'), 'SECRET')
    await mkdir(join(bed.dir, 'outside'))
    await writeFile(join(bed.dir, 'outside/b.txt'), 'SECRET')
    await rm(bed.inWork('a.txt'))
    await symlink(join(bed.dir, 'secret'), bed.inWork('a.txt'))
    await rm(bed.inWork('d'), { recursive: true })
    await symlink(join(bed.dir, 'outside'), bed.inWork('d'))
    await run('mkfifo', [bed.inWork('pipe')])
    await symlink('/dev/zero', bed.inWork('zero'))
    const seen = await diff()
    expect(seen.files.map(({ change }) => `${change.status} ${change.path}`)).toEqual(['deleted a.txt', 'deleted d/b.txt'])
    expect(JSON.stringify(seen)).not.toContain('SECRET')
    expect(seen.notes?.join()).toContain('a.txt, d, zero')
    expect(seen.treeDigest).not.toBe(prepared.baseDigest)
  })

  test('what the coder closed to everybody is opened again and counts as it is', async () => {
    await bed.put({ 'a.txt': '1' })
    await bed.prepared()
    await putFiles(bed.inWork(''), { 'closed/deep/b.txt': '2' })
    await chmod(bed.inWork('closed/deep/b.txt'), 0o010)
    await chmod(bed.inWork('closed/deep'), 0)
    await chmod(bed.inWork('closed'), 0)
    expect((await diff()).files.map(({ change }) => change.path)).toEqual(['closed/deep/b.txt'])
    await expectGitAgrees()
  })

  test('digests: equal trees by any way give equal digests, any difference another', async () => {
    await bed.put({ 'a.txt': '1', 'b.txt': '2' })
    await bed.prepared()
    await writeFile(bed.inWork('a.txt'), 'new')
    const first = await diff()
    await rm(bed.inWork('a.txt')); await writeFile(bed.inWork('a.txt'), 'new')
    expect(await diff()).toEqual(first)
    await chmod(bed.inWork('a.txt'), 0o755)
    const second = await diff()
    expect(second.treeDigest).not.toBe(first.treeDigest)
    expect(second.diffDigest).not.toBe(first.diffDigest)
  })

  test('an abort is a cancelled failure; an unprepared task has no diff', async () => {
    await bed.put({ a: '' })
    expect(failureOf(await bed.workspace.diff(taskId, never)).code).toBe('workspace-failed')
    await bed.prepared()
    expect(failureOf(await bed.workspace.diff(taskId, AbortSignal.abort())).code).toBe('cancelled')
  })

  test('more changed files than can be reviewed are a named limit', async () => {
    await bed.put({ a: '' })
    await bed.prepared()
    await run('bash', ['-c', 'touch $(seq 1 5001)'], { cwd: bed.inWork('') })
    expect(failureOf(await bed.workspace.diff(taskId, never))).toMatchObject({ code: 'limit-hit', message: expect.stringContaining('5,001') })
  })
})

describe('patch text', () => {
  test('git applies the patch of any two texts', async () => {
    const line = fc.constantFrom('a', 'b', '', ' c', '-d', '+e', '\\', '@@ -1 +1 @@', 'ü', '\r', 'a\tb')
    const text = fc.tuple(fc.array(line, { maxLength: 25 }), fc.boolean()).map(([lines, end]) => lines.join('\n') + (end && lines.length > 0 ? '\n' : ''))
    await git(bed.project, 'init', '-q')
    await fc.assert(fc.asyncProperty(text, text, async (before, after) => {
      fc.pre(before !== after)
      await writeFile(join(bed.project, 'f o'), before)
      const side = (content: string): { mode: string; content: Uint8Array } => ({ mode: '100644', content: Buffer.from(content) })
      await writeFile(join(bed.dir, 'p'), textPatch('f o', side(before), side(after), await hunksBetween(before, after)))
      await git(bed.project, 'apply', '--whitespace=nowarn', join(bed.dir, 'p'))
      expect((await pictureOf(bed.project))['f o']).toBe(Buffer.from(after).toString('latin1'))
    }), { numRuns: 60 })
  })

  test('quotes names and names blobs as git does', async () => {
    await git(bed.project, 'init', '-q')
    const names = ['plain name', 'tab\there', 'new\nline', 'q"uote', 'back\\slash', 'ünï', '\u0001', '日本', "it's", '\u007f']
    for (const name of names) await writeFile(join(bed.project, name), name)
    const listed = (await git(bed.project, 'ls-files', '-o')).trim().split('\n')
    expect(names.map(quotePath).sort()).toEqual(listed.sort())
    expect(blobId(Buffer.from('plain name'))).toBe((await git(bed.project, 'hash-object', 'plain name')).trim())
  })
})

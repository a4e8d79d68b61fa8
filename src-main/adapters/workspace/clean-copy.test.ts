import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { digestSchema } from '../../../src-preload/contract/ids.ts'
import { failureOf, git, makeBed, never, pictureOf, putFiles, sampleDir, taskId, valueOf, type Bed } from './test-bed.suite.ts'
import { createWorkspace } from './workspace.ts'

let bed: Bed
beforeEach(async () => { bed = await makeBed() })
afterEach(() => bed.remove())

describe('a clean copy', () => {
  test('is the base with the changed files, and nothing else of the workspace', async () => {
    await bed.put({ '.gitignore': 'out/\n', 'a.txt': '1', 'b/c.txt': '2', 'b/d.txt': '3', 'to-folder': '', 'to-file/x': '' })
    await symlink('a.txt', join(bed.project, 'link'))
    await bed.prepared()
    await rm(bed.inWork('b/d.txt'))
    await rm(bed.inWork('to-folder'))
    await rm(bed.inWork('to-file'), { recursive: true })
    await putFiles(bed.inWork(''), { 'a.txt': 'edited', 'new/e.txt': 'added', 'to-folder/x': 'y', 'to-file': 'z', 'out/artefact': 'ignored', 'opencode.json': 'masked' })
    await chmod(bed.inWork('b/c.txt'), 0o755)
    const { treeDigest } = valueOf(await bed.workspace.diff(taskId, never))
    const copy = valueOf(await bed.workspace.cleanCopy(taskId, treeDigest, never))
    expect(copy).toMatchObject({ treeDigest, oracleDir: null, oracleCommand: null })
    expect(await pictureOf(copy.dir)).toEqual({
      '.gitignore': 'out/\n', 'a.txt': 'edited', 'b/': 'folder', 'b/c.txt': 'x:2', link: '-> a.txt', 'new/': 'folder', 'new/e.txt': 'added', 'to-folder/': 'folder', 'to-folder/x': 'y', 'to-file': 'z',
    })
    await writeFile(join(copy.dir, 'a.txt'), 'a test run may write here')
    expect(valueOf(await bed.workspace.diff(taskId, never)).treeDigest).toBe(treeDigest)
    await copy.release()
    expect(await readdir(join(copy.dir, '../..'))).toEqual([])
  })

  test('is refused for another tree than the expected one', async () => {
    await bed.put({ 'a.txt': '1' })
    const prepared = await bed.prepared()
    await writeFile(bed.inWork('a.txt'), '2')
    expect(failureOf(await bed.workspace.cleanCopy(taskId, prepared.baseDigest, never)).code).toBe('digest-mismatch')
    expect(failureOf(await bed.workspace.cleanCopy(taskId, digestSchema.parse(`sha256:${'0'.repeat(64)}`), never)).code).toBe('digest-mismatch')
  })

  test('of the sample has the held tests beside it, with their command', async () => {
    const prepared = valueOf(await bed.workspace.prepare(taskId, { kind: 'sample' }, never))
    const copy = valueOf(await bed.workspace.cleanCopy(taskId, prepared.baseDigest, never))
    expect(copy).toMatchObject({ oracleDir: join(sampleDir, 'oracle'), oracleCommand: 'bun test "$HELD_TESTS/shipping.held.test.ts"' })
    expect(await pictureOf(copy.dir)).toEqual(await pictureOf(join(sampleDir, 'project')))
    await copy.release()
  })

  test('of the sample has them also where the sample is a link, as in a start from the source tree', async () => {
    const linked = join(bed.dir, 'sample')
    await symlink(sampleDir, linked)
    const workspace = createWorkspace({ root: bed.tasks, sampleDir: linked, patchDir: bed.patches, homeDir: bed.home, clock: { now: () => 1 }, quotaBytes: () => 2 ** 40 })
    const prepared = valueOf(await workspace.prepare(taskId, { kind: 'sample' }, never))
    const copy = valueOf(await workspace.cleanCopy(taskId, prepared.baseDigest, never))
    expect(copy, 'a sandbox is given the real folder').toMatchObject({ oracleDir: join(sampleDir, 'oracle'), oracleCommand: 'bun test "$HELD_TESTS/shipping.held.test.ts"' })
    await copy.release()
  })

  test('left over by a crash is removed by the next; two in use do not disturb each other', async () => {
    await bed.put({ 'a.txt': '1' })
    const { baseDigest } = await bed.prepared()
    await mkdir(join(bed.tasks, taskId, 'verify', 'leftover'), { recursive: true })
    const one = valueOf(await bed.workspace.cleanCopy(taskId, baseDigest, never))
    const two = valueOf(await bed.workspace.cleanCopy(taskId, baseDigest, never))
    expect(await readdir(join(bed.tasks, taskId, 'verify'))).toHaveLength(2)
    await one.release()
    expect(await readFile(join(two.dir, 'a.txt'), 'utf8')).toBe('1')
    await two.release()
  })
})

describe('disposal', () => {
  test('keeps a patch and every changed file before anything is removed, and can be repeated', async () => {
    await bed.put({ 'a.txt': '1\n', 'gone.txt': '', 'same.txt': 'x'.repeat(200_000) })
    await bed.prepared()
    await putFiles(bed.inWork(''), { 'a.txt': '2\n', 'new/b.txt': '3\n' })
    await rm(bed.inWork('gone.txt'))
    const before = (await bed.workspace.usage())[0]?.bytes ?? 0
    const reviewed = valueOf(await bed.workspace.diff(taskId, never))
    valueOf(await bed.workspace.dispose(taskId))
    valueOf(await bed.workspace.dispose(taskId))
    expect(await pictureOf(join(bed.tasks, taskId, 'snapshot/files'))).toEqual({ 'a.txt': '2\n', 'new/': 'folder', 'new/b.txt': '3\n' })
    expect(JSON.parse(await readFile(join(bed.tasks, taskId, 'snapshot/summary.json'), 'utf8'))).toMatchObject({ changes: [{ path: 'a.txt', status: 'modified' }, { path: 'gone.txt', status: 'deleted' }, { path: 'new/b.txt', status: 'added' }] })
    expect((await readdir(join(bed.tasks, taskId))).sort()).toEqual(['meta.json', 'snapshot'])
    expect((await bed.workspace.usage())[0]?.bytes).toBeLessThan(before)
    expect(await bed.workspace.locate(taskId)).toBe(null)
    expect(valueOf(await bed.workspace.diff(taskId, never)), 'Review still shows what was reviewed').toEqual(reviewed)
    const patch = join(bed.dir, 'p.patch')
    valueOf(await bed.workspace.writePatch(taskId, patch))
    await git(bed.project, 'init', '-q')
    await git(bed.project, 'apply', patch)
    expect(await pictureOf(bed.project)).toMatchObject({ 'a.txt': '2\n', 'new/b.txt': '3\n' })
  })

  test('a snapshot that fails keeps the workspace', async () => {
    await bed.put({ 'a.txt': '1' })
    await bed.prepared()
    await writeFile(join(bed.tasks, taskId, 'base.jsonl'), 'damaged')
    expect(failureOf(await bed.workspace.dispose(taskId)).code).toBe('workspace-failed')
    expect(await pictureOf(bed.inWork(''))).toEqual({ 'a.txt': '1' })
  })

  test('removes what a coder made hard to remove: folders without permissions, paths longer than a call takes, links out', async () => {
    await bed.put({ 'a.txt': '1' })
    await writeFile(join(bed.dir, 'kept'), 'outside')
    await bed.prepared()
    await mkdir(bed.inWork('closed/in'), { recursive: true })
    await chmod(bed.inWork('closed'), 0o000)
    await symlink(bed.dir, bed.inWork('out'))
    execFileSync('bash', ['-c', `n=$(printf 'n%.0s' {1..250}); for i in {1..30}; do mkdir $n && cd -P $n || exit 1; done; touch x`], { cwd: bed.inWork('') })
    valueOf(await bed.workspace.dispose(taskId))
    expect((await readdir(join(bed.tasks, taskId))).sort()).toEqual(['meta.json', 'snapshot'])
    expect(await readFile(join(bed.dir, 'kept'), 'utf8')).toBe('outside')
  })

  test('of a task that was never fully prepared just removes what is there; of an unknown task is fine', async () => {
    await mkdir(join(bed.tasks, taskId, 'base'), { recursive: true })
    valueOf(await bed.workspace.dispose(taskId))
    valueOf(await bed.workspace.dispose(taskId))
    expect(await readdir(bed.tasks)).toEqual([])
  })

  test('removing leaves nothing of the task, its snapshot neither, whether it was disposed of before or not; then nothing can be shown of it', async () => {
    for (const disposed of [true, false]) {
      await bed.put({ 'a.txt': '1' })
      await bed.prepared()
      if (disposed) valueOf(await bed.workspace.dispose(taskId))
      valueOf(await bed.workspace.remove(taskId))
      expect(await readdir(bed.tasks)).toEqual([])
      expect(await bed.workspace.usage()).toEqual([])
      expect(failureOf(await bed.workspace.diff(taskId, new AbortController().signal)).message).toBe('Nothing of this task is on disk any more.')
      valueOf(await bed.workspace.remove(taskId))
    }
  })

  test('usage counts each task\'s blocks on disk and follows no link', async () => {
    await bed.put({ 'a.txt': 'x'.repeat(100_000) })
    await bed.prepared()
    await symlink('/usr', bed.inWork('system'))
    const [use] = await bed.workspace.usage()
    expect(use?.taskId).toBe(taskId)
    expect(use?.bytes).toBeGreaterThan(200_000)
    expect(use?.bytes).toBeLessThan(400_000)
  })
})

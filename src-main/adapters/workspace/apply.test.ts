import { chmod, link, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { failureOf, git, makeBed, never, pictureOf, putFiles, sampleDir, taskId, treeAfter, treeBefore, valueOf, workOn, type Bed } from './test-bed.suite.ts'

let bed: Bed
beforeEach(async () => { bed = await makeBed() })
afterEach(() => bed.remove())

describe('apply to a folder', () => {
  test('leaves exactly the accepted tree, keeps what git ignores, and no trace of itself', async () => {
    const digest = await workOn(bed)
    expect(await bed.workspace.observeApply(taskId, digest)).toBe('not-applied')
    expect(valueOf(await bed.workspace.apply(taskId, digest))).toEqual({ how: 'folder', detail: `12 files changed in ${bed.project}.`, patchPath: null })
    expect(await pictureOf(bed.project)).toEqual(treeAfter)
    expect(await bed.workspace.observeApply(taskId, digest)).toBe('applied')
    expect(valueOf(await bed.workspace.apply(taskId, digest)).detail).toContain('12 files')
    expect(await pictureOf(bed.project)).toEqual(treeAfter)
  })

  test('in a git repository: the owner sees the change as their own, nothing is staged or committed', async () => {
    await bed.put({ 'a.txt': '1\n', 'src/b.txt': '2\n' })
    await git(bed.project, 'init', '-q')
    await git(bed.project, 'add', '.')
    await git(bed.project, 'commit', '-qm', 'one')
    await bed.prepared()
    await putFiles(bed.inWork(''), { 'a.txt': '2\n', 'c.txt': '3\n' })
    const { treeDigest } = valueOf(await bed.workspace.diff(taskId, never))
    valueOf(await bed.workspace.apply(taskId, treeDigest))
    expect(await git(bed.project, 'status', '--porcelain')).toBe(' M a.txt\n?? c.txt\n')
  })

  test('keeps the owner\'s modes', async () => {
    await bed.put({ 'private.txt': '1', script: '2' })
    await chmod(join(bed.project, 'private.txt'), 0o600)
    await chmod(join(bed.project, 'script'), 0o750)
    await bed.prepared()
    await putFiles(bed.inWork(''), { 'private.txt': '3', script: '4' })
    const { treeDigest } = valueOf(await bed.workspace.diff(taskId, never))
    valueOf(await bed.workspace.apply(taskId, treeDigest))
    expect([(await stat(join(bed.project, 'private.txt'))).mode & 0o777, (await stat(join(bed.project, 'script'))).mode & 0o777]).toEqual([0o600, 0o750])
  })

  test('of a large file and names at their limits', async () => {
    const name = 'n'.repeat(255)
    await bed.put({ [name]: '1', 'new\nline': '1', large: 'x'.repeat(1_000_000), Twin: '1', twin: '2' })
    await bed.prepared()
    await putFiles(bed.inWork(''), { [name]: '2', 'new\nline': '2', large: 'y'.repeat(2_000_001), twin: '3', TWIN: '4' })
    const { treeDigest } = valueOf(await bed.workspace.diff(taskId, never))
    valueOf(await bed.workspace.apply(taskId, treeDigest))
    expect(await pictureOf(bed.project)).toEqual({ [name]: '2', 'new\nline': '2', large: 'y'.repeat(2_000_001), Twin: '1', twin: '3', TWIN: '4' })
  })

  test('does not reach through a hard link to what the folder shares with another place', async () => {
    await writeFile(join(bed.dir, 'elsewhere'), '1')
    await link(join(bed.dir, 'elsewhere'), join(bed.project, 'shared'))
    await bed.prepared()
    await writeFile(bed.inWork('shared'), '2')
    const { treeDigest } = valueOf(await bed.workspace.diff(taskId, never))
    valueOf(await bed.workspace.apply(taskId, treeDigest))
    expect([await readFile(join(bed.dir, 'elsewhere'), 'utf8'), await readFile(join(bed.project, 'shared'), 'utf8')]).toEqual(['1', '2'])
  })
})

describe('apply is refused, and nothing is touched, when', () => {
  const changes: Readonly<Record<string, () => Promise<unknown>>> = {
    'edit.txt (modified)': () => writeFile(join(bed.project, 'edit.txt'), 'owner\n'),
    'stay (modified)': () => writeFile(join(bed.project, 'stay'), 'owner\n'),
    'run (modified)': () => chmod(join(bed.project, 'run'), 0o755),
    'gone.txt (deleted)': () => rm(join(bed.project, 'gone.txt')),
    'mine.txt (added)': () => writeFile(join(bed.project, 'mine.txt'), ''),
    'new/deep/er.txt (added)': () => putFiles(bed.project, { 'new/deep/er.txt': 'owner' }),
    'link (modified)': async () => { await rm(join(bed.project, 'link')); await symlink('run', join(bed.project, 'link')) },
    'd/only.txt (deleted)': async () => { await rename(join(bed.project, 'd'), join(bed.dir, 'moved')); await symlink(join(bed.dir, 'moved'), join(bed.project, 'd')) },
  }
  test.each(Object.keys(changes))('the folder changed underneath: %s', async (name) => {
    const digest = await workOn(bed)
    await changes[name]?.()
    const picture = await pictureOf(bed.project)
    expect(failureOf(await bed.workspace.apply(taskId, digest))).toMatchObject({ code: 'folder-changed', message: expect.stringContaining(name) })
    expect(await pictureOf(bed.project)).toEqual(picture)
    expect(await bed.workspace.observeApply(taskId, digest)).toBe('not-applied')
  })

  test('the folder is gone, or another tree than the accepted one is in the workspace', async () => {
    const digest = await workOn(bed)
    await writeFile(bed.inWork('edit.txt'), 'late edit')
    expect(failureOf(await bed.workspace.apply(taskId, digest)).code).toBe('digest-mismatch')
    expect(await pictureOf(bed.project)).toEqual(treeBefore)
    await writeFile(bed.inWork('edit.txt'), 'new\n')
    await rename(bed.project, join(bed.dir, 'away'))
    expect(failureOf(await bed.workspace.apply(taskId, digest)).code).toBe('folder-changed')
  })

  test('something that does not count is in the way: an ignored file, a link out, a FIFO\'s place', async () => {
    await bed.put({ '.gitignore': 'x.log\n', 'a.txt': '' })
    await symlink('/etc', join(bed.project, 'etc'))
    await bed.prepared()
    await putFiles(bed.inWork(''), { 'etc/passwd': 'evil' })
    const { treeDigest } = valueOf(await bed.workspace.diff(taskId, never))
    expect(failureOf(await bed.workspace.apply(taskId, treeDigest))).toMatchObject({ code: 'apply-failed', message: expect.stringContaining('etc is in the way') })
    await rm(bed.inWork('etc'), { recursive: true })
    await writeFile(bed.inWork('etc'), 'evil')
    const again = valueOf(await bed.workspace.diff(taskId, never)).treeDigest
    expect(failureOf(await bed.workspace.apply(taskId, again))).toMatchObject({ code: 'apply-failed', message: expect.stringContaining('etc is in the way') })
    expect(await readFile('/etc/passwd', 'utf8')).not.toContain('evil')
    expect(Object.keys(await pictureOf(bed.project))).toEqual(['.gitignore', 'a.txt', 'etc'])
  })

  test('a folder that has to give way to a file still holds something of the owner\'s', async () => {
    await bed.put({ '.gitignore': '*.log\n', 'd/a.txt': '1', 'z.txt': '1' })
    await bed.prepared()
    await bed.put({ 'd/mine.log': 'precious' })
    await rm(bed.inWork('d'), { recursive: true })
    await putFiles(bed.inWork(''), { d: 'file', 'z.txt': '2' })
    const { treeDigest } = valueOf(await bed.workspace.diff(taskId, never))
    expect(failureOf(await bed.workspace.apply(taskId, treeDigest))).toMatchObject({ code: 'apply-failed', message: expect.stringContaining('d is in the way') })
    expect(await pictureOf(bed.project)).toEqual({ '.gitignore': '*.log\n', 'd/': 'folder', 'd/a.txt': '1', 'd/mine.log': 'precious', 'z.txt': '1' })
  })
})

describe('apply of the sample', () => {
  test('leaves a patch file that git applies to the sample, and can be observed', async () => {
    const prepared = valueOf(await bed.workspace.prepare(taskId, { kind: 'sample' }, never))
    await writeFile(join(prepared.workspaceDir, 'src/shipping.ts'), 'export {}\n')
    const { treeDigest } = valueOf(await bed.workspace.diff(taskId, never))
    expect(await bed.workspace.observeApply(taskId, treeDigest)).toBe('not-applied')
    const patchPath = join(bed.patches, `${taskId}.patch`)
    expect(valueOf(await bed.workspace.apply(taskId, treeDigest))).toMatchObject({ how: 'patch-file', patchPath })
    expect(await bed.workspace.observeApply(taskId, treeDigest)).toBe('applied')
    await putFiles(bed.project, { 'src/shipping.ts': await readFile(join(sampleDir, 'project/src/shipping.ts'), 'utf8') })
    await git(bed.project, 'init', '-q')
    await git(bed.project, 'apply', patchPath)
    expect(await readFile(join(bed.project, 'src/shipping.ts'), 'utf8')).toBe('export {}\n')
    valueOf(await bed.workspace.dispose(taskId))
    expect(await bed.workspace.observeApply(taskId, treeDigest)).toBe('applied')
  })
})

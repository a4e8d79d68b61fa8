import { spawn, spawnSync, execFileSync, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeBed, never, taskId, valueOf, type Bed } from '../adapters/workspace/test-bed.suite.ts'

/*
 * Somebody swaps a folder and a file for links that lead out, as fast as the kernel can, while the host reads. Each name is a folder (or file) at one moment and
 * a link at the next, never absent: whoever checks a path and then uses it is caught.
 */
const secret = 'the owner\'s secret'
const exchange = process.arch === 'arm64' ? 276 : 316
/** renameat2(2) with RENAME_EXCHANGE, on both pairs, until it is killed. Says `swapping` once it has begun. */
const swapper = `$| = 1; $n = 0; while (1) { for (["d", "d.link"], ["f", "f.link"]) { syscall(${String(exchange)}, -100, $$_[0], -100, $$_[1], 2) == 0 or die "$!" } print "swapping\\n" if $n++ == 0 }`
/** At least, and until one came through: how often the swapper is caught in the act depends on the machine. */
const rounds = 12

let bed: Bed
let outside: string
let swapping: ChildProcess | null = null
beforeEach(async () => {
  bed = await makeBed()
  outside = join(bed.dir, 'outside')
  await mkdir(join(outside, 'deep'), { recursive: true })
  await writeFile(join(outside, 'inner'), secret)
  await writeFile(join(outside, 'deep/inner'), secret)
})
afterEach(async () => {
  swapping?.kill('SIGKILL')
  swapping = null
  await bed.remove()
})

async function layPairs(folder: string): Promise<void> {
  await mkdir(join(folder, 'd/deep'), { recursive: true })
  for (const path of ['d/inner', 'd/deep/inner', 'f']) await writeFile(join(folder, path), 'harmless')
  await symlink(outside, join(folder, 'd.link'))
  await symlink(join(outside, 'inner'), join(folder, 'f.link'))
}

async function swapIn(folder: string): Promise<void> {
  swapping = spawn('perl', ['-e', swapper], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise<void>((done, fail) => { swapping?.stdout?.once('data', () => { done() }); swapping?.once('exit', (code) => { fail(new Error(`the swapper ended with ${String(code)}`)) }) })
}

/** Whether the secret is in a file or anywhere below a folder, where there is one; links are not followed. @throws when that cannot be told */
function holdsSecret(path: string): boolean {
  const { status, stderr } = spawnSync('grep', ['-rq', '--', secret, path], { encoding: 'utf8' })
  if (status !== 0 && status !== 1 && existsSync(path)) throw new Error(`grep ended with ${String(status)}: ${stderr}`)
  return status === 0
}

describe('while folders and files are swapped for links', () => {
  test('whoever follows paths is caught: control', async () => {
    expect(holdsSecret(outside)).toBe(true)
    await layPairs(bed.project)
    await swapIn(bed.project)
    await expect.poll(() => readFile(join(bed.project, 'd/deep/inner'), 'utf8'), { timeout: 20_000, interval: 0 }).toBe(secret)
    await expect.poll(() => readFile(join(bed.project, 'f'), 'utf8'), { timeout: 20_000, interval: 0 }).toBe(secret)
  })

  test('a copy of the owner\'s folder holds nothing of outside', { timeout: 120_000 }, async () => {
    await layPairs(bed.project)
    await swapIn(bed.project)
    let copied = 0
    for (let round = 0; round < rounds || copied === 0; round += 1) {
      const prepared = await bed.open().prepare(taskId, { kind: 'folder', path: bed.project, mounts: [] }, never)
      if (prepared.ok) copied += 1
      else expect(prepared.error.code).toMatch(/^(workspace-failed|folder-refused)$/)
      expect(holdsSecret(bed.tasks)).toBe(false)
      await bed.workspace.dispose(taskId)
      execFileSync('rm', ['-rf', '--', join(bed.tasks, taskId)])
    }
  })

  test('a diff, a clean copy and an apply show and carry over nothing of outside, and write nothing there', { timeout: 120_000 }, async () => {
    await writeFile(join(bed.project, 'plain.txt'), 'as it was')
    await bed.prepared()
    await writeFile(bed.inWork('plain.txt'), 'worked on')
    await layPairs(bed.inWork(''))
    await swapIn(bed.inWork(''))
    let compared = 0
    for (let round = 0; round < rounds || compared === 0; round += 1) {
      const diff = await bed.workspace.diff(taskId, never)
      if (!diff.ok) continue
      compared += 1
      expect(JSON.stringify(diff.value)).not.toContain(secret)
      const copy = await bed.workspace.cleanCopy(taskId, diff.value.treeDigest, never)
      if (copy.ok) {
        expect(holdsSecret(copy.value.dir)).toBe(false)
        await copy.value.release()
      }
      await bed.workspace.apply(taskId, diff.value.treeDigest)
      await bed.workspace.writePatch(taskId, join(bed.dir, 'out.patch'))
      expect([holdsSecret(bed.project), holdsSecret(join(bed.dir, 'out.patch'))]).toEqual([false, false])
    }
    expect((await readdir(outside)).sort()).toEqual(['deep', 'inner'])
  })

  test('an apply into an owner\'s folder that is swapped under it writes nothing outside', { timeout: 120_000 }, async () => {
    await layPairs(bed.project)
    await writeFile(join(bed.project, 'plain.txt'), 'as it was')
    await bed.prepared()
    for (const path of ['d/inner', 'd/new', 'f']) await writeFile(bed.inWork(path), 'from the coder')
    const { treeDigest } = valueOf(await bed.workspace.diff(taskId, never))
    await swapIn(bed.project)
    for (let round = 0; round < rounds; round += 1) {
      const applied = await bed.open().apply(taskId, treeDigest)
      // At whichever step a swap meets it: refused in words, never broken off.
      if (!applied.ok) expect(applied.error.code).toMatch(/^(workspace-failed|folder-changed|apply-failed)$/)
    }
    expect([await readFile(join(outside, 'inner'), 'utf8'), (await readdir(outside)).sort()]).toEqual([secret, ['deep', 'inner']])
  })
})

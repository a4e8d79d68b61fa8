import { execFile } from 'node:child_process'
import { lstat, mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defaultSandboxLimits } from '../../src-preload/contract/limits.ts'
import { createBubblewrapSandbox } from '../adapters/sandbox/bubblewrap-sandbox.ts'
import { openCodeBinary } from '../adapters/sandbox/sandbox.suite.ts'
import { makeBed, never, taskId, valueOf, type Bed } from '../adapters/workspace/test-bed.suite.ts'
import type { CommandRun, Sandbox } from '../engine/ports.ts'
import { hostileTrees, type HostileTree } from './hostile-trees.suite.ts'

/*
 * Each tree is copied in, worked on in the sandbox, diffed, verified in a clean copy and applied. Whatever it holds: what lies outside is as it was, nothing of
 * it ran on the host, and the owner is told of each oddity or it is refused.
 */
const execute = promisify(execFile)
const root = process.getuid?.() === 0
let bed: Bed
let outside: string
let sandbox: Sandbox
beforeEach(async () => {
  bed = await makeBed()
  outside = join(bed.dir, 'outside')
  await mkdir(outside)
  await writeFile(join(outside, 'secret'), 'the owner\'s secret\n')
  let count = 0
  sandbox = createBubblewrapSandbox({ runRoot: join(bed.dir, 'run'), openCodeBinary: () => openCodeBinary, limits: () => defaultSandboxLimits, clock: { now: () => Date.now() }, ids: { next: (prefix) => `${prefix}_${String((count += 1))}` } })
})
afterEach(() => bed.remove())

async function build(tree: HostileTree): Promise<void> {
  await writeFile(join(bed.project, 'plain.txt'), 'as it was\n')
  if (tree.owner !== undefined) await execute('/bin/bash', ['-c', `set -e; ${tree.owner}`], { cwd: bed.project, env: { PATH: process.env['PATH'], HOME: bed.home, OUT: outside, LC_ALL: 'C.UTF-8', GIT_CONFIG_NOSYSTEM: '1' } })
}

async function inSandbox(workspaceDir: string, text: string): Promise<CommandRun> {
  return valueOf(await sandbox.run({ workspaceDir, text, cwd: '/workspace', mounts: [], timeoutMs: 60_000, outputBytesMax: 1_000_000, readOnly: [] }, never))
}

/** Everything of a folder with the time of its last change, so that even a touch shows. */
async function imprint(folder: string): Promise<readonly string[]> {
  return (await execute('find', ['-P', folder, '-printf', '%P %m %s %T@ %U\\n'])).stdout.split('\n').sort()
}

/** One path of the owner's folder as `after` tells it. */
async function entryAt(path: string): Promise<string | null> {
  const at = join(bed.project, path)
  const stat = await lstat(at).catch(() => null)
  if (stat === null) return null
  if (stat.isSymbolicLink()) return `-> ${await readlink(at)}`
  if (!stat.isFile()) return 'no file'
  return `${(stat.mode & 0o100) === 0 ? '' : 'x:'}${await readFile(at, 'utf8')}`
}

async function expectOwnersFolder({ after, refused }: HostileTree): Promise<void> {
  for (const [path, content] of Object.entries({ ...(refused === undefined ? { 'plain.txt': 'worked on\n' } : { 'plain.txt': 'as it was\n' }), ...after })) expect(await entryAt(path), path).toBe(content)
  // No program with somebody else's rights is made of anything that the coder or a folder brings along, but what the owner had.
  const set = (await execute('find', ['-P', bed.project, '-perm', '/6000', '-newer', join(bed.dir, 'built')])).stdout
  expect(set).toBe('')
}

/** The whole way of a task. Returns what the owner was told on it. */
async function goThrough(tree: HostileTree): Promise<readonly string[]> {
  const prepared = await bed.workspace.prepare(taskId, { kind: 'folder', path: bed.project, mounts: [] }, never)
  if (tree.refused?.at === 'prepare') {
    expect(prepared).toMatchObject({ ok: false, error: { code: tree.refused.code } })
    return []
  }
  const { workspaceDir, notes, readme, listing } = valueOf(prepared)
  for (const path of tree.notCopied ?? []) expect(await lstat(join(workspaceDir, path)).catch(() => null), path).toBe(null)
  expect(JSON.stringify([readme, listing])).not.toContain('owner\'s secret')
  const worked = await inSandbox(workspaceDir, `echo "worked on" > plain.txt && { ${tree.work ?? 'true'}; }`)
  expect(worked).toMatchObject({ exitCode: 0, limitHit: null })
  const diff = valueOf(await bed.workspace.diff(taskId, never))
  expect(diff.files.length).toBeGreaterThan(0)
  if (tree.holdsSecret !== true) expect(diff.files.map(({ patch }) => patch ?? '').join('')).not.toContain('owner\'s secret')
  const copy = valueOf(await bed.workspace.cleanCopy(taskId, diff.treeDigest, never))
  expect(copy.treeDigest).toBe(diff.treeDigest)
  expect(await inSandbox(copy.dir, 'ls -A >/dev/null; find . -xdev -type l -exec readlink {} + >/dev/null; true')).toMatchObject({ exitCode: 0 })
  await copy.release()
  const applied = await bed.workspace.apply(taskId, diff.treeDigest)
  if (tree.refused?.at === 'apply') expect(applied).toMatchObject({ ok: false, error: { code: tree.refused.code, message: expect.stringContaining('in the way') as string } })
  else expect(applied).toMatchObject({ ok: true, value: { how: 'folder' } })
  return [...notes, ...(diff.notes ?? [])]
}

describe.each(hostileTrees.map((tree) => [tree.by, tree.name, tree] as const))('%s holds %s', (_by, _name, tree) => {
  test.skipIf(tree.rootOnly === true && !root)('and nothing outside changes, nothing of it runs, and it is told or refused', { timeout: 120_000 }, async () => {
    await build(tree)
    await writeFile(join(bed.dir, 'built'), '')
    const before = await imprint(outside)
    const told = await goThrough(tree)
    expect(await imprint(outside)).toEqual(before)
    expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('the owner\'s secret\n')
    expect((await execute('find', ['-P', bed.dir, '-name', 'ran'])).stdout).toBe('')
    for (const words of tree.told ?? []) expect(told.join('\n')).toContain(words)
    await expectOwnersFolder(tree)
  })
})

test('there are more than sixty, as the README says', () => { expect(new Set(hostileTrees.map(({ by, name }) => `${by} ${name}`)).size).toBeGreaterThan(60) })

test('a tree that does run on the host would be seen: control', async () => {
  await build({ name: 'control', owner: 'git init -q .; git config core.fsmonitor "touch $OUT/ran; false"; git add -A' })
  await execute('git', ['status'], { cwd: bed.project })
  expect(await readdir(outside)).toContain('ran')
})

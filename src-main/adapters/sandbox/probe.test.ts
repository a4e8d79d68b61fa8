import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { defaultSandboxLimits } from '../../../src-preload/contract/limits.ts'
import { isolationReportSchema, type SandboxLimits } from '../../../src-preload/contract/task.ts'
import type { Sandbox } from '../../engine/ports.ts'
import { createBubblewrapSandbox } from './bubblewrap-sandbox.ts'
import { openCodeBinary } from './sandbox.suite.ts'

let dir: string
let now = 0
beforeEach(() => { dir = mkdtempSync(join(tmpdir(), 'pb-')); now = 100 })
afterEach(() => { rmSync(dir, { recursive: true, force: true }) })

const open = (change: { readonly bwrapPath?: string; readonly runRoot?: string; readonly limits?: () => SandboxLimits } = {}): Sandbox =>
  createBubblewrapSandbox({ runRoot: join(dir, 'run'), openCodeBinary: () => openCodeBinary, limits: () => defaultSandboxLimits, clock: { now: () => (now += 1) }, ids: { next: (prefix) => prefix }, ...change })

function fakeBwrap(script: string): string {
  const path = join(dir, 'bwrap')
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  return path
}

test('finds this system usable, says how, and leaves nothing behind', async () => {
  const report = isolationReportSchema.parse(await open().probe())
  expect(report).toMatchObject({ usable: true, level: 'bubblewrap', failure: null, summary: expect.stringContaining('bubblewrap') as string })
  expect(readdirSync(join(dir, 'run'))).toEqual([])
})

test('a bubblewrap that was only unpacked into a private folder works as well, so that one can ship', async () => {
  mkdirSync(join(dir, 'private'), { mode: 0o700 })
  copyFileSync('/usr/bin/bwrap', join(dir, 'private/bwrap'))
  chmodSync(join(dir, 'private/bwrap'), 0o755)
  expect(await open({ bwrapPath: join(dir, 'private/bwrap') }).probe()).toMatchObject({ usable: true, detail: expect.stringContaining(join(dir, 'private/bwrap')) as string })
})

test('nothing runs once the sandbox does not work any more, and the reason is given', async () => {
  const sandbox = open({ bwrapPath: fakeBwrap('echo "bwrap: setting up uid map: Permission denied" >&2; exit 1') })
  const spec = { workspaceDir: dir, text: 'true', cwd: '/workspace', mounts: [], timeoutMs: 1_000, outputBytesMax: 1_000, readOnly: [] }
  expect(await sandbox.run(spec, new AbortController().signal)).toMatchObject({ ok: false, error: { code: 'isolation-unavailable', message: expect.stringContaining('AppArmor') as string } })
})

test('asks the system once for concurrent callers and for some seconds', async () => {
  const sandbox = open()
  const [first, second] = await Promise.all([sandbox.probe(), sandbox.probe()])
  expect(second).toBe(first)
  expect(await sandbox.probe()).toBe(first)
})

test('a missing bubblewrap is named, with what to install', async () => {
  expect(await open({ bwrapPath: join(dir, 'missing') }).probe()).toMatchObject({ usable: false, level: 'none', failure: { code: 'isolation-unavailable', message: expect.stringContaining('bubblewrap is not installed') as string, todo: expect.stringContaining('apt install bubblewrap') as string } })
})

test.each([
  ['echo "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces." >&2; exit 1', /does not let ordinary users/],
  ['echo "bwrap: Unknown option --disable-userns" >&2; exit 1', /too old/],
  ['echo "bwrap: setting up uid map: Permission denied" >&2; exit 1', /AppArmor/],
  ['exit 1', /said nothing/],
])('a bubblewrap that answers “%s” makes the system unusable with its reason', async (script, reason) => {
  const report = await open({ bwrapPath: fakeBwrap(script) }).probe()
  expect(report.usable).toBe(false)
  expect(report.failure?.message).toMatch(reason)
})

test('a bubblewrap that hangs does not hang the probe', async () => {
  const report = await open({ bwrapPath: fakeBwrap('exec sleep 987645') }).probe()
  expect(report).toMatchObject({ usable: false, failure: { message: expect.stringContaining('not set up within') as string } })
})

test('works where the data folder\'s path is too long for a socket, but in no folder of somebody else', async () => {
  const temporary = process.env['TMPDIR']
  process.env['TMPDIR'] = dir
  const deep = join(dir, 'x'.repeat(90))
  expect(await open({ runRoot: deep }).probe()).toMatchObject({ usable: true })
  const [made] = readdirSync(dir).filter((name) => name.startsWith('countersign-'))
  chmodSync(join(dir, made ?? ''), 0o777)
  await expect(open({ runRoot: deep }).probe()).rejects.toThrow('belongs to somebody else')
  if (temporary === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = temporary
})

test('names the limits in force, and looks again when the owner has set others', async () => {
  let limits: SandboxLimits = defaultSandboxLimits
  const sandbox = open({ limits: () => limits })
  expect(await sandbox.probe()).toMatchObject({ limits, summary: expect.stringContaining('at most 4 GiB of memory, 512 processes, 30 min of processor time, 2 GiB a file') as string })
  limits = { memoryBytesMax: 1.5 * 2 ** 30, processesMax: 300, commandCpuMsMax: 60_000, fileBytesMax: 64 * 2 ** 20 }
  expect(isolationReportSchema.parse(await sandbox.probe())).toMatchObject({ usable: true, limits, summary: expect.stringContaining('at most 1536 MiB of memory, 300 processes, 1 min of processor time, 64 MiB a file') as string })
})

test('limits above what the app itself may have make the system unusable, with the reason, before a task begins', async () => {
  const limited = fakeBwrap('ulimit -f 1000; exec /usr/bin/bwrap "$@"')
  expect(await open({ bwrapPath: limited }).probe()).toMatchObject({ usable: false, failure: { code: 'isolation-unavailable', message: expect.stringContaining('no more than') as string, todo: expect.stringContaining('Settings → Isolation') as string } })
})

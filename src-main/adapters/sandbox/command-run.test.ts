import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { CommandRun } from '../../engine/ports.ts'
import { openBench, type Bench } from './sandbox.suite.ts'

let bench: Bench
beforeEach(() => { bench = openBench() })
afterEach(() => bench.close())

async function run(text: string, change?: Parameters<Bench['run']>[1]): Promise<CommandRun> {
  const ran = await bench.run(text, change)
  if (!ran.ok) throw new Error(`${ran.error.message} ${ran.error.todo}`)
  return ran.value
}
const sha256 = (bytes: string): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

test('delivers exit code, digest and text of a command', async () => {
  expect(await run('echo out; exit 3')).toMatchObject({ exitCode: 3, refused: null, limitHit: null, logTail: 'out\n', logDigest: sha256('out\n'), text: 'echo out; exit 3', cwd: '/workspace' })
})

test('names the limits that it ran within', async () => {
  bench.limits = { ...bench.limits, processesMax: 200, fileBytesMax: 64 * 2 ** 20 }
  expect((await run('true')).limits).toEqual(bench.limits)
})

test('keeps stdout and stderr in the order of writing, also through /dev/stdout and /dev/stderr', async () => {
  const wanted = Array.from({ length: 200 }, (_value, index) => `o${String(index)}\ne${String(index)}\n`).join('')
  expect((await run('for i in {0..199}; do echo o$i; echo e$i >&2; done')).logDigest).toBe(sha256(wanted))
  expect((await run('echo a > /dev/stdout; echo b > /dev/stderr; echo c')).logTail).toBe('a\nb\nc\n')
})

test('delivers 3 MB intact', async () => {
  const whole = Array.from({ length: 400_000 }, (_value, index) => `${String(index + 1)}\n`).join('') + 'x'.repeat(300_000)
  const ran = await run('seq 400000; head -c 300000 /dev/zero | tr "\\0" x')
  expect(whole.length).toBeGreaterThan(2_900_000)
  expect(ran).toMatchObject({ exitCode: 0, logDigest: sha256(whole) })
  expect(ran.logTail).toBe('x'.repeat(16_000))
})

test('gives bytes of the text on as they are', async () => {
  const text = 'cat <<\'END\'\n\ttab "quote" $HOME `x` \\ ünïcode 😀\nEND\n'
  expect((await run(text)).logTail).toBe('\ttab "quote" $HOME `x` \\ ünïcode 😀\n')
})

test('tells a signal by its number', async () => {
  expect(await run('kill -9 $$')).toMatchObject({ exitCode: 137, limitHit: null })
})

test('reads nothing from the host', async () => {
  expect((await run('cat; echo end')).logTail).toBe('end\n')
})

test('ends what runs too long, with everything it started', async () => {
  const ran = await run('setsid sleep 987654 & (setsid nohup sleep 987654 &) ; sleep 987654', { timeoutMs: 400 })
  expect(ran).toMatchObject({ exitCode: null, limitHit: 'ran longer than 400 ms' })
})

test('ends what writes too much and keeps what fits', async () => {
  const ran = await run('yes', { outputBytesMax: 1_000 })
  expect(ran).toMatchObject({ exitCode: null, limitHit: 'wrote more than 1000 bytes', logTail: 'y\n'.repeat(500), logDigest: sha256('y\n'.repeat(500)) })
})

test('ends a command when its caller gives up', async () => {
  const caller = new AbortController()
  const running = bench.run('echo started > /workspace/flag; sleep 987654', { signal: caller.signal })
  while (!readdirSync(bench.workspaceDir).includes('flag')) await new Promise((done) => setImmediate(done))
  caller.abort()
  expect(await running).toMatchObject({ ok: true, value: { exitCode: null, limitHit: 'was stopped before it ended' } })
})

test('starts nothing for a caller who gave up before', async () => {
  expect(await bench.run('touch /workspace/flag', { signal: AbortSignal.abort() })).toMatchObject({ ok: false, error: { code: 'cancelled' } })
  expect(readdirSync(bench.workspaceDir)).toEqual([])
})

test('a daemon that a command leaves behind is gone with it', async () => {
  const ran = await run('setsid sleep 987653 >/dev/null 2>&1 & disown; echo done')
  expect(ran).toMatchObject({ exitCode: 0, logTail: 'done\n' })
  expect((await run('ls /proc | grep -c "^[0-9]"')).exitCode).toBe(0)
})

test('runs where it is told to and refuses links and what is outside', async () => {
  mkdirSync(join(bench.workspaceDir, 'sub dir'))
  symlinkSync('/usr', join(bench.workspaceDir, 'link'))
  expect((await run('pwd', { cwd: '/workspace/sub dir' })).logTail).toBe('/workspace/sub dir\n')
  for (const cwd of ['/workspace/link', '/usr', '/workspace/../usr', '/workspace/missing', '/workspace/', 'workspace']) {
    expect(await bench.run('pwd', { cwd })).toMatchObject({ ok: false, error: { code: 'command-refused' } })
  }
})

test('refuses a workspace whose OpenCode folder is a link', async () => {
  symlinkSync('/etc', join(bench.workspaceDir, '.opencode'))
  expect(await bench.run('true')).toMatchObject({ ok: false, error: { code: 'sandbox-failed', message: expect.stringContaining('.opencode') as string } })
})

test('leaves no mount point and no file of ours behind', async () => {
  await run('true')
  expect(readdirSync(bench.workspaceDir)).toEqual([])
  expect(readdirSync(bench.runRoot)).toEqual([])
})

test('shows chosen folders read-only, where they were chosen to be', async () => {
  const deps = join(bench.dir, 'deps')
  mkdirSync(join(deps, 'bin'), { recursive: true })
  writeFileSync(join(deps, 'bin', 'chosen-tool'), '#!/bin/sh\necho tool\n', { mode: 0o755 })
  const mount = { id: 'm', label: 'deps', hostPath: deps, mode: 'read-only' } as const
  const mounts = [{ ...mount, kind: 'dependency', into: 'packages/a/node_modules', pathEntry: null }, { ...mount, kind: 'toolchain', into: '/opt/chosen', pathEntry: '/opt/chosen/bin' }] as const
  const ran = await run('chosen-tool; ls packages/a/node_modules; (echo x > packages/a/node_modules/x) 2>/dev/null || echo read-only; ls "$HELD"; (echo x > /oracle/x) 2>/dev/null || echo read-only', { mounts, readOnly: [{ hostPath: deps, into: '/oracle', variable: 'HELD' }] })
  expect(ran.logTail).toBe('tool\nbin\nread-only\nbin\nread-only\n')
  expect(readdirSync(bench.workspaceDir)).toEqual([])
})

test('refuses to mount anything over the sandbox\'s own places', async () => {
  expect((await bench.run('true', { readOnly: [{ hostPath: bench.dir, into: '/usr/share' }] })).ok).toBe(false)
})

test('runs tests with the bun that ships, and passes its exit code on', async () => {
  writeFileSync(join(bench.workspaceDir, 'sum.test.ts'), 'import { expect, test } from "bun:test"\ntest("adds", () => { expect(1 + 1).toBe(2) })\n')
  expect(await run('bun test')).toMatchObject({ exitCode: 0, logTail: expect.stringContaining('1 pass') as string })
  writeFileSync(join(bench.workspaceDir, 'sum.test.ts'), 'import { expect, test } from "bun:test"\ntest("adds", () => { expect(1 + 1).toBe(3) })\n')
  expect(await run('bun test')).toMatchObject({ exitCode: 1, logTail: expect.stringContaining('1 fail') as string })
})

test('runs several commands at once without mixing them up', async () => {
  const runs = await Promise.all([1, 2, 3, 4, 5].map((n) => run(`for i in {1..50}; do echo ${String(n)}; done`)))
  expect(runs.map((ran) => ran.logTail)).toEqual([1, 2, 3, 4, 5].map((n) => `${String(n)}\n`.repeat(50)))
})

import { chmodSync, lstatSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openBench, order, type Bench } from './sandbox.suite.ts'
import { droppedCommand, handOver, isRoot, staged, strangerId } from './unprivileged.ts'

const programs = { unshare: '/usr/bin/unshare', mount: '/usr/bin/mount', mkdir: '/usr/bin/mkdir', setpriv: '/usr/bin/setpriv', sh: '/bin/sh' }
let bench: Bench
beforeEach(() => { bench = openBench() })
afterEach(() => bench.close())

/** Real, effective, saved and file-system ids, as the host's kernel knows them (proc(5)). */
function idsOf(pid: number): readonly string[] {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'latin1')
  return ['Uid', 'Gid'].flatMap((name) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1]?.split(/\s+/) ?? [])
}

describe('nobody in a sandbox is root, whoever the app is', () => {
  const expected = isRoot() ? String(strangerId) : String(process.getuid?.())

  test('neither the agent, nor what it starts', async () => {
    const agent = await bench.start()
    expect(new Set(idsOf(agent.pid))).toEqual(new Set([expected]))
    const { value } = await order(agent, { eval: 'return require("fs").readFileSync("/proc/self/uid_map", "latin1").trim().split(/\\s+/)' })
    expect(value).toEqual(['1000', '0', '1'])
  })

  test('nor a command: what it makes belongs to who it runs as', async () => {
    expect(await bench.run('echo x > made; mkdir d; id -u')).toMatchObject({ ok: true, value: { logTail: '1000\n' } })
    expect(['made', 'd'].map((name) => String(lstatSync(join(bench.workspaceDir, name)).uid))).toEqual([expected, expected])
  })

  test('nor bwrap itself, which waits outside', async () => {
    const agent = await bench.start()
    const parent = /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${String(agent.pid)}/status`, 'latin1'))?.[1]
    expect(new Set(idsOf(Number(parent)))).toEqual(new Set([expected]))
    expect(readFileSync(`/proc/${String(Number(parent))}/status`, 'latin1')).toMatch(/^CapEff:\t0000000000000000$/m)
  })
})

test('a sandbox reaches its workspace below a folder that only the app may enter, and finds it writable', async () => {
  chmodSync(bench.dir, 0o700)
  mkdirSync(join(bench.workspaceDir, 'sub'), { mode: 0o700 })
  writeFileSync(join(bench.workspaceDir, 'sub/kept'), 'old', { mode: 0o600 })
  expect(await bench.run('cat sub/kept && echo new > sub/kept && echo x > sub/more && rm sub/more && echo done')).toMatchObject({ value: { exitCode: 0, logTail: 'olddone\n' } })
  expect(readFileSync(join(bench.workspaceDir, 'sub/kept'), 'utf8')).toBe('new\n')
})

test('handing over follows no link', async () => {
  writeFileSync(join(bench.dir, 'mine'), '')
  mkdirSync(join(bench.dir, 'my-folder'))
  writeFileSync(join(bench.dir, 'my-folder/inner'), '')
  symlinkSync(join(bench.dir, 'mine'), join(bench.workspaceDir, 'to-file'))
  symlinkSync(join(bench.dir, 'my-folder'), join(bench.workspaceDir, 'to-folder'))
  await handOver(bench.workspaceDir)
  const own = process.getuid?.()
  expect(['mine', 'my-folder', 'my-folder/inner'].map((name) => lstatSync(join(bench.dir, name)).uid)).toEqual([own, own, own])
})

test.runIf(isRoot())('nothing of the system or the owner\'s home is ever handed over', async () => {
  for (const path of ['/', '/tmp', '/usr', '/home']) await expect(handOver(path)).rejects.toThrow('not the app\'s')
})

test('nothing of a stage is left, neither a mount nor a folder', async () => {
  const [mounts, before] = [(): string => readFileSync('/proc/self/mounts', 'utf8'), readdirSync('/mnt')]
  const was = mounts()
  await bench.run('true')
  expect([mounts(), readdirSync('/mnt')]).toEqual([was, before])
})

describe('the stage', () => {
  const options = ['--unshare-user', '--ro-bind', '/usr', '/usr', '--bind', '/root/w', '/workspace', '--ro-bind', '/root/e', '/a', '--ro-bind', '/root/e', '/b', '--ro-bind-try', '/etc/ssl', '/etc/ssl', '--symlink', '/root/w', '/x']

  test('shows what only root reaches, each once, and changes nothing else', () => {
    expect(staged(options, '/root/app/bwrap')).toEqual({
      place: '/mnt', sources: ['/root/w', '/root/e', '/root/app/bwrap'], bwrapPath: '/mnt/2',
      options: ['--unshare-user', '--ro-bind', '/usr', '/usr', '--bind', '/mnt/0', '/workspace', '--ro-bind', '/mnt/1', '/a', '--ro-bind', '/mnt/1', '/b', '--ro-bind-try', '/etc/ssl', '/etc/ssl', '--symlink', '/root/w', '/x'],
    })
  })

  test('is never put over something that it must show', () => {
    expect(staged(['--bind', '/mnt/c/Users/me/project', '/workspace', '--bind', '/srv', '/y'], '/usr/bin/bwrap').place).toBe('/media')
    expect(() => staged(['/mnt', '/srv', '/media', '/opt', '/tmp'].flatMap((path) => ['--bind', path, '/x']), '/usr/bin/bwrap')).toThrow('no folder is free')
  })

  test('gives up every id, group and capability before bwrap begins', () => {
    const [program, args] = droppedCommand(programs, staged(options, '/usr/bin/bwrap'), ['--args', '3'])
    expect(program).toBe('/usr/bin/unshare')
    expect(args.slice(0, 5)).toEqual(['--mount', '--propagation', 'private', '--', '/bin/sh'])
    expect(args.slice(-11)).toEqual(['/usr/bin/setpriv', '--reuid', '60911', '--regid', '60911', '--clear-groups', '--inh-caps=-all', '--bounding-set=-all', '--', '/usr/bin/bwrap', '--args', '3'].slice(-11))
  })
})

test('the id is nobody\'s on this machine', () => {
  expect(readFileSync('/etc/passwd', 'utf8')).not.toContain(`:${String(strangerId)}:`)
  expect(readFileSync('/etc/group', 'utf8')).not.toContain(`:${String(strangerId)}:`)
})

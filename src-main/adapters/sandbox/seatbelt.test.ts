import { randomInt } from 'node:crypto'
import { chmodSync, mkdtempSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { defaultSandboxLimits } from '../../../src-preload/contract/limits.ts'
import { isolationReportSchema } from '../../../src-preload/contract/task.ts'
import { createSandbox } from './sandbox.ts'
import { seatbeltProfile, type SeatbeltShape } from './seatbelt-profile.ts'
import { runSeatbelt, seatbeltCommand, type SeatbeltOrder } from './seatbelt-run.ts'
import { createSeatbeltSandbox } from './seatbelt-sandbox.ts'

const shape: SeatbeltShape = { workspaceDir: '/Users/o/Library/cs/ws', privateDir: '/Users/o/Library/cs/private', readOnly: ['/Users/o/.nvm'], masked: ['.opencode', 'opencode.json'], homeDir: '/Users/o' }
const lines = seatbeltProfile(shape).split('\n')
const at = (start: string): number => lines.findIndex((line) => line.startsWith(start))

/** The profile's text. That a Mac keeps to it, nothing here can show. */
describe('the profile of a command on macOS', () => {
  test('denies everything first', () => { expect(lines.slice(0, 2)).toEqual(['(version 1)', '(deny default)']) })

  test('opens the workspace after it has closed the home, and closes what is masked after that', () => {
    const [home, open, masked] = [at('(deny file-read* file-write* (subpath "/Users/o"))'), at('(allow file-read* file-write* (subpath "/Users/o/Library/cs/ws")'), at('(deny file-read* file-write* (subpath "/Users/o/Library/cs/ws/.opencode"))')]
    expect([home > 0, home < open, open < masked]).toEqual([true, true, true])
    expect(lines).toContain('(deny file-read* file-write* (subpath "/Users/o/Library/cs/ws/opencode.json"))')
    expect(at('(allow file-read* (subpath "/Users/o/.nvm"))')).toBeGreaterThan(home)
  })

  test('lets it nowhere on the network', () => {
    expect(lines.filter((line) => line.startsWith('(allow network'))).toEqual([])
    expect(lines).toContain('(deny network*)')
  })

  test.each(['com.apple.SecurityServer', 'com.apple.securityd', 'com.apple.trustd', 'com.apple.coreservices.appleevents', '(deny lsopen)', '/usr/bin/osascript'])('keeps it from %s', (name) => {
    expect(lines.filter((line) => line.startsWith('(deny') && line.includes(name))).toHaveLength(1)
  })

  test('writes paths so that none can end its own string', () => {
    expect(seatbeltProfile({ ...shape, workspaceDir: '/a") (allow default) ("\\' })).toContain('(subpath "/a\\") (allow default) (\\"\\\\")')
    expect(() => seatbeltProfile({ ...shape, workspaceDir: '/a\nb' })).toThrow('control characters')
  })

  test('writes outside of workspace, private folder and devices nowhere, and signals nobody outside', () => {
    expect(lines.filter((line) => line.startsWith('(allow') && line.includes('file-write'))).toEqual([
      expect.stringMatching(/^\(allow file-read\* file-write-data file-ioctl \(literal "\/dev\/null"\)/), '(allow file-read* file-write* (subpath "/Users/o/Library/cs/ws") (subpath "/Users/o/Library/cs/private"))',
    ])
    expect(lines.filter((line) => line.includes('signal'))).toEqual(['(allow signal (target same-sandbox))'])
  })
})

test('sandbox-exec gets the profile, then a keeper with the host\'s process and the limits, then the exact text as one argument', () => {
  const text = 'echo "a b" $(x) \'\n#'
  const [program, args] = seatbeltCommand({ sandboxExec: '/usr/bin/sandbox-exec', shape, limits: { ...defaultSandboxLimits, fileBytesMax: 64 * 2 ** 20, commandCpuMsMax: 60_000 }, text }, 4_711)
  expect(program).toBe('/usr/bin/sandbox-exec')
  expect(args.slice(0, 5)).toEqual(['-p', seatbeltProfile(shape), '--', '/bin/sh', '-c'])
  expect(args.slice(6)).toEqual(['keeper', '4711', '131072', '60', '/bin/sh', '-c', text])
})

// What follows runs the launcher for real, with a stand-in for sandbox-exec that always has a process namespace: the keeper ends all that it can reach.
let dir: string
beforeEach(() => { dir = realpathSync(mkdtempSync(join(tmpdir(), 'sb-'))) })
afterEach(() => { rmSync(dir, { recursive: true, force: true }) })

const confined = '--tmpfs "$folder" --bind "$PWD" "$PWD" --bind "$folder/private" "$folder/private" --remount-ro "$folder"'

/** A `sandbox-exec -p PROFILE -- COMMAND…` made of bwrap; started in a workspace beside the private folder, as the launcher does. */
function standIn({ files = confined, network = '--unshare-net', ends = '--die-with-parent' }: { readonly files?: string; readonly network?: string; readonly ends?: string } = {}): string {
  const [path, bin] = [join(dir, 'sandbox-exec'), join(dir, 'bin')]
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'nc'), '#!/bin/bash\nexec 3<>"/dev/tcp/$4/$5"\n')
  chmodSync(join(bin, 'nc'), 0o755)
  writeFileSync(path, `#!/bin/sh\nfolder=$(dirname "$PWD"); shift 3\nexec bwrap --unshare-pid ${ends} ${network} --ro-bind / / --dev /dev --proc /proc --ro-bind ${bin} /usr/local/bin ${files} --chdir "$PWD" -- "$@"\n`)
  chmodSync(path, 0o755)
  return path
}

/** Empty for a process that has gone. */
function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    return ''
  }
}

const probe = async (sandboxExec: string) => isolationReportSchema.parse(await createSeatbeltSandbox({ runRoot: join(dir, 'it\'s run'), limits: () => defaultSandboxLimits, clock: { now: () => 5 } }, sandboxExec).probe())

describe('the probe on macOS', () => {
  test('tells that a trial was kept in, that nothing was tested there, and that tasks stay blocked', async () => {
    const report = await probe(standIn())
    expect(report).toMatchObject({ usable: false, level: 'seatbelt-untested', checkedAt: 5, summary: expect.stringContaining('untested') as string, detail: expect.stringContaining('was kept in') as string, failure: { code: 'isolation-unavailable', message: expect.stringContaining('coding tasks are blocked') as string } })
    expect(readdirSync(join(dir, 'it\'s run')), 'nothing is left').toEqual([])
  })

  test.each([
    ['reads beside its workspace', { files: '--bind "$PWD" "$PWD"' }, 'it reads beside its workspace'],
    ['writes beside its workspace', { files: '--tmpfs "$folder" --bind "$folder" "$folder"' }, 'it reads beside its workspace; it writes beside its workspace'],
    ['reaches the network', { network: '' }, 'it reaches the network'],
    ['cannot work', { files: '--tmpfs "$folder" --ro-bind "$PWD" "$PWD" --remount-ro "$folder"' }, 'its workspace is closed'],
  ])('says so when a command %s', async (_what, how, why) => {
    expect(await probe(standIn(how))).toMatchObject({ usable: false, failure: { code: 'isolation-unavailable', message: `seatbelt does not keep a trial run in on this Mac: ${why}.` } })
  })

  test('says so when sandbox-exec is not there, or takes the profile for wrong', async () => {
    expect((await probe(join(dir, 'missing'))).failure?.message).toContain('cannot be started')
    const refuses = join(dir, 'refuses')
    writeFileSync(refuses, '#!/bin/sh\necho "sandbox-exec: profile error" >&2\nexit 65\n')
    chmodSync(refuses, 0o755)
    expect((await probe(refuses)).failure?.message).toContain('profile error')
  })
})

describe('a command under seatbelt', () => {
  const order = (text: string, change: Partial<SeatbeltOrder> = {}): SeatbeltOrder => {
    const [workspaceDir, privateDir] = [join(dir, 'workspace'), join(dir, 'private')]
    for (const path of [workspaceDir, privateDir]) mkdirSync(path, { recursive: true })
    return { askId: 'a', text, cwd: '/workspace', hostCwd: workspaceDir, sandboxExec: change.sandboxExec ?? standIn(), timeoutMs: 30_000, outputBytesMax: 1_000, limits: defaultSandboxLimits, pipeFolder: dir, shape: { ...shape, workspaceDir, privateDir }, ...change }
  }
  const run = async (text: string, change: Partial<SeatbeltOrder> = {}, signal = new AbortController().signal) => {
    const ran = await runSeatbelt(order(text, change), signal)
    if (!ran.ok) throw new Error(ran.error.message)
    return ran.value
  }

  test('gives its output in its order and its exit code', async () => {
    expect(await run('echo one; echo two >&2; echo three; exit 7')).toMatchObject({ exitCode: 7, limitHit: null, logTail: 'one\ntwo\nthree\n' })
  })

  test('has no input, and nothing of the owner\'s environment', async () => {
    expect((await run('cat; echo $HOME; env | grep -c VITEST')).logTail).toBe(`${join(dir, 'private')}\n0\n`)
  })

  test('takes what it left running along when it ends, and when it is told to', async () => {
    const seconds = String(randomInt(1e8, 1e9))
    const left = (): readonly string[] => readdirSync('/proc').filter((name) => /^\d+$/.test(name) && commandLineOf(name) === `sleep\0${seconds}\0`)
    const leaves = `(setsid nohup sleep ${seconds} > /dev/null 2>&1 &); until grep -qsx sleep /proc/[0-9]*/comm; do :; done`
    // With this stand-in nobody but the keeper ends what the command left: as on a Mac, its end is not the end of the others.
    const sandboxExec = standIn({ ends: '' })
    try {
      expect(await run(`${leaves}; echo done`, { sandboxExec })).toMatchObject({ exitCode: 0, logTail: 'done\n' })
      await vi.waitFor(() => { expect(left()).toEqual([]) })
      expect(await run(`${leaves}; sleep ${seconds}`, { sandboxExec, timeoutMs: 300 })).toMatchObject({ exitCode: null, limitHit: 'ran longer than 300 ms' })
      await vi.waitFor(() => { expect(left()).toEqual([]) })
    } finally {
      for (const pid of left()) process.kill(Number(pid), 'SIGKILL')
    }
  })

  test('is ended, daemons included, when its time is over, when it writes too much and when it is stopped', async () => {
    expect(await run('(setsid sleep 987654 &); sleep 987654', { timeoutMs: 300 })).toMatchObject({ exitCode: null, limitHit: 'ran longer than 300 ms' })
    expect(await run('yes', { outputBytesMax: 100 })).toMatchObject({ exitCode: null, limitHit: 'wrote more than 100 bytes' })
    const stop = new AbortController()
    setTimeout(() => { stop.abort() }, 200)
    expect(await run('sleep 987654', {}, stop.signal)).toMatchObject({ exitCode: null, limitHit: 'was stopped before it ended' })
  })

  test('is held to a file\'s size', async () => {
    expect(await run('dd if=/dev/zero of=big bs=1M count=3 2>/dev/null', { limits: { ...defaultSandboxLimits, fileBytesMax: 2 ** 20 } })).toMatchObject({ exitCode: 153, limitHit: expect.stringContaining('1 MiB') as string })
  })

  test('never begins where its keeper could signal the host', async () => {
    const open = join(dir, 'open')
    // Stands for a profile that does not hold; the process namespace is there all the same, and the "host" is a process in it.
    writeFileSync(open, '#!/bin/sh\nshift 3\nfor word; do shift; case "$word" in keeper) set -- "$@" keeper 1; skip=1 ;; *) if [ "$skip" = 1 ]; then skip=; else set -- "$@" "$word"; fi ;; esac; done\nexec bwrap --unshare-pid --die-with-parent --bind / / --dev /dev --proc /proc -- "$@"\n')
    chmodSync(open, 0o755)
    expect(await run('echo ran', { sandboxExec: open })).toMatchObject({ exitCode: 126, logTail: 'seatbelt: the profile does not hold\n' })
  })
})

describe('on a platform without a sandbox that runs tasks', () => {
  const deps = { runRoot: '/nowhere', openCodeBinary: () => '/bin/true', limits: () => defaultSandboxLimits, clock: { now: () => 5 }, ids: { next: (prefix: string) => prefix } }
  const command = { workspaceDir: '/', text: 'true', cwd: '/workspace', mounts: [], timeoutMs: 1, outputBytesMax: 1, readOnly: [] }

  test.each([['win32', 'none', /Windows.*blocked.*WSL 2 is not built/], ['freebsd', 'none', /this system.*blocked/]] as const)('%s, nothing runs and the reason is said', async (platform, level, reason) => {
    const sandbox = createSandbox(deps, platform)
    const report = isolationReportSchema.parse(await sandbox.probe())
    expect(report).toMatchObject({ usable: false, level, checkedAt: 5 })
    expect(report.failure?.message).toMatch(reason)
    expect(await sandbox.run(command, new AbortController().signal)).toMatchObject({ ok: false, error: { code: 'isolation-unavailable' } })
  })

  test('darwin, nothing runs whatever the probe says', async () => {
    const sandbox = createSandbox(deps, 'darwin')
    expect(await sandbox.run(command, new AbortController().signal)).toMatchObject({ ok: false, error: { code: 'isolation-unavailable', message: expect.stringMatching(/macOS.*blocked.*untested/) as string } })
    expect(await sandbox.launch({} as never, new AbortController().signal)).toMatchObject({ ok: false, error: { code: 'isolation-unavailable' } })
    expect(await sandbox.endOrphans([{ pid: 1, startTime: '1' }])).toMatchObject({ method: 'never-started' })
  })
})

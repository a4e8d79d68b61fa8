import { randomInt } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { defaultSandboxLimits } from '../../../src-preload/contract/limits.ts'
import { isolationReportSchema } from '../../../src-preload/contract/task.ts'
import { createSandbox } from './sandbox.ts'
import { openCodeBinary } from './sandbox.suite.ts'
import { keptCommand } from './seatbelt-keeper.ts'
import { commandWords, runSeatbelt, type SeatbeltOrder } from './seatbelt-run.ts'
import { createSeatbeltSandbox } from './seatbelt-sandbox.ts'
import { writeStandIn, type StandInChanges } from './seatbelt-stand-in.suite.ts'

test('sandbox-exec gets the profile, then a keeper with the host\'s process, the limits and the folder, then the exact text as one argument', () => {
  const text = 'echo "a b" $(x) \'\n#'
  const start = { sandboxExec: '/usr/bin/sandbox-exec', profile: '(version 1)', cwd: '/Users/o/ws', command: commandWords(text), bounds: { fileBytesMax: 64 * 2 ** 20, cpuMsMax: 60_000, processesMax: 700 } }
  const [program, args] = keptCommand(start, 4_711)
  expect(program).toBe('/usr/bin/sandbox-exec')
  expect(args.slice(0, 5)).toEqual(['-p', '(version 1)', '--', '/bin/dash', '-c'])
  expect(args.slice(6)).toEqual(['keeper', '4711', '131072', '60', '700', '/Users/o/ws', '/bin/bash', '-c', text])
  expect(keptCommand({ ...start, bounds: { ...start.bounds, cpuMsMax: null } }, 1)[1][9]).toBe('unlimited')
})

// What follows runs the launcher for real, with a stand-in for sandbox-exec that opens what the profile opens, and always has a process namespace: the keeper ends all that it can reach.
let dir: string
beforeEach(() => { dir = realpathSync(mkdtempSync(join(tmpdir(), 'sb-'))) })
afterEach(() => { rmSync(dir, { recursive: true, force: true }) })

const standIn = (changes: StandInChanges = {}): string => writeStandIn(dir, changes)

/** Empty for a process that has gone. */
function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    return ''
  }
}

const sandboxOn = (sandboxExec: string, asRoot = false) => createSeatbeltSandbox({ runRoot: join(dir, 'it\'s run'), openCodeBinary: () => openCodeBinary, limits: () => defaultSandboxLimits, clock: { now: () => 5 }, ids: { next: (prefix) => prefix } }, { sandboxExec, asRoot })
const probe = async (sandboxExec: string) => isolationReportSchema.parse(await sandboxOn(sandboxExec).probe())

describe('the probe on macOS', () => {
  test('tells that trials of a command and of the coder were kept in, that nothing was tested there, and how limits are kept', async () => {
    const report = await probe(standIn())
    expect(report).toMatchObject({ usable: true, level: 'seatbelt-untested', checkedAt: 5, failure: null, limits: defaultSandboxLimits, summary: expect.stringContaining('untested: it was written without a Mac') as string, detail: expect.stringMatching(/kept in on this Mac; more than that was never tested on one.*not bounded/) as string })
    expect(readdirSync(join(dir, 'it\'s run')), 'nothing is left').toEqual([])
  })

  test.each([
    ['reads beside its workspace', { more: '--ro-bind "$folder/canary" "$folder/canary"' }, 'it reads beside its workspace; it reads through links'],
    ['writes beside its workspace', { more: '--bind "$folder" "$folder"' }, 'it reads beside its workspace; it reads through links; it writes beside its workspace'],
    ['reaches the network', { more: '--share-net' }, 'it reaches the network'],
    ['cannot work', { more: '--ro-bind "$PWD" "$PWD"' }, 'its workspace is closed'],
  ])('says so when a command %s', async (_what, how, why) => {
    expect(await probe(standIn(how))).toMatchObject({ usable: false, level: 'seatbelt-untested', failure: { code: 'isolation-unavailable', message: `seatbelt does not keep a trial run in on this Mac: ${why}.` } })
  })

  test('says so when the coder reads beside its folders, reaches other ports and starts other programs', async () => {
    const how = '--share-net --ro-bind "$folder/canary" "$folder/canary" --ro-bind /usr /usr'
    expect((await probe(standIn({ moreForCoder: how }))).failure?.message).toBe('seatbelt does not keep a trial run in on this Mac: the coder reads beside its folders; the coder reads through links; the coder starts other programs; the coder reaches other ports.')
  })

  test('says so when sandbox-exec is not there, or takes the profile for wrong', async () => {
    expect((await probe(join(dir, 'missing'))).failure?.message).toContain('cannot be started')
    const refuses = join(dir, 'refuses')
    writeFileSync(refuses, '#!/bin/sh\necho "sandbox-exec: profile error" >&2\nexit 65\n')
    chmodSync(refuses, 0o755)
    expect((await probe(refuses)).failure?.message).toContain('profile error')
  })

  test('lets nothing run as root', async () => {
    expect(await sandboxOn(standIn(), true).probe()).toMatchObject({ usable: false, failure: { code: 'isolation-unavailable', message: expect.stringContaining('as root') as string } })
  })
})

describe('a command under seatbelt', () => {
  const order = (text: string, change: Partial<SeatbeltOrder> = {}): SeatbeltOrder => {
    const [workspaceDir, run] = [join(dir, 'workspace'), join(dir, 'run')]
    for (const path of [workspaceDir, run]) mkdirSync(path, { recursive: true })
    return { askId: 'a', text, cwd: '/workspace', hostCwd: workspaceDir, sandboxExec: change.sandboxExec ?? standIn(), timeoutMs: 30_000, outputBytesMax: 1_000, limits: defaultSandboxLimits, runFolder: run, pathEntries: [], onOutput: () => undefined, shape: { workspaceDir, readOnly: [], masked: ['.opencode', 'opencode.json'], homeDir: '/nobody' }, ...change }
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
    expect((await run('cat; ls -A $HOME; env | grep -c VITEST')).logTail).toBe('0\n')
  })

  test('takes what it left running along when it ends, and when it is told to', async () => {
    const seconds = String(randomInt(1e8, 1e9))
    const left = (): readonly string[] => readdirSync('/proc').filter((name) => /^\d+$/.test(name) && commandLineOf(name) === `sleep\0${seconds}\0`)
    const leaves = `(setsid nohup sleep ${seconds} > /dev/null 2>&1 &); until grep -qsx sleep /proc/[0-9]*/comm; do :; done`
    const sandboxExec = standIn()
    try {
      expect(await run(`${leaves}; echo done`, { sandboxExec })).toMatchObject({ exitCode: 0, logTail: 'done\n' })
      await expect.poll(left).toEqual([])
      expect(await run(`${leaves}; sleep ${seconds}`, { sandboxExec, timeoutMs: 300 })).toMatchObject({ exitCode: null, limitHit: 'ran longer than 300 ms' })
      await expect.poll(left).toEqual([])
    } finally {
      for (const pid of left()) process.kill(Number(pid), 'SIGKILL')
    }
  })

  test('is ended, daemons included, when its time is over, when it writes too much and when it is stopped', async () => {
    expect(await run('(setsid sleep 987654 &); sleep 987654', { timeoutMs: 300 })).toMatchObject({ exitCode: null, limitHit: 'ran longer than 300 ms' })
    expect(await run('yes', { outputBytesMax: 100 })).toMatchObject({ exitCode: null, limitHit: 'wrote more than 100 bytes' })
    const stop = new AbortController()
    const running = run('echo > begun; sleep 987654', {}, stop.signal)
    await expect.poll(() => readdirSync(join(dir, 'workspace'))).toContain('begun')
    stop.abort()
    expect(await running).toMatchObject({ exitCode: null, limitHit: 'was stopped before it ended' })
  })

  test('that kills its keeper is ended all the same, and proven to be', async () => {
    const seconds = String(randomInt(1e8, 1e9))
    const left = (): readonly string[] => readdirSync('/proc').filter((name) => /^\d+$/.test(name) && commandLineOf(name) === `sleep\0${seconds}\0`)
    const sandboxExec = standIn()
    try {
      expect(await run(`(setsid nohup sleep ${seconds} &); kill -9 $PPID; sleep ${seconds}`, { sandboxExec })).toMatchObject({ exitCode: expect.anything() as number })
      expect(left()).toEqual([])
    } finally {
      for (const pid of left()) process.kill(Number(pid), 'SIGKILL')
    }
  })

  test.each([['stops its keeper for good', 'kill -STOP $PPID; touch done; exec sleep 987653', { ends: true }], ['kills whoever keeps it, and goes on', 'kill -9 -1; touch done; sleep 987652', {}]])('that %s is ended after a while, and said not to be proven', async (_what, text, how) => {
    const stop = new AbortController()
    const ran = runSeatbelt(order(text, { sandboxExec: standIn(how) }), stop.signal)
    await vi.waitFor(() => { expect(existsSync(join(dir, 'workspace/done'))).toBe(true) }, 20_000)
    stop.abort()
    expect(await ran).toMatchObject({ ok: false, error: { code: 'sandbox-failed', message: 'The command has ended, but it is not proven that nobody of it is left.' } })
  })

  test('has no way to have the last word itself', async () => {
    expect((await run('echo empty >&3 || echo closed; echo empty >&4 || echo closed')).logTail.match(/closed/g)).toHaveLength(2)
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

describe('on another platform than Linux', () => {
  const command = { workspaceDir: '/', text: 'true', cwd: '/workspace', mounts: [], timeoutMs: 1, outputBytesMax: 1, readOnly: [] }
  const on = (platform: string) => createSandbox({ runRoot: join(dir, 'run'), openCodeBinary: () => '/bin/true', limits: () => defaultSandboxLimits, clock: { now: () => 5 }, ids: { next: (prefix: string) => prefix } }, platform)

  test.each([['win32', 'none', /Windows.*blocked.*WSL 2 with this sandbox inside it and interop off\) is not built/], ['freebsd', 'none', /this system.*blocked/]] as const)('%s, nothing runs and the reason is said', async (platform, level, reason) => {
    const sandbox = on(platform)
    const report = isolationReportSchema.parse(await sandbox.probe())
    expect(report).toMatchObject({ usable: false, level, checkedAt: 5 })
    expect(report.failure?.message).toMatch(reason)
    expect(await sandbox.run(command, new AbortController().signal)).toMatchObject({ ok: false, error: { code: 'isolation-unavailable' } })
  })

  test('darwin, nothing runs where no trial passes', async () => {
    const sandbox = on('darwin')
    const blocked = { ok: false, error: { code: 'isolation-unavailable' } }
    expect([await sandbox.run(command, new AbortController().signal), await sandbox.places({ workspaceDir: dir, stateDir: dir }), await sandbox.launch({} as never, new AbortController().signal)]).toMatchObject([blocked, blocked, blocked])
    expect(await sandbox.endOrphans([{ pid: 1, startTime: '1' }])).toMatchObject({ method: 'orphans-ended', detail: '1 recorded, 0 still there and ended, 1 gone already.' })
  })
})

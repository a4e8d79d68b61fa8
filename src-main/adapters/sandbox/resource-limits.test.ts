import { getEventListeners } from 'node:events'
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { defaultSandboxLimits, isolationLimits } from '../../../src-preload/contract/limits.ts'
import type { SandboxLimits } from '../../../src-preload/contract/task.ts'
import type { CommandRun } from '../../engine/ports.ts'
import { runCommand } from './command-run.ts'
import { insidePaths } from './inside-paths.ts'
import { agentBounds, boundPassed, commandBounds, diskPassed, shareOf, useOf, watchResources, type Bounds } from './resource-watch.ts'
import { createGrounds } from './sandbox-ground.ts'
import { openBench, order, type Bench } from './sandbox.suite.ts'

const none: Bounds = { memoryBytesMax: 2 ** 50, tasksMax: 2 ** 30, cpuMsMax: null }
let bench: Bench
beforeEach(() => { bench = openBench() })
afterEach(() => bench.close())

/** One command under bounds of the test's own, which a machine of any size can pass. */
async function under(bounds: Partial<Bounds>, text: string, limits: SandboxLimits = defaultSandboxLimits): Promise<CommandRun> {
  const ground = await createGrounds(bench.runRoot, {}).prepare(bench.workspaceDir, [])
  if (!ground.ok) throw new Error(ground.error.message)
  const { layout, folder, workspaceDir, masks, tidy } = ground.value
  const ran = await runCommand({
    askId: 'a', text, pathEntries: [], pipeFolder: folder.path, timeoutMs: 60_000, outputBytesMax: 1_000_000, onOutput: () => undefined, limits, bounds: { ...none, ...bounds },
    shape: { layout, files: folder.files, workspaceDir, masks, binds: [], binaryPath: null, cwd: insidePaths.workspace },
  }, new AbortController().signal)
  await tidy()
  if (!ran.ok) throw new Error(`${ran.error.message} ${ran.error.todo}`)
  return ran.value
}

describe('a command that passes a bound is ended, with the bound in its record', () => {
  test('memory of one process', async () => {
    expect(await under({ memoryBytesMax: 100 * 2 ** 20 }, 'perl -e \'$x = "x" x (300 * 1024 * 1024); print "has it\\n"; sleep 1000\'')).toMatchObject({ exitCode: null, limitHit: 'used more than 100 MiB of memory' })
  })

  test('memory of many processes together, none of which passes it', async () => {
    const one = 'perl -e \'$x = "x" x (40 * 1024 * 1024); sleep 1000\''
    expect(await under({ memoryBytesMax: 100 * 2 ** 20 }, `for i in 1 2 3 4; do ${one} & done; wait`)).toMatchObject({ exitCode: null, limitHit: 'used more than 100 MiB of memory' })
  })

  test('memory that forked processes share counts once', async () => {
    expect(await under({ memoryBytesMax: 150 * 2 ** 20 }, 'perl -e \'$x = "x" x (60 * 1024 * 1024); for (1..5) { fork or last } select undef, undef, undef, 2\'; wait; echo done')).toMatchObject({ exitCode: 0, limitHit: null })
  })

  test('memory of a daemon that left its parent', async () => {
    expect(await under({ memoryBytesMax: 100 * 2 ** 20 }, '(setsid nohup perl -e \'$x = "x" x (300 * 1024 * 1024); sleep 1000\' >/dev/null 2>&1 &); sleep 1000')).toMatchObject({ limitHit: 'used more than 100 MiB of memory' })
  })

  test('processes and threads', async () => {
    expect(await under({ tasksMax: 20 }, 'for i in {1..30}; do sleep 1000 & done; wait')).toMatchObject({ exitCode: null, limitHit: 'had 20 processes and threads at once' })
  })

  test('processor time of all that it starts', async () => {
    expect(await under({ cpuMsMax: 600 }, 'for i in 1 2 3; do (while :; do :; done) & done; wait')).toMatchObject({ exitCode: null, limitHit: 'used more than 0.6 s of processor time' })
  })
})

describe('the kernel itself bounds', () => {
  test('the number of processes: a fork bomb is ended and the machine goes on', async () => {
    const ran = await bench.run('f() { f | f & }; f; sleep 1000')
    expect(ran).toMatchObject({ ok: true, value: { exitCode: null, limitHit: `had ${String(defaultSandboxLimits.processesMax)} processes and threads at once` } })
    expect(await bench.run('echo on')).toMatchObject({ ok: true, value: { logTail: 'on\n' } })
  })

  test('the number of processes, with no watch at all', async () => {
    const ran = await under({}, 'for i in {1..600}; do perl -e "sleep 1000" 2>/dev/null & [ $(jobs -p | wc -l) -gt 560 ] && break; done 2>&1 | grep -m1 -o "Resource temporarily unavailable"')
    expect(ran.logTail).toBe('Resource temporarily unavailable\n')
  })

  test('the processor time of one process, and the row says that it may be that', async () => {
    const ran = await under({}, 'while :; do :; done', { ...defaultSandboxLimits, commandCpuMsMax: 1_000 })
    expect(ran).toMatchObject({ exitCode: 152, limitHit: 'ended with code 152 and may have passed the limit on processor time (1 s)' })
  })

  test('the size of a file, and the row says so', async () => {
    const ran = await bench.run('dd if=/dev/zero of=big bs=1M seek=2047 count=2 2>/dev/null')
    expect(ran).toMatchObject({ ok: true, value: { exitCode: 153, limitHit: 'ended with code 153 and may have passed the limit on a file\'s size (2 GiB)' } })
    expect(statSync(join(bench.workspaceDir, 'big')).size).toBe(defaultSandboxLimits.fileBytesMax)
  })

  test('the memory of one process', async () => {
    // Reserved for writing and never touched: no watch could see it.
    const ran = await bench.run('perl -e \'syscall(9, 0, 9 * 1024 ** 3, 3, 0x4022, -1, 0) == -1 ? print "refused\\n" : print "given\\n"\'')
    expect(ran).toMatchObject({ ok: true, value: { logTail: 'refused\n' } })
  })

  test.each([['/tmp', isolationLimits.tmpBytesMax], ['/dev/shm', 64 * 2 ** 20], ['/home/agent', 64 * 2 ** 20]])('what fits into %s', async (folder, bytesMax) => {
    const ran = await bench.run(`head -c ${String(bytesMax + 4096)} /dev/zero > ${folder}/big; stat -c %s ${folder}/big; rm ${folder}/big`)
    expect(Number(ran.ok ? ran.value.logTail.trim().split('\n').at(-1) : 0)).toBeLessThanOrEqual(bytesMax)
  })

  test('what fits into /dev: nothing', async () => {
    expect(await bench.run('(echo x > /dev/x) 2>/dev/null || echo refused; echo gone > /dev/null && echo works')).toMatchObject({ value: { logTail: 'refused\nworks\n' } })
  })

  test('core dumps: there are none', async () => {
    expect(await bench.run('ulimit -c; ulimit -Hc; cat /proc/self/oom_score_adj')).toMatchObject({ value: { logTail: '0\n0\n600\n' } })
  })
})

test('an agent that passes a bound is ended, and says which', async () => {
  const agent = await bench.start({ limits: { ...defaultSandboxLimits, memoryBytesMax: 900 * 2 ** 20 } })
  order(agent, { eval: 'globalThis.kept = []; for (let i = 0; i < 40; i += 1) { kept.push(Buffer.alloc(50 * 2 ** 20, 1)); await new Promise((done) => setTimeout(done, 50)) }; await new Promise(() => {})' }).catch(() => undefined)
  expect(await agent.exited).toEqual({ code: null, signal: 'SIGKILL', limitHit: 'used more than 900 MiB of memory' })
  expect(await agent.stop()).toMatchObject({ method: 'pid-namespace-empty' })
})

describe('limits that the owner sets low are hit, and the row says which and how much it was', () => {
  const low = { memoryBytesMax: 100 * 2 ** 20, processesMax: 20, commandCpuMsMax: 1_000, fileBytesMax: 2 ** 20 }

  test.each([
    ['memory', 'perl -e \'$x = "x" x (300 * 1024 * 1024); sleep 1000\'', null, 'used more than 100 MiB of memory'],
    ['processes', 'for i in {1..30}; do sleep 1000 & done 2>/dev/null; wait', null, 'had 20 processes and threads at once'],
    ['the size of a file', 'dd if=/dev/zero of=big bs=1M count=2 2>/dev/null', 153, 'ended with code 153 and may have passed the limit on a file\'s size (1 MiB)'],
    // Together they pass the watch's bound long before one of them passes the kernel's.
    ['processor time', 'for i in 1 2 3; do (while :; do :; done) & done; wait', null, 'used more than 1 s of processor time'],
  ])('%s', async (_what, text, exitCode, limitHit) => {
    bench.limits = low
    expect(await bench.run(text)).toMatchObject({ ok: true, value: { exitCode, limitHit, limits: low } })
  })

  test('by the commands of an agent too, which keeps those that it was started with', async () => {
    const agent = await bench.start({ limits: { ...defaultSandboxLimits, fileBytesMax: 2 ** 20 } })
    bench.limits = { ...defaultSandboxLimits, fileBytesMax: 4 * 2 ** 30 }
    expect(await order(agent, { text: 'dd if=/dev/zero of=big bs=1M count=2 2>/dev/null' })).toMatchObject({ code: 153 })
    expect(bench.runs.at(-1)).toMatchObject({ limitHit: expect.stringContaining('(1 MiB)') as string })
    expect(statSync(join(bench.workspaceDir, 'big')).size).toBe(2 ** 20)
  })
})

test('a command within all bounds ends by itself and says nothing of them', async () => {
  mkdirSync(join(bench.workspaceDir, 'd'))
  expect(await bench.run('sleep 1; echo done')).toMatchObject({ ok: true, value: { exitCode: 0, limitHit: null, logTail: 'done\n' } })
})

const [command, coder] = [commandBounds(defaultSandboxLimits), agentBounds(defaultSandboxLimits)]
const most = { memoryBytes: defaultSandboxLimits.memoryBytesMax, tasks: defaultSandboxLimits.processesMax - 1, cpuMs: defaultSandboxLimits.commandCpuMsMax }

test.each([
  [most, command, null],
  [{ ...most, memoryBytes: most.memoryBytes + 1 }, command, 'used more than 4 GiB of memory'],
  [{ ...most, memoryBytes: 2 ** 40 }, commandBounds({ ...defaultSandboxLimits, memoryBytesMax: 1.5 * 2 ** 30 }), 'used more than 1536 MiB of memory'],
  [{ ...most, tasks: most.tasks + 1 }, command, 'had 512 processes and threads at once'],
  [{ ...most, cpuMs: most.cpuMs + 1 }, command, 'used more than 30 minutes of processor time'],
  [{ ...most, cpuMs: 60_001 }, commandBounds({ ...defaultSandboxLimits, commandCpuMsMax: 60_000 }), 'used more than 1 minute of processor time'],
  [{ ...most, cpuMs: 1e12 }, coder, null],
])('of %j it is said: %s', (use, bounds, said) => { expect(boundPassed(use, bounds)).toBe(said) })

test('memory that a process does not let anybody look at counts in full; of one that has gone nothing does', () => {
  expect([shareOf(null, 900), shareOf('', 900), shareOf('Rss:  80 kB\nPss_Anon:  3 kB\nPss_File:  50 kB\nPss_Shmem:  1 kB\n', 900)]).toEqual([900, 0, 4 * 1024])
})

test('a process that has gone uses nothing, and this one something', async () => {
  expect(await useOf(2 ** 22 + 1, 0)).toEqual({ tasks: 0, cpuMs: 0, memoryBytes: 0 })
  const own = await useOf(process.pid, 0)
  expect([own.tasks > 0, own.cpuMs > 0, own.memoryBytes > 2 ** 20]).toEqual([true, true, true])
})

test('a disk that somebody else filled is nobody\'s fault', () => {
  const floor = isolationLimits.diskFreeBytesMin
  expect([diskPassed(floor, floor * 9), diskPassed(floor - 1, floor - 1), diskPassed(floor - 1, floor * 9)]).toEqual([null, null, 'left less than 1 GiB free on the disk'])
})

test('a watch that looks often holds on to nothing of its earlier looks', async () => {
  const signals: AbortSignal[] = []
  vi.stubGlobal('AbortController', class extends AbortController { constructor() { super(); signals.push(this.signal) } })
  let looks = 0
  const watch = watchResources({ use: () => { looks += 1; return Promise.resolve({ memoryBytes: 0, tasks: 0, cpuMs: 0 }) }, workspaceDir: bench.workspaceDir, bounds: none, everyMs: 1 }, () => undefined)
  vi.unstubAllGlobals()
  await expect.poll(() => looks).toBeGreaterThan(20)
  expect(signals).toHaveLength(1)
  expect(signals.flatMap((signal) => getEventListeners(signal, 'abort')).length).toBeLessThanOrEqual(1)
  watch.end()
})

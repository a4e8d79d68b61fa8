import { spawn, type ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { defaultSandboxLimits } from '../../../src-preload/contract/limits.ts'
import { listedStart } from './listed-processes.ts'
import { openBench, openCodeBinary, order, type Bench } from './sandbox.suite.ts'
import { seatbeltOnStandIn } from './seatbelt-bench.suite.ts'

/*
 * The launch of macOS on the real OpenCode binary (as Bun), with a stand-in for sandbox-exec that opens what the profile opens. That a Mac keeps to the
 * profile, nothing here can show.
 */
let bench: Bench
let host: ChildProcess | null = null
let hostDir: string | null = null
beforeEach(() => { bench = openBench(seatbeltOnStandIn) })
afterEach(async () => {
  host?.kill('SIGKILL')
  host = null
  if (hostDir !== null) rmSync(hostDir, { recursive: true, force: true })
  hostDir = null
  await bench.close()
})

const runRoot = (): string => join(bench.dir, 'a "run\'s')
const eventually = { timeout: 30_000 }
const patient = 120_000

function processes(): readonly { readonly pid: number; readonly line: string }[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map((name) => {
    try {
      return { pid: Number(name), line: readFileSync(`/proc/${name}/cmdline`, 'latin1') }
    } catch {
      return { pid: Number(name), line: '' } // gone while we looked
    }
  })
}
const commandLines = (): readonly string[] => processes().map(({ line }) => line)
const sleeping = (seconds: string): number => commandLines().filter((line) => line === `sleep\0${seconds}\0`).length
const seconds = (): string => String(randomInt(1e8, 1e9))

describe('the agent under seatbelt', () => {
  test('has its own environment, real folders, its proxy and nothing else', async () => {
    process.env['CANARY_SECRET'] = 'canary-77'
    const agent = await bench.start()
    delete process.env['CANARY_SECRET']
    symlinkSync('/etc/passwd', join(bench.workspaceDir, 'out'))
    const { value } = await order(agent, { eval: `
      const { spawnSync } = require('child_process'), fs = require('fs'), failed = []
      const open = (work) => { try { work(); return true } catch { return false } }
      for (const name of ['/usr/bin/bash', '/usr/bin/git', '/usr/bin/env', '/usr/bin/perl', '/usr/bin/ls']) if (fs.existsSync(name) && !spawnSync(name, ['--version']).error) failed.push('runs ' + name)
      if (spawnSync('/usr/bin/rg', ['--version']).status !== 0) failed.push('cannot search')
      for (const path of [${JSON.stringify(bench.dir)}, '/etc/passwd', 'out']) if (open(() => fs.readFileSync(path)) || open(() => fs.readdirSync(path))) failed.push('reads ' + path)
      for (const path of [${JSON.stringify(join(bench.dir, 'x'))}, 'opencode.json', 'opencode.jsonc', '.opencode/x', process.env.HOME + '/../x']) if (open(() => fs.writeFileSync(path, 'x'))) failed.push('writes ' + path)
      for (const path of ['made', process.env.HOME + '/made']) if (!open(() => fs.writeFileSync(path, 'x'))) failed.push('cannot write ' + path)
      const answer = await fetch(process.env.OF_PROXY).then((found) => found.text())
      return [failed, answer, process.cwd(), Object.keys(process.env).sort(), process.env.CANARY_SECRET ?? null]` })
    expect(value).toEqual([[], 'from the proxy', bench.workspaceDir, ['BUN_BE_BUN', 'HOME', 'OF_PROXY', 'PATH'], null])
  }, patient)

  test('runs a granted command with its exact text in its folder, as the room names it, and streams what it says', async () => {
    mkdirSync(join(bench.workspaceDir, 'sub'))
    const agent = await bench.start()
    const text = 'printf "%s\\n" "a\'b  ü"; pwd; echo to-stderr >&2; bun -e "console.log(6 * 7)"; exit 7'
    const out = `a'b  ü\n${join(bench.workspaceDir, 'sub')}\nto-stderr\n42\n`
    expect(await order(agent, { text, cwd: join(bench.workspaceDir, 'sub') })).toMatchObject({ code: 7, out })
    expect(bench.asks).toEqual([{ askId: 'ask_1', text, cwd: '/workspace/sub' }])
    expect(bench.runs).toMatchObject([{ askId: 'ask_1', text, cwd: '/workspace/sub', exitCode: 7, limitHit: null, logTail: out, limits: defaultSandboxLimits }])
    bench.verdict = () => Promise.resolve({ verdict: 'refuse', reason: 'no grant for it' })
    expect(await order(agent, { text: 'touch ran' })).toMatchObject({ code: 126, out: 'sandbox: refused: no grant for it\n' })
    expect(existsSync(join(bench.workspaceDir, 'ran'))).toBe(false)
  }, patient)

  test('a command sees neither the agent\'s folders nor its sockets, proxy or ports', async () => {
    writeFileSync(join(bench.stateDir, 'secret'), 'of the agent')
    const agent = await bench.start()
    const [folder] = readdirSync(runRoot())
    const run = join(runRoot(), folder ?? '')
    await order(agent, { text: `cat '${bench.stateDir}/secret'; ls '${bench.dir}' "$(dirname "$HOME")"; for s in '${join(bench.dir, 'egress/proxy.sock').replaceAll('\'', '')}' '${join(bench.stateDir)}'; do test -S "$s" && echo socket; done; env | grep -c -i -E 'agent_env|password'; (exec 3<>/dev/tcp/127.0.0.1/80) 2> /dev/null && echo network; true` })
    const said = bench.runs[0]?.logTail ?? ''
    expect(said.split('\n').filter((line) => line !== '' && !/Permission denied|No such file|cannot open/.test(line))).toEqual(['0'])
    expect(existsSync(run)).toBe(true)
  }, patient)

  test('a stop ends daemons of the agent and of its commands, and proves that nobody is left', async () => {
    const [first, second] = [seconds(), seconds()]
    const agent = await bench.start()
    await order(agent, { eval: `for (let i = 0; i < 3; i += 1) require('child_process').spawn(process.execPath, ['-e', 'setTimeout(() => {}, 1e9) // ${first}'], { detached: true, stdio: 'ignore', env: { BUN_BE_BUN: '1' } }).unref(); return 0` })
    const running = order(agent, { text: `setsid nohup sleep ${second} > /dev/null 2>&1 & sleep ${second}` }).catch(() => null)
    await vi.waitFor(() => { expect([sleeping(second), commandLines().filter((line) => line.startsWith(openCodeBinary) && line.includes(first)).length]).toEqual([2, 3]) }, eventually)
    const [proof, again] = await Promise.all([agent.stop(), agent.stop()])
    expect(proof).toMatchObject({ method: 'seatbelt-empty', detail: expect.stringContaining('reached nobody else') as string })
    expect(again).toBe(proof)
    expect(proof.checkedProcesses).toBeGreaterThan(0)
    await running
    expect([sleeping(second), commandLines().filter((line) => line.includes(first))]).toEqual([0, []])
    expect(await agent.exited).toEqual({ code: null, signal: 'SIGKILL', limitHit: null })
    expect(readdirSync(runRoot())).toEqual([])
  }, patient)

  test('that kills its keeper and everybody else is not taken for proven to be gone', async () => {
    const agent = await bench.start()
    await order(agent, { eval: 'setTimeout(() => process.kill(-1, "SIGKILL"), 50); return 0' })
    await agent.exited
    await expect(agent.stop()).rejects.toThrow('not proven')
    expect(readdirSync(runRoot())).toHaveLength(1)
    // Only the machine's next start proves it: nobody ends the agent, who spared himself, but this test.
    for (const { pid } of processes().filter(({ line }) => line.includes(bench.dir))) process.kill(pid, 'SIGKILL')
    rmSync(bench.dir, { recursive: true, force: true })
    bench = Object.assign(bench, { close: () => Promise.resolve() })
  }, patient)

  test('that ends by itself is reported with its exit code, proven gone and tidied up', async () => {
    const agent = await bench.start()
    expect(agent.startTime).toBe(await listedStart(agent.pid))
    await order(agent, { eval: 'setImmediate(() => process.exit(9))' })
    expect(await agent.exited).toEqual({ code: 9, signal: null, limitHit: null })
    expect(await agent.stop()).toMatchObject({ method: 'seatbelt-empty' })
    expect(readdirSync(runRoot())).toEqual([])
  }, patient)

  test('that uses more memory than it may is ended, and said so', async () => {
    bench.limits = { ...defaultSandboxLimits, memoryBytesMax: 512 * 2 ** 20 }
    const agent = await bench.start()
    void order(agent, { eval: 'globalThis.held = []; for (let i = 0; i < 12; i += 1) globalThis.held.push(Buffer.alloc(2 ** 26, 1)); return 0' }).catch(() => null)
    expect(await agent.exited).toEqual({ code: null, signal: 'SIGKILL', limitHit: 'used more than 512 MiB of memory' })
    await agent.stop()
  }, patient)

  test('that ends before it is ready fails with its last words, and places serve for one launch', async () => {
    writeFileSync(join(bench.stateDir, 'broken.js'), 'console.error("no such model"); process.exit(3)')
    const told = await bench.sandbox.places(bench)
    if (!told.ok) throw new Error(told.error.message)
    const places = told.value
    expect(await bench.launch({ places, args: [join(bench.stateDir, 'broken.js')] })).toMatchObject({ ok: false, error: { code: 'sandbox-failed', message: expect.stringContaining('no such model') as string } })
    for (const again of [places, { ...places }]) expect(await bench.launch({ places: again })).toMatchObject({ ok: false, error: { code: 'internal' } })
    expect(await bench.launch({ egressSocketPath: join(bench.dir, 'gone/proxy.sock') })).toMatchObject({ ok: false, error: { message: expect.stringContaining('proxy\'s socket') as string } })
    expect(readdirSync(runRoot())).toEqual([])
  }, patient)

  test('is not started where a masked name leads elsewhere', async () => {
    symlinkSync('elsewhere', join(bench.workspaceDir, '.OpenCode'))
    expect(await bench.launch()).toMatchObject({ ok: false, error: { code: 'sandbox-failed', message: '“.OpenCode” in the workspace is a link or a special file; it could lead out of the sandbox.' } })
  }, patient)
})

describe('the host\'s own command under seatbelt', () => {
  test('finds folders by variables, and toolchains where they are', async () => {
    const folder = join(bench.dir, 'held tests')
    mkdirSync(join(folder, 'bin'), { recursive: true })
    writeFileSync(join(folder, 'bin/chosen-tool'), '#!/bin/sh\necho tool\n', { mode: 0o755 })
    const mounts = [{ id: 'm', label: 'tools', kind: 'toolchain', hostPath: folder, into: '/opt/chosen', mode: 'read-only', pathEntry: '/opt/chosen/bin' }] as const
    const ran = await bench.run('chosen-tool; ls "$HELD"; (echo x > "$HELD/x") 2> /dev/null || echo read-only; pwd', { mounts, readOnly: [{ hostPath: folder, into: '/held', variable: 'HELD' }] })
    expect(ran).toMatchObject({ ok: true, value: { exitCode: 0, cwd: '/workspace', logTail: `tool\nbin\nread-only\n${bench.workspaceDir}\n` } })
    expect(readdirSync(runRoot())).toEqual([])
  }, patient)

  test('says which feature is missing where a folder would need another name', async () => {
    const mount = { id: 'm', label: 'node_modules', kind: 'dependency', hostPath: bench.dir, into: 'node_modules', mode: 'read-only', pathEntry: null } as const
    expect(await bench.run('true', { mounts: [mount] })).toMatchObject({ ok: false, error: { code: 'folder-refused', message: expect.stringContaining('on macOS nothing can be shown at another place') as string, todo: expect.stringContaining('copied') as string } })
    expect(await bench.run('true', { readOnly: [{ hostPath: bench.dir, into: '/oracle' }] })).toMatchObject({ ok: false, error: { code: 'sandbox-failed', message: expect.stringContaining('“/oracle”') as string } })
    expect(await bench.run('true', { cwd: '/workspace/gone' })).toMatchObject({ ok: false, error: { code: 'command-refused' } })
  }, patient)
})

describe('when the host is killed', () => {
  test('nobody of agent and commands outlives it, and the next run proves that and sweeps', async () => {
    const [commandSeconds, daemonSeconds] = [seconds(), seconds()]
    host = spawn(process.execPath, [join(import.meta.dirname, 'host-program.suite.ts'), commandSeconds, daemonSeconds, 'seatbelt'], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(host.stdout as NodeJS.ReadableStream, 'data')) as [Buffer]
    const word = JSON.parse(line.toString('utf8')) as { readonly pid: number; readonly startTime: string; readonly dir: string }
    hostDir = word.dir
    await vi.waitFor(() => { expect(sleeping(commandSeconds)).toBe(2) }, eventually)
    const gone = once(host, 'exit')
    host.kill('SIGKILL')
    await gone
    await vi.waitFor(() => { expect([sleeping(commandSeconds), sleeping(daemonSeconds), commandLines().filter((text) => text.includes(word.dir))]).toEqual([0, 0, []]) }, eventually)
    const next = seatbeltOnStandIn({ runRoot: '', openCodeBinary: () => openCodeBinary, limits: () => defaultSandboxLimits, clock: { now: () => 7 }, ids: { next: (prefix) => prefix } }, word.dir)
    expect(await next.endOrphans([{ pid: word.pid, startTime: word.startTime }])).toMatchObject({ method: 'orphans-ended', at: 7, detail: expect.stringContaining('1 recorded') as string })
    expect(readdirSync(join(word.dir, 'a "run\'s'))).toEqual([])
  }, patient)
})

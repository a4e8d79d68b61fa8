import { createServer } from 'node:http'
import { once } from 'node:events'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { holdNamespace } from './pid-namespace.ts'
import { openBench, order, type Bench } from './sandbox.suite.ts'

let bench: Bench
beforeEach(() => { bench = openBench() })
afterEach(() => bench.close())

test('starts the agent with its own environment and nothing of the host\'s', async () => {
  process.env['CANARY_SECRET'] = 'canary-77'
  const agent = await bench.start({ env: { BUN_BE_BUN: '1', PATH: '/usr/bin:/bin', HOME: '/home/agent', OF_THE_AGENT: 'yes' } })
  delete process.env['CANARY_SECRET']
  const { value } = await order(agent, { eval: 'return [process.env, process.cwd(), require("fs").readFileSync("/proc/1/environ", "latin1")]' })
  const [env, cwd, first] = value as [Record<string, string>, string, string]
  expect(env).toEqual({ BUN_BE_BUN: '1', PATH: '/usr/bin:/bin', HOME: '/home/agent', OF_THE_AGENT: 'yes' })
  expect(cwd).toBe('/workspace')
  expect(first).not.toContain('canary-77')
})

test('the agent reaches the model proxy and nothing else', async () => {
  const other = createServer((_req, res) => { res.end('reached') }).listen(0, '127.0.0.1')
  await once(other, 'listening')
  const port = String((other.address() as { port: number }).port)
  const agent = await bench.start()
  expect((await order(agent, { eval: 'return (await fetch("http://127.0.0.1:7000/v1")).text()' })).value).toBe('from the proxy')
  for (const url of [`http://127.0.0.1:${port}`, 'http://192.0.2.1/']) expect((await order(agent, { eval: `return fetch("${url}").then(() => "reached", () => "blocked")` })).value).toBe('blocked')
  other.close()
})

test('reaches a proxy that was restarted: its new socket is found by its name', async () => {
  const agent = await bench.start()
  const ask = async (): Promise<unknown> => (await order(agent, { eval: 'return fetch("http://127.0.0.1:7000/").then((answer) => answer.text(), () => "nobody")' })).value
  expect(await ask()).toBe('from the proxy')
  await bench.restartProxy('from the next proxy')
  expect(await ask()).toBe('from the next proxy')
})

test('the agent has no interpreter, no host files and cannot write outside its own', async () => {
  const agent = await bench.start()
  const { value } = await order(agent, { eval: `
    const { spawnSync } = require('child_process'), fs = require('fs'), failed = [], refused = {}
    for (const name of ['bash', 'sh', 'dash', 'git', 'perl', 'env', 'python3']) if (!spawnSync(name, ['--version']).error) failed.push('runs ' + name)
    for (const path of ['/root', '/home/' + 'tester', '/etc/shadow', '/sys/class', '${bench.dir}']) if (fs.existsSync(path)) failed.push('sees ' + path)
    for (const path of ['/usr/x', '/etc/x', '/x', '/opt/app/x', '/opt/app/shell', '/opt/opencode/x', '/workspace/.opencode/x', '/workspace/opencode.json', '/workspace/opencode.jsonc', '/proc/sys/kernel/core_pattern']) try { fs.writeFileSync(path, 'x'); failed.push('writes ' + path) } catch (error) { refused[path] = error.code }
    for (const path of ['/workspace/x', '/home/agent/x', '/tmp/x']) try { fs.writeFileSync(path, 'x') } catch { failed.push('cannot write ' + path) }
    for (const path of ['/run/app/egress/proxy.sock', '/run/app/broker.sock']) try { fs.unlinkSync(path); failed.push('removes ' + path) } catch (error) { refused[path] = error.code }
    return [failed, refused, fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).length < 10, spawnSync('rg', ['--version']).status]` })
  // Refused by what is mounted or by rights; a path that is only misspelt is not.
  const blocked = expect.stringMatching(/^(EROFS|EACCES)$/) as string
  const kept = ['/usr/x', '/etc/x', '/x', '/opt/app/x', '/opt/app/shell', '/opt/opencode/x', '/workspace/.opencode/x', '/workspace/opencode.json', '/workspace/opencode.jsonc', '/proc/sys/kernel/core_pattern', '/run/app/egress/proxy.sock', '/run/app/broker.sock']
  expect(value).toEqual([[], Object.fromEntries(kept.map((path) => [path, blocked])), true, 0])
})

test('code of the workspace does not run beside the agent\'s secrets', async () => {
  writeFileSync(join(bench.workspaceDir, 'bunfig.toml'), 'preload = ["/workspace/evil.js"]\n')
  writeFileSync(join(bench.stateDir, '.bunfig.toml'), 'preload = ["/workspace/evil.js"]\n')
  writeFileSync(join(bench.workspaceDir, '.env'), 'BUN_OPTIONS="--preload /workspace/evil.js"\n')
  writeFileSync(join(bench.workspaceDir, 'evil.js'), 'require("fs").appendFileSync("/workspace/evil-ran", process.argv.join(" ") + "\\n")\n')
  const agent = await bench.start({ env: { BUN_BE_BUN: '1', PATH: '/usr/bin:/bin', HOME: '/home/agent', BUN_OPTIONS: '', XDG_CONFIG_HOME: '/home/agent' } })
  expect(await order(agent, { text: 'echo ran' })).toMatchObject({ code: 0, out: 'ran\n' })
  // The stand-in agent itself is told to read no configuration, so whoever ran it was the bridge or the shell client.
  expect(existsSync(join(bench.workspaceDir, 'evil-ran'))).toBe(false)
})

test('a control socket that the agent swaps afterwards is never dialled', async () => {
  const agent = await bench.start()
  await order(agent, { eval: 'const fs = require("fs"); fs.unlinkSync("/run/ctl/control.sock"); fs.symlinkSync("/etc/passwd", "/run/ctl/control.sock")' })
  expect(lstatSync(agent.controlSocketPath).isSocket()).toBe(true)
  expect((await order(agent, { eval: 'return 1' })).value).toBe(1)
})

test('a control socket that is none is refused at the start', async () => {
  const swap = 'const fs = require("fs"); fs.unlinkSync("/run/ctl/control.sock"); fs.symlinkSync("/run/app/broker.sock", "/run/ctl/control.sock"); console.log("agent listening"); setInterval(() => {}, 1e6)'
  writeFileSync(join(bench.stateDir, 'swap.js'), swap)
  expect(await bench.launch({ args: ['/home/agent/swap.js'] })).toMatchObject({ ok: false, error: { code: 'sandbox-failed', message: expect.stringContaining('control socket') as string } })
})

test('a stop ends daemons of the agent and proves that nobody is left', async () => {
  const agent = await bench.start()
  await order(agent, { eval: 'for (let i = 0; i < 3; i += 1) require("child_process").spawn("setsid", ["sleep", "987651"], { detached: true, stdio: "ignore" }).unref(); return 0' })
  const namespace = await holdNamespace(agent.pid)
  // Each setsid starts its sleep as another process and ends: one look at all may fall between the two.
  await expect.poll(async () => (await namespace?.members())?.pids.length).toBeGreaterThanOrEqual(6)
  const [proof, again] = await Promise.all([agent.stop(), agent.stop()])
  expect(proof).toMatchObject({ method: 'pid-namespace-empty' })
  expect(again).toBe(proof)
  expect(proof.checkedProcesses).toBeGreaterThan(0)
  expect((await namespace?.members())?.pids).toEqual([])
  await namespace?.release()
  expect(await agent.exited).toEqual({ code: null, signal: 'SIGKILL', limitHit: null })
  expect([readdirSync(bench.workspaceDir), readdirSync(bench.runRoot)]).toEqual([[], []])
})

test('an agent that ends by itself is reported with its exit code, proven gone and tidied up', async () => {
  const agent = await bench.start()
  await order(agent, { eval: 'setImmediate(() => process.exit(9))' })
  expect(await agent.exited).toEqual({ code: 9, signal: null, limitHit: null })
  expect(await agent.stop()).toMatchObject({ method: 'pid-namespace-empty' })
  expect(readdirSync(bench.runRoot)).toEqual([])
})

test('names the process by pid and start time', async () => {
  const agent = await bench.start()
  const stat = readFileSync(`/proc/${String(agent.pid)}/stat`, 'latin1')
  expect(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]).toBe(agent.startTime)
})

test('an agent that ends before it is ready fails with its last words', async () => {
  writeFileSync(join(bench.stateDir, 'broken.js'), 'console.error("no such model"); process.exit(3)')
  expect(await bench.launch({ args: ['/home/agent/broken.js'] })).toMatchObject({ ok: false, error: { code: 'sandbox-failed', message: expect.stringContaining('no such model') as string } })
  expect([readdirSync(bench.workspaceDir), readdirSync(bench.runRoot)]).toEqual([[], []])
})

test('an agent that never says that it is ready is ended', async () => {
  expect(await bench.launch({ readyLine: /never/, readyWithinMs: 300 })).toMatchObject({ ok: false, error: { code: 'sandbox-failed', message: expect.stringContaining('300 ms') as string } })
  expect(readdirSync(bench.runRoot)).toEqual([])
})

test('a start can be called off', async () => {
  const caller = new AbortController()
  const launched = bench.sandbox.launch({
    label: 'test', workspaceDir: bench.workspaceDir, stateDir: bench.stateDir, binaryPath: process.execPath, args: [], env: {}, egressSocketPath: join(bench.dir, 'egress/proxy.sock'), controlPort: 4096, readyLine: /never/, readyWithinMs: 15_000, mounts: [],
    decideCommand: () => Promise.resolve({ verdict: 'refuse', reason: 'test' }), onCommandEnded: () => undefined, onLine: () => undefined,
  }, caller.signal)
  caller.abort()
  expect(await launched).toMatchObject({ ok: false, error: { code: 'cancelled' } })
  expect(readdirSync(bench.runRoot)).toEqual([])
})

test.each([['a binary', 'binaryPath', 'opencode-missing'], ['a workspace', 'workspaceDir', 'sandbox-failed'], ['a socket of the proxy', 'egressSocketPath', 'sandbox-failed']] as const)('%s that is missing is a failure, not a crash', async (_what, field, code) => {
  expect(await bench.launch({ [field]: join(bench.dir, 'missing') })).toMatchObject({ ok: false, error: { code } })
})

test('a link at .opencode is refused before anything starts', async () => {
  mkdirSync(join(bench.dir, 'elsewhere'))
  symlinkSync(join(bench.dir, 'elsewhere'), join(bench.workspaceDir, '.opencode'))
  expect(await bench.launch()).toMatchObject({ ok: false, error: { code: 'sandbox-failed' } })
})

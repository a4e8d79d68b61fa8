import type { ChildProcess } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { Client } from 'undici'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { defaultSandboxLimits } from '../../src-preload/contract/limits.ts'
import type { VendorCli } from '../../src-preload/contract/settings.ts'
import { createModelGateway, type SupervisedGateway } from '../adapters/proxy/gateway.ts'
import { coder, countingIds, entries, lead, nodeFork, realClock, realTimers, runFolder, targetOn, taskOf } from '../adapters/proxy/node-fork.suite.ts'
import { VendorJobs } from '../adapters/proxy/vendor-jobs.ts'
import { createVendorSandbox } from '../adapters/sandbox/vendor-sandbox.ts'
import { vendorIdOf, type ServingRules } from '../core/gateway/vendor.ts'
import type { GatewayCallEnd } from '../engine/ports.ts'
import { releaseAll } from '../proxy/proxy.suite.ts'
import { stubAnswer, stubProgram, type StubVendor } from '../proxy/vendor-program.suite.ts'

const openCodeBinary = resolve(import.meta.dirname, `../../node_modules/opencode-linux-${process.arch}/bin/opencode`)
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  await releaseAll()
})

interface Bench { readonly gateway: SupervisedGateway; readonly stub: ReturnType<typeof stubProgram>; readonly rules: { now: Omit<ServingRules, 'vendorId'> }; readonly vendor: { now: VendorCli | null }; readonly children: ChildProcess[]; readonly ends: GatewayCallEnd[]; readonly logs: string[]; readonly runRoot: string }

/** The proxy in its own process, its app side, and the vendor's program in its real sandbox. */
async function bench(behaviour: StubVendor = {}): Promise<Bench> {
  const folder = runFolder()
  const stub = stubProgram(behaviour)
  // Its interpreter stands outside /usr: the owner names that folder.
  const vendor = { now: { ...stub.cli, folders: [dirname(process.execPath)] } as VendorCli | null }
  const rules = { now: { directEnabled: true, warmEnabled: true, execEnabled: true, vendorLabel: 'Muse' } }
  const children: ChildProcess[] = []
  const logs: string[] = []
  const vendorJobs = new VendorJobs({
    sandbox: createVendorSandbox({ runRoot: join(folder.path, 'v'), openCodeBinary: () => openCodeBinary, limits: () => defaultSandboxLimits, clock: realClock }), vendor: () => vendor.now, homeDir: join(folder.path, 'home'), runRoot: folder.path,
    log: (_level, message) => { logs.push(message) },
  })
  const gateway = createModelGateway({
    fork: nodeFork(entries.proxy, children), runRoot: folder.path, credentials: () => Promise.resolve(null), clock: realClock, timers: realTimers, ids: countingIds(), log: (_level, message) => { logs.push(message) },
    preferredPort: 0, serving: () => ({ ...rules.now, vendorId: vendorIdOf(vendor.now) }), vendorJobs,
  })
  cleanups.push(() => { folder.release() }, () => gateway.stop())
  gateway.onAdmission(() => Promise.resolve({ admit: true }))
  const ends: GatewayCallEnd[] = []
  gateway.onCallEnded((end) => ends.push(end))
  expect(await gateway.start()).toMatchObject({ ok: true })
  return { gateway, stub, rules, vendor, children, ends, logs, runRoot: folder.path }
}

const deadTarget = targetOn(1, { fallback: 'Muse' })
const plain = { model: 'stub-model', messages: [{ role: 'user', content: 'hello' }] }

async function access(gateway: SupervisedGateway, bot = lead, target = deadTarget): Promise<{ token: string; socketPath: string }> {
  const opened = await gateway.open({ taskId: taskOf('task_1'), bot, target })
  if (!opened.ok) throw new Error(opened.error.message)
  return opened.value
}

async function ask(to: { readonly token: string; readonly socketPath: string }, body: unknown): Promise<{ status: number; path: unknown; text: string }> {
  const client = new Client('http://localhost', { socketPath: to.socketPath })
  cleanups.push(() => client.destroy())
  const reply = await client.request({ method: 'POST', path: '/v1/chat/completions', headers: { authorization: `Bearer ${to.token}` }, body: JSON.stringify(body) })
  return { status: reply.statusCode, path: reply.headers['x-muse-proxy-path'], text: await reply.body.text() }
}

describe('the fallbacks of the app', () => {
  test('run the vendor’s program in a sandbox: warm, then exec when the server refuses', async () => {
    const warm = await bench()
    expect(await ask(await access(warm.gateway), plain)).toMatchObject({ status: 200, path: 'warm', text: expect.stringContaining(stubAnswer) as string })
    const [start, request] = warm.stub.log()
    expect(start).toMatchObject({ cwd: '/workspace', args: ['serve', '--port', '4096'] })
    expect(start?.env).toContain('HTTPS_PROXY')
    expect(request?.body).toEqual({ model: 'stub-model', messages: plain.messages, stream: false })
    await vi.waitFor(() => { expect(warm.ends).toMatchObject([{ path: 'warm', modelAnswered: 'muse-2026', failure: null }]) })
    const exec = await bench({ serve: 'refuses' })
    expect(await ask(await access(exec.gateway), plain)).toMatchObject({ status: 200, path: 'exec', text: expect.stringContaining(stubAnswer) as string })
    expect(exec.stub.log().at(-1)).toMatchObject({ cwd: '/workspace', args: ['exec', '--approval-mode', 'never', '--prompt-file', '/run/app/prompt.txt'], prompt: 'hello' })
  })

  test('are never started for a request with tools, nor for a task that was not asked about them', async () => {
    const { gateway, stub } = await bench()
    expect(await ask(await access(gateway, coder), { ...plain, tools: [{ type: 'function', function: { name: 'write' } }] })).toMatchObject({ status: 502, text: expect.stringContaining('tools_fallback_ineligible') as string })
    expect(await ask(await access(gateway, lead, targetOn(1)), plain)).toMatchObject({ status: 502, text: expect.stringContaining('upstream_unreachable') as string })
    expect(stub.log()).toEqual([])
  })

  test('leave nobody and nothing behind when the app ends', async () => {
    const { gateway, stub, runRoot } = await bench()
    await ask(await access(gateway), plain)
    await gateway.stop()
    expect(stub.log()).toHaveLength(3)
    expect(readdirSync(join(runRoot, 'v'))).toEqual([])
    expect(readdirSync(runRoot).sort()).toEqual(['home', 'v'])
  })

  test('are ended with the proxy process, and serve again when it is back', async () => {
    const { gateway, stub, children } = await bench()
    const to = await access(gateway)
    await ask(to, plain)
    children[0]?.kill('SIGKILL')
    await vi.waitFor(async () => { expect(await ask(to, plain)).toMatchObject({ path: 'warm' }) }, 15_000)
    expect(stub.starts()).toEqual(['serve', 'serve'])
  })

  test('follow the owner’s settings without a restart', async () => {
    const { gateway, stub, rules, vendor } = await bench()
    const to = await access(gateway)
    rules.now = { ...rules.now, warmEnabled: false }
    await gateway.refresh()
    expect(await ask(to, plain)).toMatchObject({ path: 'exec' })
    vendor.now = null
    rules.now = { ...rules.now, execEnabled: false }
    await gateway.refresh()
    expect(await ask(to, plain)).toMatchObject({ status: 502, path: 'direct' })
    expect(stub.starts()).toEqual(['exec'])
  })

  test('run no program that was put in the place of the approved one, also before the proxy has heard of it', async () => {
    const { gateway, stub, vendor, logs } = await bench()
    const to = await access(gateway)
    vendor.now = { ...stub.cli, folders: [dirname(process.execPath)], execArgs: [...stub.cli.execArgs, '--more'] }
    expect(await ask(to, plain)).toMatchObject({ status: 502, text: expect.stringContaining('Another vendor') as string })
    await gateway.refresh()
    expect(await ask(to, plain)).toMatchObject({ status: 502, path: 'direct', text: expect.stringContaining('upstream_unreachable') as string })
    expect([stub.log(), logs]).toEqual([[], []])
    // Opened again, which is done only for what was approved as it is now.
    expect(await ask(await access(gateway), plain)).toMatchObject({ status: 200 })
  })

  test('have one way out, to the hosts that the owner named', async () => {
    const named = createServer((_request, response) => { response.end('from outside') }).listen(0, '127.0.0.1')
    cleanups.push(() => { named.closeAllConnections(); named.close() })
    await new Promise((listening) => named.once('listening', listening))
    const { port } = named.address() as AddressInfo
    const { gateway, vendor, logs, stub } = await bench()
    vendor.now = { ...stub.cli, program: '/usr/bin/node', hosts: [`127.0.0.1:${port}`], execArgs: ['-e', `
      const net = require('net'), proxy = new URL(process.env.HTTPS_PROXY)
      const connect = (to) => new Promise((done) => { const socket = net.connect(proxy.port, proxy.hostname, () => socket.write('CONNECT ' + to + ' HTTP/1.1\\r\\nHost: ' + to + '\\r\\n\\r\\n'))
        let text = ''; socket.on('data', (d) => { text += d; if (text.includes(' 200 ') && !text.includes('outside')) socket.write('GET / HTTP/1.0\\r\\n\\r\\n') }); socket.on('close', () => done(text)); socket.on('error', () => done('error')) })
      Promise.all(['127.0.0.1:${port}', '127.0.0.1:22', 'example.com:443', 'localhost:443'].map(connect)).then((all) => console.log(all.map((text) => text.includes('outside') ? 'reached' : text.slice(9, 12)).join(' ')))`] }
    const to = await access(gateway)
    await gateway.refresh()
    const reply = await ask(to, { ...plain, stream: false })
    expect(JSON.parse(reply.text)).toMatchObject({ choices: [{ message: { content: 'reached 403 403 403' } }] })
    expect(logs.filter((line) => line.includes('refused'))).toHaveLength(3)
  })
})

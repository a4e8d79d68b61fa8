import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, constants, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ask, codeOf, releaseAll, releaseLater, startVendor } from './proxy.suite.ts'
import { ClientServer } from './http1/client-server.ts'
import { readArguments, startStandalone } from './standalone.ts'
import { processTime } from './time.ts'
import { alive, stubAnswer, stubProgram } from './vendor-program.suite.ts'

afterEach(releaseAll)

const entry = resolve(import.meta.dirname, 'countersign-proxy.ts')
const token = 'a-client-token-of-at-least-32-characters'
const key = 'sk-canary-0123456789abcdef'

interface Running { readonly child: ChildProcess; readonly port: number; readonly out: () => string; readonly complaints: () => string; readonly lines: (event: string) => Record<string, unknown>[]; readonly path: string; readonly folder: string }

function configFile(config: object, folder = mkdtempSync(join(tmpdir(), 'cs-alone-'))): { readonly path: string; readonly folder: string } {
  releaseLater(() => { rmSync(folder, { recursive: true, force: true }) })
  const path = join(folder, 'proxy.json')
  writeFileSync(path, JSON.stringify(config))
  return { path, folder }
}

/** A configuration that is read when the test writes it. `write`: runs once the program waits for it, and then ends it. */
function pipedConfig(): { readonly path: string; readonly write: (run: (pipe: FileHandle) => Promise<unknown>) => Promise<void> } {
  const { path } = configFile({})
  rmSync(path)
  expect(spawnSync('mkfifo', [path]).status).toBe(0)
  return {
    path,
    write: async (run) => {
      // Opens once somebody reads, and not before.
      const pipe = await vi.waitFor(() => open(path, constants.O_WRONLY | constants.O_NONBLOCK), 15_000)
      try { await run(pipe) } finally { await pipe.close() }
    },
  }
}

function run(path: string, env: Record<string, string> = {}): { readonly child: ChildProcess; out(): string; complaints(): string } {
  const child = spawn(process.execPath, [entry, '--config', path], { env: { PATH: process.env['PATH'] ?? '', TOKEN: token, KEY: key, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, complaints] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (piece: string) => { out += piece })
  child.stderr.setEncoding('utf8').on('data', (piece: string) => { complaints += piece })
  return { child, out: () => out, complaints: () => complaints }
}

/** The program on this configuration, once it listens. */
async function start(config: object, env: Record<string, string> = {}): Promise<Running> {
  const { path, folder } = configFile(config)
  const { child, out, complaints } = run(path, env)
  releaseLater(async () => { if (child.exitCode === null && child.signalCode === null) { child.kill('SIGTERM'); await once(child, 'exit') } })
  const lines = (event: string): Record<string, unknown>[] => out().split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>).filter((line) => line['event'] === event)
  await vi.waitFor(() => { if (child.exitCode !== null) throw new Error(`it ended: ${complaints()}`); expect(lines('listening')).toHaveLength(1) }, 15_000)
  return { child, path, folder, out, complaints, lines, port: Number(new URL(String(lines('listening')[0]?.['url'])).port) }
}

const provider = (baseUrl: string, more: object = {}): object => ({ id: 'acme', label: 'Acme', baseUrl, api: 'chat', models: [{ id: 'large', outputTokens: 400, price: { inputMicroUsd: 1_000_000, outputMicroUsd: 2_000_000, asOf: '2026-11-29' } }, { id: 'small', outputTokens: 400 }], key: { env: 'KEY' }, ...more })
const configOf = (baseUrl: string, more: { readonly client?: object; readonly rest?: object; readonly provider?: object } = {}): object => ({
  port: 0, providers: [provider(baseUrl, more.provider)], clients: [{ name: 'dev', token: { env: 'TOKEN' }, models: [{ provider: 'acme', model: 'large', fallback: true }, { provider: 'acme', model: 'small' }], ...more.client }], ...more.rest,
})
const send = (running: Running, body: object, bearer = token): ReturnType<typeof ask> => ask(running, { headers: { authorization: `Bearer ${bearer}` }, body: JSON.stringify({ messages: [{ role: 'user', content: 'hi' }], ...body }) })

function vendorOf(seen: unknown[], usage: object | null = { prompt_tokens: 10, completion_tokens: 20 }): Promise<string> {
  return startVendor((request, response) => {
    seen.push(request.headers.authorization)
    request.resume()
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ model: 'large-2026-01-01', choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }], ...(usage === null ? {} : { usage }) }))
  })
}

describe('countersign-proxy', () => {
  test('serves the models of a client under its token, with the key of the provider, and tells each call', async () => {
    const seen: unknown[] = []
    const running = await start(configOf(await vendorOf(seen)))
    expect(await send(running, { model: 'large' })).toMatchObject({ status: 200, headers: { 'x-muse-proxy-path': 'direct' } })
    expect(await send(running, { model: 'small' })).toMatchObject({ status: 200 })
    expect(seen).toEqual([`Bearer ${key}`, `Bearer ${key}`])
    expect(await send(running, { model: 'other' })).toMatchObject({ status: 403 })
    expect(await send(running, { model: 'large' }, 'x'.repeat(40))).toMatchObject({ status: 401 })
    const models = await ask(running, { path: '/v1/models', method: 'GET', headers: { authorization: `Bearer ${token}` } })
    expect((JSON.parse(models.text) as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual(['large', 'small'])
    await vi.waitFor(() => { expect(running.lines('call')).toHaveLength(3) })
    expect(running.lines('call')[0]).toMatchObject({ client: 'dev', path: 'direct', status: 200, modelAnswered: 'large-2026-01-01', inputTokens: 10, outputTokens: 20, costMicroUsd: 50, failure: null })
    expect(running.out() + running.complaints() + running.child.spawnargs.join(' ')).not.toMatch(new RegExp(`${key}|${token}`))
  })

  test('serves text-only calls by the vendor’s program where direct is turned off, and says loudly that it has no sandbox', async () => {
    const stub = stubProgram()
    const { folders: _folders, hosts: _hosts, ...vendor } = stub.cli
    const seen: unknown[] = []
    const running = await start(configOf(await vendorOf(seen), { rest: { fallbacks: { warmEnabled: true, vendor } } }), { MUSE_PROXY_DIRECT: '0' })
    expect(running.complaints()).toContain('without a sandbox')
    const reply = await send(running, { model: 'large' })
    expect([reply.status, reply.headers['x-muse-proxy-path']]).toEqual([200, 'warm'])
    expect(reply.text).toContain(stubAnswer)
    expect(codeOf(await send(running, { model: 'large', tools: [{ type: 'function' }] }))).toBe('tools_fallback_ineligible')
    expect(codeOf(await send(running, { model: 'small' }))).toBe('direct_disabled')
    expect([seen, stub.starts()]).toEqual([[], ['serve']])
    const [started] = stub.log()
    expect(started?.env).not.toContain('KEY')
    running.child.kill('SIGTERM')
    await once(running.child, 'exit')
    await vi.waitFor(() => { expect(alive(started?.pid ?? 0)).toBe(false) }, 5_000)
  })

  test('reads keys, tokens and caps again on SIGHUP; what is wrong changes nothing', async () => {
    const seen: unknown[] = []
    const baseUrl = await vendorOf(seen)
    const { folder } = configFile({})
    writeFileSync(join(folder, 'key'), 'first-key\n', { mode: 0o600 })
    const config = configOf(baseUrl, { provider: { key: { file: join(folder, 'key') } } })
    const running = await start(config)
    await send(running, { model: 'large' })
    writeFileSync(join(folder, 'key'), 'second-key\n')
    running.child.kill('SIGHUP')
    await vi.waitFor(() => { expect(running.lines('reloaded')).toHaveLength(1) })
    await send(running, { model: 'large' })
    expect(seen).toEqual(['Bearer first-key', 'Bearer second-key'])
    writeFileSync(running.path, '{')
    running.child.kill('SIGHUP')
    await vi.waitFor(() => { expect(running.complaints()).toContain('not reloaded') })
    expect(await send(running, { model: 'large' })).toMatchObject({ status: 200 })
    writeFileSync(running.path, JSON.stringify({ ...config, clients: [{ name: 'dev', token: { env: 'TOKEN' }, models: [{ provider: 'acme', model: 'small' }] }] }))
    running.child.kill('SIGHUP')
    await vi.waitFor(() => { expect(running.lines('reloaded')).toHaveLength(2) })
    expect(await send(running, { model: 'large' })).toMatchObject({ status: 403 })
  })

  test('loses no call’s line when it is ended right behind the answer, whatever ends it', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const running = await start(configOf(await vendorOf([])))
      const closed = once(running.child.stdout ?? running.child, 'close')
      for (let count = 0; count < 5; count += 1) await send(running, { model: 'large' })
      running.child.kill(signal)
      await closed
      expect(running.lines('call').map(({ call }) => call)).toEqual([1, 2, 3, 4, 5])
    }
  })

  test('ended in the middle of a run of the vendor’s program, tells of its call and leaves neither the run nor its prompt', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const stub = stubProgram({ exec: 'hangs' })
      const { folders: _folders, hosts: _hosts, ...vendor } = stub.cli
      const temporary = mkdtempSync(join(tmpdir(), 'cs-temp-'))
      releaseLater(() => { rmSync(temporary, { recursive: true, force: true }) })
      const running = await start(configOf('http://127.0.0.1:1/v1', { rest: { directEnabled: false, fallbacks: { execEnabled: true, vendor } } }), { TMPDIR: temporary })
      const closed = once(running.child.stdout ?? running.child, 'close')
      send(running, { model: 'large' }).catch(() => undefined)
      await vi.waitFor(() => { expect(stub.starts()).toEqual(['exec']) })
      expect(readdirSync(temporary)).toHaveLength(1)
      running.child.kill(signal)
      await closed
      expect(running.lines('call')).toMatchObject([{ client: 'dev', path: 'exec', failure: { code: 'cancelled' } }])
      expect(readdirSync(temporary)).toEqual([])
      expect(alive(stub.log()[0]?.pid ?? 0)).toBe(false)
    }
  })

  test('lets parallel calls that keep to their model’s limit spend no more than the caps, in tokens, money and requests', async () => {
    const caps = [{ tokensMax: 3_000 }, { moneyMicroUsdMax: 4_500 }, { requestsMax: 5 }]
    for (const cap of caps) {
      const seen: unknown[] = []
      // Each call uses as much output as is reserved for it. No stream, so nothing bounds it but its vendor: what bounds streams is in standalone-budget.test.ts.
      const running = await start(configOf(await vendorOf(seen, { prompt_tokens: 40, completion_tokens: 400 }), { client: { budget: cap } }))
      const replies = await Promise.all(Array.from({ length: 40 }, () => send(running, { model: 'large' })))
      const served = replies.filter(({ status }) => status === 200).length
      expect(replies.filter(({ status }) => status !== 200).every((reply) => reply.status === 403 && codeOf(reply) === 'budget_exhausted')).toBe(true)
      await vi.waitFor(() => { expect(running.lines('call')).toHaveLength(served) })
      const sum = (name: string): number => running.lines('call').reduce((total, line) => total + Number(line[name]), 0)
      expect(served).toBeGreaterThan(0)
      if ('tokensMax' in cap) expect(sum('inputTokens') + sum('outputTokens')).toBeLessThanOrEqual(cap.tokensMax ?? 0)
      if ('moneyMicroUsdMax' in cap) expect(sum('costMicroUsd')).toBeLessThanOrEqual(cap.moneyMicroUsdMax ?? 0)
      if ('requestsMax' in cap) expect(served).toBe(cap.requestsMax)
    }
  }, 60_000)

  test('refuses an unknown price, and goes no further after an unknown usage, under a money cap', async () => {
    const running = await start(configOf(await vendorOf([], null), { client: { budget: { moneyMicroUsdMax: 100_000 } } }))
    const priceless = await send(running, { model: 'small' })
    expect([priceless.status, codeOf(priceless)]).toEqual([403, 'usage_unknown'])
    expect(priceless.text).toContain('price of this model is not known')
    expect((await send(running, { model: 'large' })).status).toBe(200)
    await vi.waitFor(() => { expect(running.lines('call')).toHaveLength(1) })
    const after = await send(running, { model: 'large', again: true })
    expect([after.status, codeOf(after)]).toEqual([403, 'usage_unknown'])
    expect(after.text).toContain('what an earlier call cost is not known')
  })

  test.each<[string, object, string]>([
    ['a key in the file', { rest: { providers: [{ ...provider('http://127.0.0.1:1/v1'), key: key }] } }, 'providers.0.key'], ['an unknown member', { rest: { colour: 'red' } }, 'colour'], ['a variable that is not set', { provider: { key: { env: 'NO_SUCH' } } }, 'NO_SUCH'],
    ['a short token', { client: { token: { env: 'SHORT' } } }, 'at least 32'], ['a model that is nowhere', { client: { models: [{ provider: 'acme', model: 'huge' }] } }, 'huge'], ['a fallback without a program', { rest: { fallbacks: { execEnabled: true } } }, 'no vendor program'], ['a base URL that is none', { provider: { baseUrl: 'file:///etc/passwd' } }, 'baseUrl'],
    ['a token that is too long', { client: { token: { env: 'LONG' } } }, 'clients.dev.token: at most 256'], ['a token that no header can present', { client: { token: { env: 'PHRASE' } } }, 'clients.dev.token: only'],
    ['a key that no header can hold', { provider: { key: { env: 'LINES' } } }, 'providers.acme.key'], ['a key that is too long', { provider: { key: { env: 'ENDLESS' } } }, 'providers.acme.key'],
    ['an exchange without a key', { provider: { key: undefined, exchange: { url: 'http://127.0.0.1:1/token', how: 'bearer' } } }, 'providers.acme.exchange'],
    ['a server that is not told its port', { rest: { fallbacks: { warmEnabled: true, vendor: { label: 'Muse', program: '/usr/bin/muse', serveArgs: [], execArgs: [], homeFolder: null } } } }, 'serveArgs'], ['a run that is not told its prompt', { rest: { fallbacks: { execEnabled: true, vendor: { label: 'Muse', program: '/usr/bin/muse', serveArgs: [], execArgs: [], homeFolder: null } } } }, 'execArgs'],
    ['a password in the base URL', { provider: { baseUrl: `http://user:${key}@127.0.0.1:1/v1` } }, 'providers.acme.baseUrl'], ['a user name in the base URL', { provider: { baseUrl: `http://${key}@127.0.0.1:1/v1` } }, 'providers.acme.baseUrl'],
    ['a password in the address of an exchange', { provider: { exchange: { url: `http://user:${key}@127.0.0.1:1/token`, how: 'bearer' } } }, 'providers.acme.exchange'],
  ])('does not start with %s, and says where', async (_what, more, words) => {
    const { path } = configFile(configOf('http://127.0.0.1:1/v1', more))
    const warned: string[] = []
    const env = { TOKEN: token, KEY: key, SHORT: 'short', LONG: 'x'.repeat(257), PHRASE: 'a pass phrase of more than 32 $igns', LINES: `${key}\n${key}`, ENDLESS: 'x'.repeat(10_001) }
    expect(await startStandalone(path, { env, time: processTime, print: () => { throw new Error('it started') }, warn: (line) => { warned.push(line) } })).toBeNull()
    expect(warned).toHaveLength(1)
    expect(warned[0]).toContain(words)
    for (const secret of [key, ...Object.values(env).filter((value) => value.length > 20)]) expect(warned[0]).not.toContain(secret)
  })

  test('takes the longest token, with every character that a header can present', async () => {
    const longest = 'aZ09._~+/=-'.padEnd(256, 'x')
    const running = await start(configOf(await vendorOf([])), { TOKEN: longest })
    expect(await send(running, { model: 'large' }, longest)).toMatchObject({ status: 200 })
  })

  test('serves models whose names differ only in their last character', async () => {
    const names = ['a', 'b'].map((last) => `${'m'.repeat(199)}${last}`)
    const running = await start(configOf(await vendorOf([]), { provider: { models: names.map((id) => ({ id })) }, client: { models: names.map((model) => ({ provider: 'acme', model })) } }))
    for (const model of names) expect(await send(running, { model })).toMatchObject({ status: 200 })
  })

  test('ends with 2 and one line when its port is taken, and takes no other one', async () => {
    const taken = Number(new URL(await vendorOf([])).port)
    const { path } = configFile(configOf('http://127.0.0.1:1/v1', { rest: { port: taken } }))
    const { child, complaints, out } = run(path)
    expect(((await once(child, 'close')) as [number])[0]).toBe(2)
    expect(complaints()).toMatch(new RegExp(`^countersign-proxy: .*port ${String(taken)} cannot be used.*\\n$`))
    expect(out()).toBe('')
  })

  test('does not start where it can listen on nothing, and says why', async () => {
    const listen = vi.spyOn(ClientServer.prototype, 'listen').mockRejectedValue(new Error('listen EADDRNOTAVAIL: address not available 127.0.0.1'))
    releaseLater(() => { listen.mockRestore() })
    const { path } = configFile(configOf('http://127.0.0.1:1/v1'))
    const warned: string[] = []
    expect(await startStandalone(path, { env: { TOKEN: token, KEY: key }, time: processTime, print: () => undefined, warn: (line) => { warned.push(line) } })).toBeNull()
    expect(warned).toEqual([expect.stringContaining('EADDRNOTAVAIL')])
  })

  test('told to read its configuration again while it starts, does so once it has started', async () => {
    const config = JSON.stringify(configOf('http://127.0.0.1:1/v1'))
    const { path, write } = pipedConfig()
    const { child, out, complaints } = run(path)
    releaseLater(async () => { if (child.exitCode === null && child.signalCode === null) { child.kill('SIGKILL'); await once(child, 'exit') } })
    await write(async (pipe) => { child.kill('SIGHUP'); await pipe.writeFile(config) })
    await vi.waitFor(() => { expect(out()).toContain('"listening"') })
    await write((pipe) => pipe.writeFile(config))
    await vi.waitFor(() => { expect(out()).toMatch(/"listening"[^]*"reloaded"/) })
    expect([complaints(), child.exitCode, child.signalCode]).toEqual(['', null, null])
  })

  test('told to end while it starts, ends with 0', async () => {
    const { path, write } = pipedConfig()
    const { child, complaints } = run(path)
    const ended = once(child, 'exit')
    await write(async (pipe) => { child.kill('SIGTERM'); await pipe.writeFile(JSON.stringify(configOf('http://127.0.0.1:1/v1'))) })
    await ended
    expect([child.exitCode, child.signalCode, complaints()]).toEqual([0, null, ''])
  })

  test.each<[string, string | null, readonly RegExp[]]>([
    ['is not there', null, [/cannot be read \(ENOENT\)/, /--config/, /docs\/proxy\.md/]], ['is no JSON', '{ "port": 1, // mine\n}', [/no JSON/, /Comments and trailing commas/]], ['is empty', '', [/no JSON/]], ['is a list', '[]', [/the whole/, /docs\/proxy\.md/]],
  ])('ends with 2 and says what to do when its configuration %s', async (_what, text, says) => {
    const { path } = configFile({})
    if (text === null) rmSync(path)
    else writeFileSync(path, text)
    const { child, complaints, out } = run(path)
    expect(((await once(child, 'exit')) as [number])[0]).toBe(2)
    for (const words of says) expect(complaints()).toMatch(words)
    expect([out(), complaints().trim().split('\n').length]).toEqual(['', 1])
  })

  test('ends with 0 when it is told to, and frees its port', async () => {
    const running = await start(configOf('http://127.0.0.1:1/v1'))
    running.child.kill('SIGTERM')
    expect(((await once(running.child, 'exit')) as [number])[0]).toBe(0)
    await expect(ask(running, { path: '/healthz', method: 'GET' })).rejects.toThrow(/ECONNREFUSED/)
  })

  test('does not read a secret that others can read', async () => {
    const { path, folder } = configFile(configOf('http://127.0.0.1:1/v1', { provider: { key: { file: 'key' } } }))
    writeFileSync(join(folder, 'key'), 'x')
    chmodSync(join(folder, 'key'), 0o644)
    const { child, complaints } = run(path)
    await once(child, 'exit')
    expect(complaints()).toContain('chmod 600')
  })

  test('takes a configuration and nothing else from its arguments', () => {
    expect(readArguments(['--config', 'a.json'])).toEqual({ config: 'a.json' })
    expect(readArguments(['--help'])).toMatchObject({ exitCode: 0 })
    for (const args of [[], ['--config'], ['--config', ''], ['--key', 'x'], ['--config', 'a', '--key', 'x']]) expect(readArguments(args)).toMatchObject({ exitCode: 2 })
  })

  test('serves the example of its documentation, asked as the documentation asks', async () => {
    const text = readFileSync(resolve(import.meta.dirname, '../../docs/proxy.md'), 'utf8')
    const example = /```json\n([\s\S]*?)```/.exec(text)?.[1] ?? ''
    const seen: unknown[] = []
    // The vendor stands in for acme.example, and any free port for the one that may be taken; the rest is as it is written there.
    const config = example.replace('https://api.acme.example/v1', await vendorOf(seen)).replace('"port": 18747', '"port": 0')
    expect(config).not.toContain('acme.example')
    const running = await start(JSON.parse(config) as object, { ACME_API_KEY: key, EDITOR_PROXY_TOKEN: token })
    const [, path, body] = /curl http:\/\/127\.0\.0\.1:18747(\S+) -H "Authorization: Bearer \$EDITOR_PROXY_TOKEN" [\s\S]*?-d '([^']+)'/.exec(text) ?? []
    const reply = await ask(running, { path: path ?? '', headers: { authorization: `Bearer ${token}` }, body: body ?? '' })
    expect([reply.status, reply.headers['x-muse-proxy-path'], seen]).toEqual([200, 'direct', [`Bearer ${key}`]])
    // 10 tokens in at 3 USD and 20 out at 15 USD a million.
    await vi.waitFor(() => { expect(running.lines('call')).toMatchObject([{ client: 'editor', modelAnswered: 'large-2026-01-01', costMicroUsd: 330 }]) })
    expect(running.complaints()).toBe('')
  })
})

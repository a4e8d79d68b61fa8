import type { ChildProcess } from 'node:child_process'
import { statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client } from 'undici'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { directOnly } from '../../core/gateway/vendor.ts'
import type { AdmissionAsk, GatewayCallEnd, ToolPreview } from '../../engine/ports.ts'
import { createModelGateway, type ModelGatewayDeps, type SupervisedGateway } from './gateway.ts'
import { coder, countingIds, entries, lead, nodeFork, realClock, realTimers, runFolder, targetOn, taskOf } from './node-fork.suite.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => { for (const cleanup of cleanups.splice(0).reverse()) await cleanup() })

interface Seen { readonly started: AdmissionAsk[]; readonly ended: GatewayCallEnd[]; readonly previews: ToolPreview[]; readonly logs: string[] }

async function startGateway(changes: Partial<ModelGatewayDeps> = {}): Promise<{ gateway: SupervisedGateway; children: ChildProcess[]; seen: Seen; runRoot: string }> {
  const folder = runFolder()
  const children: ChildProcess[] = []
  const seen: Seen = { started: [], ended: [], previews: [], logs: [] }
  const gateway = createModelGateway({
    fork: nodeFork(entries.proxy, children), runRoot: folder.path, credentials: () => Promise.resolve(null), clock: realClock, timers: realTimers, ids: countingIds(),
    log: (_level, message) => { seen.logs.push(message) }, preferredPort: 0, ...changes,
  })
  cleanups.push(() => folder.release(), () => gateway.stop())
  gateway.onAdmission(() => Promise.resolve({ admit: true }))
  gateway.onCallStarted((call) => seen.started.push(call))
  gateway.onCallEnded((end) => seen.ended.push(end))
  gateway.onPreview((preview) => seen.previews.push(preview))
  expect(await gateway.start()).toMatchObject({ ok: true })
  return { gateway, children, seen, runRoot: folder.path }
}

/** A stub vendor; `handle` gets the request's Authorization header. */
async function startVendor(handle: Parameters<typeof createServer>[1]): Promise<number> {
  const server: Server = createServer(handle)
  cleanups.push(() => new Promise((done) => { server.close(done); server.closeAllConnections() }))
  await new Promise<void>((done) => { server.listen(0, '127.0.0.1', done) })
  return (server.address() as AddressInfo).port
}

async function ask(socketPath: string, token: string, body: unknown, path = '/v1/chat/completions'): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  const client = new Client('http://localhost', { socketPath })
  cleanups.push(() => client.destroy())
  const reply = await client.request({ method: 'POST', path, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-session-id': 'ses_1' }, body: JSON.stringify(body) })
  return { status: reply.statusCode, headers: reply.headers, text: await reply.body.text() }
}

async function opened(gateway: SupervisedGateway, ...[grant]: Parameters<SupervisedGateway['open']>): Promise<{ token: string; socketPath: string }> {
  const result = await gateway.open(grant)
  if (!result.ok) throw new Error(result.error.message)
  return result.value
}

const jsonReply = JSON.stringify({ model: 'stub-model-2026', choices: [{ message: { content: 'hi' } }], usage: { prompt_tokens: 7, completion_tokens: 3 } })

describe('the model gateway', () => {
  test('serves a call under its grant, reports it and adds the key only on the way out', async () => {
    const keys: unknown[] = []
    const port = await startVendor((request, response) => { keys.push(request.headers.authorization); response.setHeader('content-type', 'application/json'); response.end(jsonReply) })
    const { gateway, seen, children } = await startGateway({ credentials: (id) => Promise.resolve(id === 'stub' ? 'sk-canary-key' : null) })
    const { token, socketPath } = await opened(gateway, { taskId: taskOf('task_1'), bot: lead, target: targetOn(port, { needsKey: true }) })
    const reply = await ask(socketPath, token, { model: 'stub-model', messages: [] })
    expect(reply).toMatchObject({ status: 200, text: jsonReply, headers: { 'x-muse-proxy-path': 'direct' } })
    expect(keys).toEqual(['Bearer sk-canary-key'])
    await vi.waitFor(() => expect(seen.ended).toHaveLength(1))
    expect(seen.started).toMatchObject([{ taskId: 'task_1', bot: 'lead', model: 'stub-model', api: 'chat' }])
    expect(seen.ended[0]).toMatchObject({ callNumber: seen.started[0]?.callNumber, status: 200, modelAnswered: 'stub-model-2026', inputTokens: 7, outputTokens: 3, failure: null, path: 'direct' })
    expect(children[0]?.spawnargs.join(' ')).not.toContain('sk-canary-key')
  })

  test('hands a key that was changed to the running proxy: the next call goes out with it, and calls in flight end as they began', async () => {
    const keys: unknown[] = []
    let finish: () => void = () => undefined
    const port = await startVendor((request, response) => {
      keys.push(request.headers.authorization)
      response.setHeader('content-type', 'application/json')
      if (keys.length === 1) finish = () => { response.end(jsonReply) }
      else response.end(jsonReply)
    })
    let key: string | null = 'sk-old'
    const { gateway, children } = await startGateway({ credentials: () => Promise.resolve(key) })
    const { token, socketPath } = await opened(gateway, { taskId: taskOf('task_1'), bot: lead, target: targetOn(port, { needsKey: true }) })
    const inFlight = ask(socketPath, token, { model: 'stub-model', messages: [] })
    await vi.waitFor(() => expect(keys).toHaveLength(1))
    key = 'sk-new'
    await gateway.refresh()
    expect(await ask(socketPath, token, { model: 'stub-model', messages: [] })).toMatchObject({ status: 200 })
    finish()
    expect(await inFlight).toMatchObject({ status: 200 })
    expect(keys).toEqual(['Bearer sk-old', 'Bearer sk-new'])
    key = null
    await gateway.refresh()
    expect(await ask(socketPath, token, { model: 'stub-model', messages: [] })).toMatchObject({ status: 502 })
    expect(children).toHaveLength(1)
  })

  test('opens one private socket a grant, which only that grant’s token opens', async () => {
    const port = await startVendor((_request, response) => { response.end(jsonReply) })
    const { gateway } = await startGateway()
    const first = await opened(gateway, { taskId: taskOf('task_1'), bot: coder, target: targetOn(port) })
    const second = await opened(gateway, { taskId: taskOf('task_1'), bot: lead, target: targetOn(port) })
    expect(statSync(first.socketPath).mode & 0o777).toBe(0o600)
    expect(first.socketPath).not.toBe(second.socketPath)
    expect(await ask(first.socketPath, second.token, { model: 'stub-model' })).toMatchObject({ status: 401 })
    expect(await ask(first.socketPath, first.token, { model: 'stub-model' })).toMatchObject({ status: 200 })
    expect(await opened(gateway, { taskId: taskOf('task_1'), bot: coder, target: targetOn(port) })).toEqual(first)
  })

  test('tells the proxy what the owner has changed while it started', async () => {
    const port = await startVendor((_request, response) => { response.end(jsonReply) })
    let asked = 0
    const { gateway } = await startGateway({ serving: () => ({ ...directOnly, directEnabled: asked++ === 0 }) })
    const { token, socketPath } = await opened(gateway, { taskId: taskOf('task_1'), bot: coder, target: targetOn(port) })
    expect(await ask(socketPath, token, { model: 'stub-model', messages: [] })).toMatchObject({ status: 502, text: expect.stringContaining('direct_disabled') as string })
  })

  test('lets nothing out that the app does not admit, and repeats the refusal from memory', async () => {
    let reached = 0
    const port = await startVendor((_request, response) => { reached++; response.end(jsonReply) })
    const { gateway, seen } = await startGateway()
    let asked = 0
    gateway.onAdmission(() => { asked++; return Promise.resolve({ admit: false, code: 'budget-exhausted', message: 'The budget of requests is used up.' }) })
    const { token, socketPath } = await opened(gateway, { taskId: taskOf('task_1'), bot: coder, target: targetOn(port) })
    for (let time = 0; time < 6; time++) {
      const reply = await ask(socketPath, token, { model: 'stub-model', messages: [] })
      expect(reply.status).toBe(403)
      expect(JSON.parse(reply.text)).toMatchObject({ error: { code: 'budget-exhausted', message: 'The budget of requests is used up.' } })
    }
    expect({ reached, asked, started: seen.started, ended: seen.ended }).toEqual({ reached: 0, asked: 1, started: [], ended: [] })
  })

  test('starts the proxy again when it dies, opens the same grants, and ends what was in flight as failed', async () => {
    const port = await startVendor((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 'call_1', function: { name: 'write', arguments: '{"filePath":"/workspace/a"' } }] } }] })}\n\n`)
    })
    const { gateway, children, seen } = await startGateway()
    const { token, socketPath } = await opened(gateway, { taskId: taskOf('task_1'), bot: coder, target: targetOn(port) })
    const broken = ask(socketPath, token, { model: 'stub-model', stream: true }).catch((error: unknown) => error)
    await vi.waitFor(() => expect(seen.previews.at(-1)).toMatchObject({ callId: 'call_1', target: '/workspace/a', state: 'growing', sessionId: 'ses_1' }), 10_000)
    const firstNumber = seen.started[0]?.callNumber ?? 0
    children[0]?.kill('SIGKILL')
    expect(await broken).toBeInstanceOf(Error)
    await vi.waitFor(() => expect(seen.ended).toHaveLength(1), 10_000)
    expect(seen.ended[0]).toMatchObject({ callNumber: firstNumber, status: null, inputTokens: null, outputTokens: null, failure: { code: 'proxy-failed' } })
    expect(seen.previews.filter((preview) => preview.state !== 'growing')).toMatchObject([{ callId: 'call_1', state: 'interrupted' }])
    await vi.waitFor(() => expect(gateway.state()).toMatchObject({ state: 'ready' }), 10_000)
    await vi.waitFor(async () => expect(await statusOf(socketPath, token)).toBe(200), 10_000)
    await vi.waitFor(() => expect(seen.started).toHaveLength(2))
    expect(seen.started[1]?.callNumber).toBeGreaterThan(firstNumber)
    expect(children).toHaveLength(2)
  })

  test('closes a task: its token and its socket are gone, the other task’s stay', async () => {
    const port = await startVendor((_request, response) => { response.end(jsonReply) })
    const { gateway } = await startGateway()
    const first = await opened(gateway, { taskId: taskOf('task_1'), bot: coder, target: targetOn(port) })
    const second = await opened(gateway, { taskId: taskOf('task_2'), bot: coder, target: targetOn(port) })
    await gateway.close(taskOf('task_1'))
    await expect(ask(first.socketPath, first.token, { model: 'stub-model' })).rejects.toThrow()
    expect(await ask(second.socketPath, first.token, { model: 'stub-model' })).toMatchObject({ status: 401 })
    expect(await ask(second.socketPath, second.token, { model: 'stub-model' })).toMatchObject({ status: 200 })
  })

  test('takes another port and says so when the preferred one is taken', async () => {
    const taken = await startVendor((_request, response) => { response.end() })
    const { gateway } = await startGateway({ preferredPort: taken })
    const { port, note, state } = gateway.state()
    expect(state).toBe('ready')
    expect(port).not.toBe(taken)
    expect(note).toContain(String(taken))
  })

  test('says what is wrong when the process cannot be started', async () => {
    const folder = runFolder()
    cleanups.push(() => folder.release())
    let forks = 0
    const gateway = createModelGateway({
      fork: () => { forks++; return { post: () => undefined, kill: () => undefined, exited: Promise.resolve({ code: 1 }) } },
      runRoot: folder.path, credentials: () => Promise.resolve(null), clock: realClock, timers: realTimers, ids: countingIds(), log: () => undefined,
    })
    expect(await gateway.start()).toMatchObject({ ok: false, error: { code: 'proxy-failed' } })
    expect(forks).toBe(3)
    expect(await gateway.open({ taskId: taskOf('task_1'), bot: coder, target: targetOn(1) })).toMatchObject({ ok: false, error: { code: 'proxy-failed' } })
  })
})

/** Only the status of a reply that streams for ever. */
async function statusOf(socketPath: string, token: string): Promise<number> {
  const client = new Client('http://localhost', { socketPath })
  cleanups.push(() => client.destroy())
  const reply = await client.request({ method: 'POST', path: '/v1/chat/completions', headers: { authorization: `Bearer ${token}` }, body: JSON.stringify({ model: 'stub-model', stream: true }) })
  reply.body.on('error', () => undefined)
  return reply.statusCode
}

import { expect, test } from 'vitest'
import type { TaskId } from '../src-preload/contract/ids.ts'
import { err, ok } from '../src-preload/contract/result.ts'
import { failure } from '../src-preload/contract/failure.ts'
import { createFakeTime } from './adapters/memory/fake-time.ts'
import type { SupervisedGateway } from './adapters/proxy/gateway.ts'
import type { Fork } from './adapters/proxy/child-port.ts'
import type { ModelTarget } from './engine/ports.ts'
import { ModelProcesses } from './model-processes.ts'

const target = (demo: boolean): ModelTarget => ({ ref: { providerId: 'p', modelId: 'm' }, providerLabel: 'P', baseUrl: demo ? 'http://127.0.0.1/v1' : 'https://models.example/v1', api: 'chat', remote: !demo, demo, needsKey: false, contextTokens: 1, outputTokens: 1, price: null })

/** A gateway that counts its starts, and a demo model whose free ports count up from 4001. */
function room(options: { readonly proxyFails?: number; readonly portTaken?: boolean } = {}) {
  const time = createFakeTime()
  const seen = { proxyStarts: 0, demoStarts: 0, opened: [] as string[], stopped: [] as string[] }
  const deaths: (() => void)[] = []
  const gateway = {
    start: () => { seen.proxyStarts += 1; return Promise.resolve(seen.proxyStarts <= (options.proxyFails ?? 0) ? err(failure('proxy-failed', 'no', 'no')) : ok({ port: 1, note: null })) },
    open: (grant: { target: ModelTarget }) => { seen.opened.push(grant.target.baseUrl); return Promise.resolve(ok({ token: 't', socketPath: 's' })) },
    stop: () => { seen.stopped.push('proxy'); return Promise.resolve() },
  } as unknown as SupervisedGateway
  const portFor = (start: number, preferred: number): number => (preferred === 0 || options.portTaken === true ? 4_000 + start : preferred)
  const forkDemo: Fork = (onMessage) => {
    seen.demoStarts += 1
    let die: () => void = () => undefined
    const exited = new Promise<{ code: number | null }>((resolve) => { die = () => { resolve({ code: null }) } })
    deaths.push(die)
    return { post: (message) => { onMessage({ is: 'ready', port: portFor(seen.demoStarts, (message as { preferredPort: number }).preferredPort) }) }, kill: () => { seen.stopped.push('demo'); die() }, exited }
  }
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined, flush: () => Promise.resolve() }
  const processes = new ModelProcesses({ gateway, forkDemo, timers: time, log, holdMs: 0 })
  const open = (demo: boolean) => processes.onDemand.open({ taskId: 'task_1' as TaskId, bot: 'lead', target: target(demo) })
  return { time, seen, deaths, processes, open }
}

test('neither process runs before a grant is opened, and a remote one starts no demo model', async () => {
  const { seen, open } = room()
  expect(seen).toMatchObject({ proxyStarts: 0, demoStarts: 0 })
  expect((await open(false)).ok).toBe(true)
  expect(seen).toMatchObject({ proxyStarts: 1, demoStarts: 0, opened: ['https://models.example/v1'] })
})

test('many grants at once share one start of each, and the demo’s has its real address', async () => {
  const { seen, open, processes } = room()
  processes.warmUp({ demo: true })
  await Promise.all([open(true), open(true), open(false)])
  expect(seen).toMatchObject({ proxyStarts: 1, demoStarts: 1 })
  expect(seen.opened.filter((url) => url === 'http://127.0.0.1:4001/v1')).toHaveLength(2)
})

test('a proxy that did not start is tried again by the next grant', async () => {
  const { seen, open } = room({ proxyFails: 1 })
  expect(await open(false)).toMatchObject({ ok: false, error: { code: 'proxy-failed' } })
  expect((await open(false)).ok).toBe(true)
  expect(seen.proxyStarts).toBe(2)
})

test('a demo model that died listens again where it did: a Bot B that runs keeps the address of its grant', async () => {
  const { seen, time, deaths, open } = room()
  await open(true)
  deaths[0]?.()
  await time.advance(1_000)
  expect(seen.demoStarts).toBe(2)
  await open(true)
  expect(seen.opened).toEqual(['http://127.0.0.1:4001/v1', 'http://127.0.0.1:4001/v1'])
})

test('a demo model that died and cannot listen there any more has a new address, which grants get', async () => {
  const { seen, time, deaths, open } = room({ portTaken: true })
  await open(true)
  deaths[0]?.()
  await time.advance(1_000)
  await open(true)
  expect(seen.opened).toEqual(['http://127.0.0.1:4001/v1', 'http://127.0.0.1:4002/v1'])
})

test('nothing starts while the app quits, and both are ended', async () => {
  const { seen, time, processes, open } = room()
  await open(true)
  await processes.stop()
  expect([...seen.stopped].sort()).toEqual(['demo', 'proxy'])
  await time.advance(60_000)
  expect(seen.demoStarts).toBe(1)
  const late = room()
  late.processes.startNoMore()
  late.processes.warmUp({ demo: true })
  expect(await late.open(false)).toMatchObject({ ok: false, error: { code: 'cancelled' } })
  expect(late.seen).toMatchObject({ proxyStarts: 0, demoStarts: 0 })
})

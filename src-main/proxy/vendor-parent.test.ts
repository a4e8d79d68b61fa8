import { expect, test } from 'vitest'
import type { FromProxy } from '../core/gateway/messages.ts'
import type { VendorWord } from '../core/gateway/vendor.ts'
import { createProxy } from './proxy.ts'
import { processTime } from './time.ts'
import { ParentVendorHost } from './vendor-parent.ts'

const ended: VendorWord = { is: 'ended', exitCode: 0, text: 'of the process before', failure: null }

test('main\'s last word on a job of the process before reaches no job of this one', () => {
  const asked: number[] = []
  const post = (message: FromProxy): void => { if (message.is === 'vendor-ask') asked.push(message.jobId) }
  const words: VendorWord[] = []
  for (const firstCallNumber of [1_000, 2_000]) {
    const host = new ParentVendorHost(post, () => 'vendor')
    host.begin(firstCallNumber)
    host.start({ is: 'serve' }, (word) => { words.push(word) })
    for (const jobId of asked.slice(0, -1)) host.take(jobId, ended)
  }
  expect([new Set(asked).size, words]).toEqual([2, []])
})

test('jobs are numbered from what the app says at the start', async () => {
  const asked: number[] = []
  const post = (message: FromProxy): void => {
    if (message.is === 'vendor-ask') asked.push(message.jobId)
    if (message.is === 'admission-ask') proxy.admit(message.ask.callNumber, { admit: true })
    if (message.is === 'ready') listening(message.port ?? 0)
    if (message.is === 'granted') granted()
  }
  let [listening, granted, stopped] = [(_port: number): void => undefined, (): void => undefined, (): void => undefined]
  const proxy = createProxy({ time: processTime, post, onStopped: () => { stopped() } })
  const port = await new Promise<number>((done) => { listening = done; proxy.take({ is: 'start', preferredPort: 0, firstCallNumber: 5_000, serving: { directEnabled: false, warmEnabled: false, execEnabled: true, vendorLabel: 'Muse', vendorId: 'vendor' } }) })
  const token = 'token-of-the-lead-0123456789-abcdefghij'
  await new Promise<void>((done) => { granted = done; proxy.take({ is: 'grant', grant: { grantId: 'gw_1', taskId: 'task_1', bot: 'lead', token, socketPath: null, credential: null, target: { baseUrl: 'http://127.0.0.1:1/v1', api: 'chat', modelId: 'm-1', providerLabel: 'Vendor', needsKey: false, fallback: 'vendor' } } }) })
  const reply = fetch(`http://127.0.0.1:${String(port)}/v1/chat/completions`, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: JSON.stringify({ model: 'm-1', messages: [{ role: 'user', content: 'hi' }] }) })
  await expect.poll(() => asked.length).toBe(1)
  expect(asked[0]).toBeGreaterThanOrEqual(5_000)
  proxy.take({ is: 'vendor-word', jobId: asked[0], word: { ...ended, text: 'hello' } })
  expect((await reply).headers.get('x-muse-proxy-path')).toBe('exec')
  await new Promise<void>((done) => { stopped = done; proxy.take({ is: 'stop' }) })
})

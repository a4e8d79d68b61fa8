import { afterEach, describe, expect, test, vi } from 'vitest'
import { ask, releaseAll, releaseLater, startProxy, startVendor, type ProxyOptions, type Reply, type RunningProxy } from './proxy.suite.ts'
import { plainVendorHost } from './vendor-children.ts'
import { stubProgram } from './vendor-program.suite.ts'

afterEach(releaseAll)

describe('a text-only chat request whose direct call is still waited for', () => {
  /** A vendor that takes a request and does not answer; `end` breaks its connection off. */
  async function waiting(serving: ProxyOptions['serving']): Promise<{ readonly running: RunningProxy; readonly stub: ReturnType<typeof stubProgram>; readonly reply: Promise<Reply>; readonly end: () => void }> {
    const stub = stubProgram()
    let end: (() => void) | null = null
    const running = await startProxy(await startVendor((request) => { request.resume(); end = () => { request.socket.destroy() } }), { vendor: plainVendorHost(stub.cli, process.env), serving: { vendorLabel: 'Muse', ...serving }, target: { fallback: 'vendor' } })
    releaseLater(() => { running.proxy.take({ is: 'configure', serving: { directEnabled: true, warmEnabled: false, execEnabled: false, vendorLabel: '', vendorId: 'none' } }) })
    const reply = ask(running, { body: JSON.stringify({ model: 'm-1', messages: [{ role: 'user', content: 'hello' }] }) })
    await vi.waitFor(() => { expect(end).not.toBeNull() })
    return { running, stub, reply, end: () => end?.() }
  }
  const both = { warmEnabled: true, execEnabled: true }
  const off = { directEnabled: true, warmEnabled: false, execEnabled: false, vendorLabel: 'Muse', vendorId: 'vendor' }

  test.each<readonly [string, (running: RunningProxy) => Promise<void> | void]>([
    ['turned off', ({ proxy }) => { proxy.take({ is: 'configure', serving: off }) }],
    ['given another program', ({ proxy }) => { proxy.take({ is: 'configure', serving: { ...off, ...both, vendorId: 'another' } }) }],
    ['taken from the task', (running) => running.regrant({ target: { baseUrl: running.baseUrl, api: 'chat', modelId: 'm-1', providerLabel: 'Vendor', needsKey: false } })],
  ])('is not answered by a fallback that was %s meanwhile', async (_what, change) => {
    const { running, stub, reply, end } = await waiting(both)
    await change(running)
    end()
    const { status, headers } = await reply
    expect([status, headers['x-muse-proxy-path'], stub.log()]).toEqual([502, 'direct', []])
    await vi.waitFor(() => { expect(running.ofKind('call-ended')).toHaveLength(1) })
    expect(running.ofKind('call-ended')[0]?.end, 'nobody else was asked').not.toHaveProperty('directLeft')
  })

  test('is answered by the fallback that is left, and by one that was turned on meanwhile', async () => {
    const left = await waiting(both)
    left.running.proxy.take({ is: 'configure', serving: { ...off, execEnabled: true } })
    left.end()
    expect((await left.reply).headers['x-muse-proxy-path']).toBe('exec')
    const later = await waiting({ execEnabled: false })
    later.running.proxy.take({ is: 'configure', serving: { ...off, execEnabled: true } })
    later.end()
    expect((await later.reply).headers['x-muse-proxy-path']).toBe('exec')
    expect([...left.stub.starts(), ...later.stub.starts()]).toEqual(['exec', 'exec'])
  })
})

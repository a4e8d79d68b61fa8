import { afterEach, describe, expect, test, vi } from 'vitest'
import type { VendorWord } from '../core/gateway/vendor.ts'
import { ask, releaseAll, startProxy, startVendor, type ProxyOptions, type RunningProxy } from './proxy.suite.ts'
import { processTime, type Time } from './time.ts'
import type { VendorHost } from './vendor-host.ts'

afterEach(releaseAll)

const body = JSON.stringify({ model: 'm-1', messages: [{ role: 'user', content: 'hi' }] })
const execOnly: ProxyOptions = { directEnabled: false, target: { fallback: 'vendor' }, serving: { execEnabled: true } }
const stopMs = 7_777

/** A host whose runs end when the test says so. */
function heldHost(): { readonly host: VendorHost; readonly runs: { readonly end: () => void; stopped: boolean }[] } {
  const runs: { readonly end: () => void; stopped: boolean }[] = []
  const host: VendorHost = {
    start: (_order, onWord: (word: VendorWord) => void) => {
      const run = { stopped: false, end: () => { onWord({ is: 'ended', exitCode: null, text: '', failure: null }) } }
      runs.push(run)
      return { stop: () => { run.stopped = true } }
    },
  }
  return { host, runs }
}

/** A clock whose stop limit passes when the test says so. */
function heldTime(): { readonly time: Time; readonly pass: () => void; readonly waited: () => boolean } {
  let late: (() => void) | null = null
  const time: Time = { ...processTime, after: (ms, run) => { if (ms !== stopMs) return processTime.after(ms, run); late = run; return () => { late = null } } }
  return { time, pass: () => late?.(), waited: () => late !== null }
}

/** A call whose run has begun; the client is cut off at the stop. */
async function begun(running: RunningProxy, runs: readonly unknown[]): Promise<void> {
  void ask(running, { body }).catch(() => undefined)
  await vi.waitFor(() => { expect(runs).toHaveLength(1) })
}

describe('a proxy that is told to stop', () => {
  test('has stopped once the run of the vendor’s program has ended and its call is told', async () => {
    const { host, runs } = heldHost()
    const { time, waited } = heldTime()
    const told: number[] = []
    const running = await startProxy('http://127.0.0.1:1/v1', { ...execOnly, vendor: host, time, limits: { stopMs }, onStopped: () => { told.push(running.ofKind('call-ended').length) } })
    await begun(running, runs)
    running.proxy.take({ is: 'stop' })
    await vi.waitFor(() => { expect([runs[0]?.stopped, waited()]).toEqual([true, true]) })
    expect(told).toEqual([])
    runs[0]?.end()
    await vi.waitFor(() => { expect(told).toEqual([1]) })
  })

  test('waits no longer than its limit for a run that does not end, and says so', async () => {
    const { host, runs } = heldHost()
    const { time, pass, waited } = heldTime()
    let stopped = false
    const running = await startProxy('http://127.0.0.1:1/v1', { ...execOnly, vendor: host, time, limits: { stopMs }, onStopped: () => { stopped = true } })
    await begun(running, runs)
    running.proxy.take({ is: 'stop' })
    await vi.waitFor(() => { expect(waited()).toBe(true) })
    expect(stopped).toBe(false)
    pass()
    await vi.waitFor(() => { expect(stopped).toBe(true) })
    expect(running.ofKind('log')).toMatchObject([{ level: 'error', message: expect.stringContaining('did not end') as string }])
    runs[0]?.end()
  })

  test('waits for no word of an app that gives none any more, and tells of the call all the same', async () => {
    const { time } = heldTime()
    let told: number | null = null
    const running = await startProxy('http://127.0.0.1:1/v1', { ...execOnly, time, limits: { stopMs }, onStopped: () => { told = running.ofKind('call-ended').length } })
    void ask(running, { body }).catch(() => undefined)
    await vi.waitFor(() => { expect(running.ofKind('vendor-ask')).toHaveLength(1) })
    running.proxy.take({ is: 'stop' })
    await vi.waitFor(() => { expect(told).toBe(1) })
    expect(running.ofKind('vendor-stop')).toHaveLength(1)
  })

  test('waits for no call that was refused, is not decided, or was let through too late', async () => {
    for (const [admission, late] of [[{ admit: false as const, code: 'stopped', message: 'no' }, null], [null, null], [null, { admit: true as const }]] as const) {
      const { time, waited } = heldTime()
      let stopped = false
      const impatient: Time = { ...time, after: (ms, run) => time.after(ms === 60_000 && late !== null ? 1 : ms, run) }
      const running = await startProxy(await startVendor((_request, response) => { response.end('{}') }), { time: impatient, limits: { stopMs }, admit: () => admission, onStopped: () => { stopped = true } })
      const asked = ask(running, { body }).catch(() => undefined)
      await vi.waitFor(() => { expect(running.asks).toHaveLength(1) })
      if (admission !== null || late !== null) await asked
      if (late !== null) running.proxy.take({ is: 'admission', callNumber: 1, admission: late })
      running.proxy.take({ is: 'stop' })
      await vi.waitFor(() => { expect(stopped).toBe(true) })
      expect(waited()).toBe(false)
    }
  })
})

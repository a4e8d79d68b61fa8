import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { proxyLimits } from './proxy-limits.ts'
import { ask, releaseAll, startProxy, startVendor, type RunningProxy } from './proxy.suite.ts'

afterEach(releaseAll)

const word = 'data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n'
const finish = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
const idle = { ...proxyLimits, quietMs: 40 }

function stream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
}

const told = (running: RunningProxy): readonly string[] => running.ofKind('call-progress').map(({ progress }) => progress.waits.for)

describe('what an open call waits for', () => {
  test('is told of a reply that goes on for a moment, and not again while that comes in', async () => {
    const running = await startProxy(await startVendor((_request, response) => {
      stream(response)
      let left = 12
      const next = (): void => { if (left-- === 0) response.end(finish); else response.write(word, () => { setTimeout(next, 10) }) }
      next()
    }), { idle })
    const before = Date.now()
    await ask(running)
    expect(told(running)).toEqual(['reply'])
    const [first] = running.ofKind('call-progress')
    expect(first?.progress).toMatchObject({ callNumber: 1, taskId: 'task_1', bot: 'coder' })
    expect(first?.progress.waits.since).toBeGreaterThanOrEqual(before)
    expect(running.posted.findIndex(({ is }) => is === 'call-progress')).toBeLessThan(running.posted.findIndex(({ is }) => is === 'call-ended'))
  })

  test('is told of a reply that falls silent, since its last byte, and of its going on', async () => {
    const proceed: { now: () => void; end: () => void } = { now: () => undefined, end: () => undefined }
    const running = await startProxy(await startVendor((_request, response) => {
      stream(response)
      response.write(word)
      proceed.now = () => { response.write(word) }
      proceed.end = () => { response.end(finish) }
    }), { idle })
    const reply = ask(running)
    await vi.waitFor(() => { expect(told(running)).toEqual(['reply', 'silence']) })
    const [begun, silent] = running.ofKind('call-progress').map(({ progress }) => progress.waits.since)
    expect(silent).toBeGreaterThanOrEqual(begun ?? Infinity)
    proceed.now()
    await vi.waitFor(() => { expect(told(running)[2]).toBe('reply') })
    proceed.end()
    await reply
  })

  test('tells signs of life from a reply', async () => {
    const running = await startProxy(await startVendor((_request, response) => {
      stream(response)
      response.write(word)
      const beat = setInterval(() => { response.write(': alive\n\n') }, 5)
      response.on('close', () => { clearInterval(beat) })
    }), { idle: { ...idle, eventIdleMs: 400 } })
    await ask(running)
    expect(told(running)).toContain('keep-alive')
    expect(running.ofKind('call-ended')).toHaveLength(1)
  })

  test('is told of nothing where no reply begins, and of none that has ended', async () => {
    const silent = await startProxy(await startVendor(() => undefined), { idle: { ...idle, headMs: 100 } })
    await ask(silent)
    expect(told(silent)).toEqual([])
    let calls = 0
    const over = await startProxy(await startVendor((_request, response) => { if ((calls += 1) === 1) response.end('{}'); else { stream(response); response.write(word) } }), { idle })
    await ask(over)
    // The same timer looks at both: once it has told of the silence of the second, it has passed the first more than once.
    void ask(over)
    await vi.waitFor(() => { expect(told(over)).toEqual(['reply', 'silence']) })
    expect(over.ofKind('call-progress').map(({ progress }) => progress.callNumber)).toEqual([2, 2])
  })

  test.each([[429, '7', 7_000], [503, null, undefined], [200, '7', undefined]])('comes with when a provider that answers %i wants to be asked again', async (status, after, retryAfterMs) => {
    const running = await startProxy(await startVendor((_request, response) => { response.writeHead(status, { 'content-type': 'application/json', ...(after === null ? {} : { 'retry-after': after }) }); response.end('{"error":{"message":"Slow down"}}') }))
    await ask(running)
    await vi.waitFor(() => { expect(running.ofKind('call-ended')).toHaveLength(1) })
    expect(running.ofKind('call-ended')[0]?.end.retryAfterMs).toBe(retryAfterMs)
  })
})

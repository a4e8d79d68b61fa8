import type { ChildProcess } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { startDemoProvider } from './demo-process.ts'
import { entries, nodeFork, realTimers } from './node-fork.suite.ts'

describe('the demo provider’s process', () => {
  test('listens on a loopback port until it is stopped', async () => {
    const children: ChildProcess[] = []
    const started = await startDemoProvider(nodeFork(entries.demo, children), { holdMs: 0, preferredPort: 0, timers: realTimers })
    if (!started.ok) throw new Error(started.error.message)
    const { port, stop } = started.value
    const models = await fetch(`http://127.0.0.1:${port}/v1/models`)
    expect(await models.json()).toMatchObject({ object: 'list' })
    await stop()
    expect(children.map((child) => child.signalCode)).toEqual(['SIGKILL'])
    await expect(fetch(`http://127.0.0.1:${port}/v1/models`)).rejects.toThrow()
  })

  test('says so when it does not start', async () => {
    const started = await startDemoProvider(() => ({ post: () => undefined, kill: () => undefined, exited: Promise.resolve({ code: 1 }) }), { holdMs: 0, preferredPort: 0, timers: realTimers })
    expect(started).toMatchObject({ ok: false, error: { code: 'proxy-failed' } })
  })
})

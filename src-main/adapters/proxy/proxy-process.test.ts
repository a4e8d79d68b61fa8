import { describe, expect, test } from 'vitest'
import { directOnly } from '../../core/gateway/vendor.ts'
import { ProxyProcess, type ProxyProcessDeps } from './proxy-process.ts'

interface FakeChild { readonly posted: unknown[]; killed: boolean; say(message: unknown): void; die(): Promise<void> }

/** Children and time that move only by hand. */
function stage(): { children: FakeChild[]; pauses: number[]; advance(ms: number): Promise<void>; deps: ProxyProcessDeps; states: string[]; log: string[] } {
  const children: FakeChild[] = []
  const pauses: number[] = []
  const states: string[] = []
  const log: string[] = []
  let now = 0
  let armed: { at: number; run: () => void }[] = []
  const settle = async (): Promise<void> => { await new Promise((resolve) => { setImmediate(resolve) }) }
  const deps: ProxyProcessDeps = {
    clock: { now: () => now },
    timers: {
      after: (ms, signal, run) => {
        pauses.push(ms)
        const timer = { at: now + ms, run }
        armed.push(timer)
        signal.addEventListener('abort', () => { armed = armed.filter((other) => other !== timer) }, { once: true })
      },
    },
    fork: (onMessage) => {
      let exit: (how: { code: number | null }) => void = () => undefined
      const child: FakeChild = { posted: [], killed: false, say: onMessage, die: async () => { exit({ code: 9 }); await settle() } }
      children.push(child)
      return { post: (message) => { child.posted.push(message) }, kill: () => { child.killed = true; exit({ code: null }) }, exited: new Promise((resolve) => { exit = resolve }) }
    },
    log: (_level, message) => { log.push(message) }, startMessage: () => ({ is: 'start', preferredPort: 0, firstCallNumber: 1, serving: directOnly }),
    onMessage: (message) => { log.push(message.is) }, onUp: () => { states.push('up') }, onDown: () => { states.push('down') }, onState: () => undefined,
  }
  const advance = async (ms: number): Promise<void> => {
    now += ms
    for (const timer of armed.filter((each) => each.at <= now)) { armed = armed.filter((each) => each !== timer); timer.run() }
    await settle()
  }
  return { children, pauses, advance, deps, states, log }
}

const ready = { is: 'ready', port: 1, note: null }

describe('the supervised proxy process', () => {
  test('starts again with growing pauses, and anew with short ones after a sound life', async () => {
    const { children, advance, deps, states } = stage()
    const supervised = new ProxyProcess(deps)
    const started = supervised.start()
    children[0]?.say(ready)
    expect(await started).toMatchObject({ ok: true, value: { port: 1 } })
    for (const pauseMs of [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) {
      await children.at(-1)?.die()
      const before = children.length
      await advance(pauseMs - 1)
      expect(children).toHaveLength(before)
      await advance(1)
      expect(children).toHaveLength(before + 1)
      children.at(-1)?.say(ready)
    }
    await advance(60_000)
    await children.at(-1)?.die()
    const before = children.length
    await advance(250)
    expect(children).toHaveLength(before + 1)
    expect(states.filter((state) => state === 'down')).toHaveLength(9)
  })

  test('tries again when a restarted child dies before it listens', async () => {
    const { children, advance, deps } = stage()
    const supervised = new ProxyProcess(deps)
    const started = supervised.start()
    children[0]?.say(ready)
    await started
    const up = supervised.whenUp(5_000)
    expect(await up).toBe(true)
    await children[0]?.die()
    const again = supervised.whenUp(60_000)
    await advance(250)
    await children[1]?.die()
    await advance(500)
    children[2]?.say(ready)
    expect(await again).toBe(true)
    expect(supervised.state).toBe('ready')
  })

  test('ends a child that does not listen within ten seconds', async () => {
    const { children, advance, deps } = stage()
    const started = new ProxyProcess(deps).start()
    await advance(10_000)
    expect(children[0]?.killed).toBe(true)
    await advance(250)
    children[1]?.say(ready)
    expect(await started).toMatchObject({ ok: true })
  })

  test('kills a child that does not stop, and starts no other', async () => {
    const { children, advance, deps } = stage()
    const supervised = new ProxyProcess(deps)
    const started = supervised.start()
    children[0]?.say(ready)
    await started
    const stopped = supervised.stop()
    expect(children[0]?.posted.at(-1)).toEqual({ is: 'stop' })
    expect(children[0]?.killed).toBe(false)
    await advance(3_000)
    await stopped
    expect(children[0]?.killed).toBe(true)
    await advance(60_000)
    expect(children).toHaveLength(1)
    expect(supervised.post({ is: 'stop' })).toBe(false)
  })

  test('that is stopped while its child starts stays stopped, though that child still says that it listens', async () => {
    const { children, advance, deps, states } = stage()
    const supervised = new ProxyProcess(deps)
    const started = supervised.start()
    const stopped = supervised.stop()
    children[0]?.say(ready)
    expect(supervised.state).toBe('stopped')
    await children[0]?.die()
    await stopped
    expect(await started).toMatchObject({ ok: false })
    await advance(60_000)
    expect([children.length, states.includes('up'), supervised.state]).toEqual([1, false, 'stopped'])
  })

  test('drops what it does not understand and what a dead child still says', async () => {
    const { children, advance, deps, log } = stage()
    const supervised = new ProxyProcess(deps)
    const started = supervised.start()
    children[0]?.say(ready)
    await started
    children[0]?.say({ is: 'granted' })
    await children[0]?.die()
    await advance(250)
    children[1]?.say(ready)
    children[0]?.say({ is: 'granted', grantId: 'g', failure: null })
    children[1]?.say({ is: 'granted', grantId: 'g', failure: null })
    expect(log.filter((line) => line === 'granted')).toHaveLength(1)
    expect(log.some((line) => line.includes('not understood'))).toBe(true)
  })
})

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTimers } from './timers.ts'

describe('timers', () => {
  beforeEach(() => { vi.useFakeTimers() })
  afterEach(() => { vi.useRealTimers() })
  const never = new AbortController().signal

  /** A machine whose wall clock and waking time can part. */
  function machine() {
    let slept = 0
    let setBy = 0
    const started = Date.now()
    const timers = createTimers({ now: () => Date.now() + slept + setBy }, () => Date.now() - started)
    return { timers, sleep: (ms: number) => { slept += ms }, setClock: (ms: number) => { setBy += ms } }
  }

  it('call back once when the time is up, not before, and never within the call', () => {
    const { timers } = machine()
    const run = vi.fn()
    timers.after(0, never, run)
    expect(run).not.toHaveBeenCalled()
    vi.advanceTimersByTime(0)
    timers.after(100, never, run)
    vi.advanceTimersByTime(99)
    expect(run).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(500_000)
    expect(run).toHaveBeenCalledTimes(2)
  })

  it('do not call back after an abort, at any time', () => {
    const { timers } = machine()
    const run = vi.fn()
    const before = new AbortController()
    before.abort()
    timers.after(1, before.signal, run)
    const during = new AbortController()
    timers.after(100_000, during.signal, run)
    vi.advanceTimersByTime(40_000)
    during.abort()
    vi.advanceTimersByTime(200_000)
    expect(run).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('reach deadlines beyond what one runtime timer can hold', () => {
    const { timers } = machine()
    const run = vi.fn()
    const thirtyDays = 30 * 24 * 3_600_000
    timers.after(thirtyDays, never, run)
    vi.advanceTimersByTime(thirtyDays - 1)
    expect(run).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(run).toHaveBeenCalledTimes(1)
  })

  it('count the time that the machine slept', () => {
    const { timers, sleep } = machine()
    const run = vi.fn()
    timers.after(600_000, never, run)
    vi.advanceTimersByTime(10_000)
    sleep(3_600_000)
    vi.advanceTimersByTime(15_000)
    expect(run).toHaveBeenCalledTimes(1)
  })

  it('are not delayed by a clock that is set back', () => {
    const { timers, setClock } = machine()
    const run = vi.fn()
    timers.after(60_000, never, run)
    vi.advanceTimersByTime(1_000)
    setClock(-86_400_000)
    vi.advanceTimersByTime(59_000)
    expect(run).toHaveBeenCalledTimes(1)
  })

  it('do not keep the process alive', () => {
    const script = `import { createTimers } from ${JSON.stringify(join(import.meta.dirname, 'timers.ts'))}; createTimers({ now: () => Date.now() }).after(3_600_000, new AbortController().signal, () => {})`
    expect(spawnSync(process.execPath, ['--input-type=module', '-e', script], { timeout: 15_000 })).toMatchObject({ status: 0, signal: null })
  })
})

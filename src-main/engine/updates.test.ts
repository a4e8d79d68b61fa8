import { describe, expect, test } from 'vitest'
import { failure } from '../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../src-preload/contract/result.ts'
import type { Failure } from '../../src-preload/contract/failure.ts'
import type { Settings } from '../../src-preload/contract/settings.ts'
import { createFakeTime, settled } from '../adapters/memory/fake-time.ts'
import { Updates, type UpdateSource } from './updates.ts'

const dayMs = 24 * 60 * 60 * 1_000

function bench(options: { readonly offered?: Result<string | null, Failure>; readonly mode?: Settings['updates']; readonly source?: Partial<UpdateSource> } = {}) {
  const time = createFakeTime()
  const seen = { checks: 0, downloads: 0, installs: 0, states: [] as string[] }
  const at = { mode: options.mode ?? 'notify', busy: null as string | null }
  const source: UpdateSource = {
    check: () => { seen.checks += 1; return Promise.resolve(options.offered ?? ok('2.0.0')) },
    download: (_signal, onShare) => { seen.downloads += 1; onShare(0.5); return Promise.resolve(ok(null)) },
    install: () => { seen.installs += 1 },
    ...options.source,
  }
  const updates: Updates = new Updates({ source, why: '', version: '1.0.0', mode: () => at.mode, busy: () => at.busy, onChange: () => { seen.states.push(updates.state().is) }, clock: time, timers: time, log: () => undefined })
  return { time, seen, at, updates }
}

describe('looking for a new version', () => {
  test('while it is off nothing is asked, for days', async () => {
    const { time, seen, updates } = bench({ mode: 'off' })
    updates.start()
    for (let day = 0; day < 5; day += 1) await time.advance(dayMs)
    expect(seen.checks).toBe(0)
    await updates.look()
    expect(seen.checks, 'the owner may still ask').toBe(1)
  })

  test('a note once a day, and no download unasked', async () => {
    const { time, seen, updates } = bench()
    updates.start()
    await time.advance(61_000)
    expect(updates.state()).toEqual({ is: 'found', version: '2.0.0' })
    await time.advance(dayMs)
    expect(seen).toMatchObject({ checks: 2, downloads: 0, installs: 0 })
  })

  test('automatic downloads it and never ends the app by itself', async () => {
    const { time, seen, updates } = bench({ mode: 'automatic' })
    updates.start()
    await time.advance(61_000)
    expect(updates.state()).toEqual({ is: 'ready', version: '2.0.0', waitsFor: null })
    await time.advance(3 * dayMs)
    expect(seen).toMatchObject({ downloads: 1, installs: 0 })
    expect(updates.installsAtQuit()).toBe(true)
  })

  test.each(['1.0.0', '0.9.9', '1.0.0-rc.1', 'not a version'])('%s is not taken over 1.0.0', async (offered) => {
    const { seen, updates } = bench({ offered: ok(offered), mode: 'automatic' })
    expect(await updates.look()).toMatchObject({ is: 'current' })
    expect(seen.downloads).toBe(0)
  })

  test('a server that is absent is a failure in words, and the next look tries again', async () => {
    const { seen, updates } = bench({ offered: err(failure('unavailable', 'no server', 'later')) })
    expect(await updates.look()).toMatchObject({ is: 'failed', message: 'no server' })
    await updates.look()
    expect(seen.checks).toBe(2)
  })

  test('a server that never answers is left after half a minute', async () => {
    const { time, updates } = bench({ source: { check: () => new Promise(() => undefined) } })
    const looked = updates.look()
    await time.advance(29_000)
    expect(updates.state().is).toBe('checking')
    await time.advance(2_000)
    expect(await looked).toMatchObject({ is: 'failed' })
  })
})

describe('downloading it', () => {
  test('a slow download goes on as long as bytes come; one that stands still is ended', async () => {
    let share: (value: number) => void = () => undefined
    let ended = false
    const { time, updates } = bench({ source: { download: (signal, onShare) => { share = onShare; signal.addEventListener('abort', () => { ended = true }); return new Promise(() => undefined) } } })
    await updates.look()
    const downloaded = updates.download()
    for (let minute = 1; minute <= 30; minute += 1) { await time.advance(59_000); share(minute / 100) }
    expect(updates.state()).toMatchObject({ is: 'downloading', share: 0.3 })
    await time.advance(61_000)
    expect(await downloaded).toMatchObject({ is: 'failed' })
    expect(ended).toBe(true)
  })

  test('what was tampered with is not ready, and not installed', async () => {
    const { seen, updates } = bench({ source: { download: () => Promise.resolve(err(failure('digest-mismatch', 'not what its release says', 'later'))) } })
    await updates.look()
    expect(await updates.download()).toMatchObject({ is: 'failed', message: 'not what its release says' })
    expect(updates.install().ok).toBe(false)
    expect(seen.installs).toBe(0)
  })
})

describe('installing it', () => {
  test('it waits while a task runs, says so, and goes in afterwards', async () => {
    const { at, seen, updates } = bench({ mode: 'automatic' })
    await updates.look()
    at.busy = 'a task is running'
    expect(updates.state()).toEqual({ is: 'ready', version: '2.0.0', waitsFor: 'a task is running' })
    expect(updates.install()).toMatchObject({ ok: false, error: { code: 'too-busy', message: expect.stringContaining('a task is running') } })
    expect(updates.installsAtQuit()).toBe(false)
    at.busy = null
    expect(updates.install().ok).toBe(true)
    expect(seen.installs).toBe(1)
  })

  test('with only a note wanted, a quit installs nothing', async () => {
    const { updates } = bench()
    await updates.look()
    await updates.download()
    expect(updates.state().is).toBe('ready')
    expect(updates.installsAtQuit()).toBe(false)
  })

  test('a build without a source says so and does nothing', async () => {
    const time = createFakeTime()
    const updates = new Updates({ source: null, why: 'built from source', version: '1.0.0', mode: () => 'automatic', busy: () => null, onChange: () => undefined, clock: time, timers: time, log: () => undefined })
    updates.start()
    await time.advance(dayMs)
    await settled()
    expect(await updates.look()).toEqual({ is: 'unsupported', why: 'built from source' })
    expect(time.armed()).toBe(0)
  })
})

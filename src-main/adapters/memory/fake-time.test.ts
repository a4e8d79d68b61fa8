import { describe, expect, it } from 'vitest'
import { createFakeIds, createFakeTime } from './fake-time.ts'

const never = new AbortController().signal

describe('fake time', () => {
  it('runs timers in the order they fall due, each at its own time, and those that they set', async () => {
    const time = createFakeTime(1_000)
    const seen: [string, number][] = []
    const note = (name: string) => () => { seen.push([name, time.now()]) }
    time.after(20, never, note('b'))
    time.after(10, never, () => {
      note('a')()
      time.after(5, never, note('nested'))
    })
    time.after(20, never, note('c'))
    time.after(31, never, note('later'))
    await time.advance(30)
    expect(seen).toEqual([['a', 1_010], ['nested', 1_015], ['b', 1_020], ['c', 1_020]])
    expect([time.now(), time.armed()]).toEqual([1_030, 1])
  })

  it('lets promises settle between timers', async () => {
    const time = createFakeTime()
    const seen: string[] = []
    time.after(1, never, () => { void Promise.resolve().then(() => Promise.resolve()).then(() => seen.push('settled')) })
    time.after(2, never, () => { seen.push('next') })
    await time.advance(2)
    expect(seen).toEqual(['settled', 'next'])
  })

  it('delays no timer by a clock that is set back', async () => {
    const time = createFakeTime(10_000)
    const ran: number[] = []
    time.after(1_000, new AbortController().signal, () => { ran.push(time.now()) })
    time.jump(0)
    await time.advance(999)
    expect(ran).toEqual([])
    await time.advance(1)
    expect(ran).toEqual([1_000])
  })

  it('drops aborted timers, and runs overdue ones after a jump', async () => {
    const time = createFakeTime(0)
    const abort = new AbortController()
    const seen: string[] = []
    time.after(10, abort.signal, () => { seen.push('aborted') })
    time.after(10, never, () => { seen.push('due') })
    abort.abort()
    time.jump(3_600_000)
    await time.advance(0)
    expect(seen).toEqual(['due'])
    expect(time.now()).toBe(3_600_000)
  })

  it('counts ids the same way in every run', () => {
    const ids = createFakeIds()
    expect([ids.next('task'), ids.next('env')]).toEqual(['task_00000001', 'env_00000002'])
  })
})

import { describe, expect, test } from 'vitest'
import { IdleWatches, type DeadBy } from './idle-watch.ts'
import type { Time } from './time.ts'

/** A clock that goes when it is told, and runs what is due. `set`: how many timers were set. */
function clock(): { readonly time: Time; readonly pass: (ms: number) => void; readonly set: () => number } {
  let [now, set] = [0, 0]
  let timers: { readonly at: number; readonly run: () => void }[] = []
  return {
    set: () => set,
    time: { now: () => now, steady: () => now, after: (ms, run) => { set += 1; const timer = { at: now + ms, run }; timers.push(timer); return () => { timers = timers.filter((other) => other !== timer) } } },
    pass: (ms) => {
      for (let gone = 0; gone < ms; gone += 1) {
        now += 1
        const due = timers.filter(({ at }) => at <= now)
        timers = timers.filter(({ at }) => at > now)
        for (const { run } of due) run()
      }
    },
  }
}

const limits = { headMs: 50, byteIdleMs: 20, eventIdleMs: 40 }

describe('a watched reply', () => {
  const watching = (): { readonly pass: (ms: number) => void; readonly watches: IdleWatches; readonly dead: (DeadBy | null)[]; readonly watch: () => ReturnType<IdleWatches['watch']>; readonly set: () => number } => {
    const { time, pass, set } = clock()
    const watches = new IdleWatches(time, limits)
    const dead: (DeadBy | null)[] = []
    const watch = (): ReturnType<IdleWatches['watch']> => {
      const place = dead.push(null) - 1
      return watches.watch((by) => { dead[place] = by })
    }
    return { pass, watches, dead, watch, set }
  }

  test('is dead when it does not begin in time, and no moment sooner', () => {
    const { pass, dead, watch } = watching()
    watch()
    pass(limits.headMs - 1)
    expect(dead).toEqual([null])
    pass(1)
    expect(dead).toEqual(['no-answer'])
  })

  test('is dead without bytes, and without events among its bytes', () => {
    const { pass, dead, watch } = watching()
    const [silent, chatty] = [watch(), watch()]
    silent.head()
    chatty.head()
    for (let gone = 0; gone < limits.eventIdleMs - 1; gone += 1) { pass(1); chatty.byte() }
    expect(dead).toEqual(['no-bytes', null])
    pass(1)
    expect(dead).toEqual(['no-bytes', 'no-events'])
  })

  test('that began while others were watched is looked at in time all the same', () => {
    const { pass, dead, watch } = watching()
    for (const after of [0, 7, 11]) { pass(after); watch() }
    pass(limits.headMs - 18)
    expect(dead).toEqual(['no-answer', null, null])
    pass(7)
    expect(dead).toEqual(['no-answer', 'no-answer', null])
    pass(11)
    expect(dead).toEqual(['no-answer', 'no-answer', 'no-answer'])
  })

  test('whose client is slow is not dead, however long', () => {
    const { pass, dead, watch } = watching()
    const slow = watch()
    slow.head()
    slow.pause()
    pass(10 * limits.eventIdleMs)
    expect(dead).toEqual([null])
    slow.resume()
    pass(limits.byteIdleMs)
    expect(dead).toEqual(['no-bytes'])
  })

  test('that has ended is never dead, and many that end in time set one timer', () => {
    const { pass, dead, watch, set } = watching()
    for (let count = 0; count < 100; count += 1) watch().stop()
    expect(set()).toBe(1)
    pass(10 * limits.headMs)
    expect(dead.every((by) => by === null)).toBe(true)
    expect(set()).toBe(1)
  })
})

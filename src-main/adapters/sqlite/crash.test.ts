import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { factsOf, journalProcess, opened, scratchFolder } from './scratch.suite.ts'

describe('journal under fire', () => {
  const points = [
    { name: 'commit:before', second: false }, { name: 'commit:inside', second: false }, { name: 'commit:after', second: true },
  ]
  it.each(points)('has all or nothing of a commit that was killed at $name', async ({ name, second }) => {
    const path = join(scratchFolder(), 'journal.sqlite')
    const process = journalProcess(['die', path, name])
    expect(await factsOf(process)).toEqual(['committed'])
    expect(await process.ended).toBe('SIGKILL')
    const journal = opened(path)
    expect(journal.receiptOf('cmd_0') !== null).toBe(true)
    expect(journal.receiptOf('cmd_1') !== null).toBe(second)
    expect([...journal.read('task_1')]).toHaveLength(second ? 4 : 2)
    expect(journal.openEffects()).toHaveLength(second ? 2 : 1)
    expect(await journal.verifyChain()).toMatchObject({ events: second ? 4 : 2, firstBadSeq: null })
  })

  it.each([{ name: 'start:before', open: [{ id: 'effect_0', state: 'pending' }] }, { name: 'start:after', open: [{ id: 'effect_0', state: 'started' }] }, { name: 'end:before', open: [{ id: 'effect_0', state: 'pending' }] }, { name: 'end:after', open: [] }])('knows after a kill at $name whether the call may have been made', async ({ name, open }) => {
    const path = join(scratchFolder(), 'journal.sqlite')
    const process = journalProcess(['die', path, name])
    expect(await factsOf(process)).toEqual(['committed'])
    expect(opened(path).openEffects()).toMatchObject(open)
  })

  it('loses no acknowledged commit and tears none, however often it is killed', async () => {
    const path = join(scratchFolder(), 'journal.sqlite')
    let acknowledged = -1
    for (const lines of [1, 23, 7, 61, 40]) {
      const process = journalProcess(['storm', path])
      let seen = 0
      for await (const fact of process.facts) {
        if (typeof fact !== 'number') throw new Error(JSON.stringify(fact))
        acknowledged = fact
        if (++seen === lines) process.child.kill('SIGKILL')
      }
      expect(await process.ended).toBe('SIGKILL')
      const journal = opened(path)
      const events = [...journal.read('task_1')]
      expect(events.length).toBeGreaterThanOrEqual((acknowledged + 1) * 2)
      expect(journal.openEffects()).toHaveLength(events.length / 2)
      expect(journal.receiptOf(`cmd_${events.length / 2 - 1}`) !== null).toBe(true)
      expect(journal.receiptOf(`cmd_${events.length / 2}`) !== null).toBe(false)
      expect((await journal.verifyChain()).firstBadSeq).toBe(null)
      journal.close()
    }
  })

  it('says that the disk is full, keeps what was committed and goes on when there is room', async () => {
    const folder = scratchFolder()
    chmodSync(folder, 0o777)
    const within = ['bwrap', '--dev-bind', '/', '/', '--size', String(2 * 1024 * 1024), '--tmpfs', folder]
    const [fact] = await factsOf(journalProcess(['fill', join(folder, 'journal.sqlite')], within)) as [{ committed: number }]
    expect(fact.committed).toBeGreaterThan(5)
    expect(fact).toMatchObject({
      outcome: { is: 'failed', failure: { code: 'disk-full' } }, effects: fact.committed, head: fact.committed * 2, chain: { events: fact.committed * 2, firstBadSeq: null },
    })
  })

  it('refuses a disk on which there is no room to begin', async () => {
    const folder = scratchFolder()
    const within = ['bwrap', '--dev-bind', '/', '/', '--size', String(16 * 1024), '--tmpfs', folder]
    expect(await factsOf(journalProcess(['open', join(folder, 'journal.sqlite')], within))).toMatchObject([{ refused: { code: 'disk-full' } }])
  })

  it('refuses a read-only disk', async () => {
    const folder = scratchFolder()
    opened(join(folder, 'journal.sqlite')).close()
    const within = ['bwrap', '--dev-bind', '/', '/', '--ro-bind', folder, folder]
    expect(await factsOf(journalProcess(['open', join(folder, 'journal.sqlite')], within))).toMatchObject([{ refused: { code: 'journal-readonly' } }])
    expect(await factsOf(journalProcess(['open', join(folder, 'new/journal.sqlite')], within))).toMatchObject([{ refused: { code: 'journal-readonly' } }])
  })

  it('lets one process in, and the next one when the first is gone', async () => {
    const path = join(scratchFolder(), 'journal.sqlite')
    const first = journalProcess(['hold', path])
    for await (const fact of first.facts) {
      expect(fact).toBe('holding')
      expect(await factsOf(journalProcess(['open', path]))).toMatchObject([{ refused: { code: 'journal-busy' } }])
      first.child.kill('SIGKILL')
    }
    await first.ended
    expect(await factsOf(journalProcess(['open', path]))).toMatchObject([{ opened: { path, events: 0 } }])
  })
})

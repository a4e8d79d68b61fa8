import { expect, test } from 'vitest'
import { listedStart, listProcesses, timeOf, useOfListed, type Listed } from './listed-processes.ts'

test('reads processor time as macOS and as Linux write it', () => {
  expect(['0:00.05', '12:34.50', '00:01:02', '1-02:03:04'].map(timeOf)).toEqual([50, 754_500, 62_000, 93_784_000])
})

test('lists this process, with when it began', async () => {
  const [mine, start] = [(await listProcesses()).find(({ pid }) => pid === process.pid), await listedStart(process.pid)]
  expect(mine).toMatchObject({ parent: process.ppid, user: process.getuid?.() })
  expect(mine?.residentBytes).toBeGreaterThan(2 ** 20)
  expect(start).toMatch(/^[A-Z][a-z]{2} [A-Z][a-z]{2} \d+ \d\d:\d\d:\d\d \d{4}$/)
  expect(await listedStart(2 ** 22 + 1)).toBeNull()
})

test('counts a group and all that stem from its leader, also in groups of their own, and nobody else', () => {
  const one = (pid: number, parent: number, group: number): Listed => ({ pid, parent, group, user: 501, residentBytes: 10, cpuMs: 1 })
  // 12 went into a group of its own, 13 is its child, 14 lost its parent and stayed in the group; 15 did both and is not found.
  expect(useOfListed([one(13, 12, 12), one(12, 11, 12), one(11, 10, 10), one(10, 1, 10), one(14, 1, 10), one(15, 1, 15), one(1, 0, 1)], 10)).toEqual({ memoryBytes: 50, tasks: 5, cpuMs: 5 })
})

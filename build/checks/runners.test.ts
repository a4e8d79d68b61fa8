import { expect, test, vi } from 'vitest'
import { runAll } from './runners.ts'

test('a check that cannot run here is skipped with its reason and counted, and is no success by itself', async () => {
  const said: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => { said.push(line) })
  try {
    expect(await runAll([{ script: 'no-such-script', says: true, unfit: () => 'it needs root' }])).toBe(1)
  } finally {
    log.mockRestore()
  }
  expect(said).toContain('skipped: it needs root')
  expect(said.at(-1)).toBe('\n0 passed, 0 failed, 1 skipped')
})

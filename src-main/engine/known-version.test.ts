import { describe, expect, it } from 'vitest'
import { failure } from '../../src-preload/contract/failure.ts'
import { limits } from '../../src-preload/contract/limits.ts'
import { err, ok } from '../../src-preload/contract/result.ts'
import { createFakeTime } from '../adapters/memory/fake-time.ts'
import { knownVersion } from './known-version.ts'
import type { Coder } from './ports.ts'

type Probed = Awaited<ReturnType<Coder['probe']>>
const known: Probed = ok({ version: '1.18.30', binaryPath: '/opencode' })
const unknown: Probed = err(failure('opencode-probe-timeout', 'It did not tell.', 'Try again.'))
const unsupported: Probed = err(failure('opencode-unsupported', 'Too old.', 'Choose another.'))

/** Asks while time passes; gives the answer, and when each look was made. */
async function asked(answers: readonly Probed[], signal = new AbortController().signal): Promise<{ readonly probed: Probed; readonly looks: readonly number[] }> {
  const time = createFakeTime(0)
  const looks: number[] = []
  const answer = knownVersion(() => Promise.resolve(answers[looks.push(time.now()) - 1] ?? unknown), time, signal)
  for (let round = 0; round < 10; round += 1) await time.advance(limits.versionUnknownForMs)
  return { probed: await answer, looks }
}

describe('a version that somebody waits for', () => {
  it('is taken at once when it is known, and when it is known not to do', async () => {
    expect(await asked([known])).toMatchObject({ probed: known, looks: [0] })
    expect(await asked([unsupported])).toMatchObject({ probed: unsupported, looks: [0] })
  })

  it('is looked for again after an answer that says nothing, each time once that is forgotten', async () => {
    const { probed, looks } = await asked([unknown, unknown, known])
    expect([probed, looks.length]).toEqual([known, 3])
    for (const [index, at] of looks.entries()) expect(at).toBeGreaterThan(index * limits.versionUnknownForMs - 1)
  })

  it('is given up after four looks, and at once when nobody waits any more', async () => {
    expect(await asked([])).toMatchObject({ probed: unknown, looks: { length: 4 } })
    const given = new AbortController()
    given.abort()
    expect((await asked([], given.signal)).looks).toEqual([0])
  })
})

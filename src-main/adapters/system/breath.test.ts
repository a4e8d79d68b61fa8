import { expect, it } from 'vitest'
import { createBreath } from './breath.ts'

it('lets what waits for the loop run in the middle of long work', async () => {
  const breathe = createBreath()
  const ran: string[] = []
  setImmediate(() => { ran.push('what waited') })
  for (let step = 0; step < 10_000_000 && ran.length === 0; step += 1) await breathe()
  expect(ran).toEqual(['what waited'])
})

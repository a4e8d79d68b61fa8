import { expect, it } from 'vitest'
import { createBreath } from './breath.ts'

it('lets what waits for the loop run in the middle of long work', async () => {
  const breathe = createBreath()
  let ran = false
  setImmediate(() => { ran = true })
  for (let step = 0; step < 10_000_000 && !ran; step += 1) await breathe()
  expect(ran).toBe(true)
})

import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { stubEntry, stubModels } from '../models.ts'
import { does, type Step } from '../stubs/step.ts'

const leadTroubles: readonly { readonly name: string; readonly step: Step; readonly says: RegExp }[] = [
  { name: 'talks nonsense', step: { is: 'nonsense' }, says: /Bot A's brief failed/ },
  { name: 'answers with words instead of the shape asked for', step: does.say('Sure, I can help with that!'), says: /did not have the shape asked for/ },
  { name: 'refuses the key', step: { is: 'status', status: 401, message: 'Incorrect API key provided' }, says: /401/ },
  { name: 'is overloaded', step: { is: 'status', status: 503, message: 'Overloaded' }, says: /503/ },
]

for (const { name, step, says } of leadTroubles) {
  test(`a provider that ${name} makes Bot A step aside: the window says so, and the owner can write the brief`, async ({ provider }) => {
    provider.everyone(step)
    const app = await App.launch({ providers: [stubEntry(provider)] })
    try {
      await app.begin({ models: stubModels })
      await expect(app.room.transcript).toContainText(says, { timeout: 60_000 })
      await expect(app.room.transcript).toContainText(/Write it yourself/)
      await expect(app.room.header.locator('[data-waiting="input"]')).toBeVisible()
      await app.room.stop()
      await app.room.hasStatus('cancelled')
    } finally {
      await app.close()
    }
  })
}

test('a provider that is down is named, and the brief that the owner writes instead waits for approval like any other', async ({ provider }) => {
  const entry = stubEntry(provider)
  await provider.close()
  const app = await App.launch({ providers: [entry] })
  try {
    await app.begin({ models: stubModels })
    await expect(app.room.transcript).toContainText(/Scripted provider/, { timeout: 60_000 })
    await expect(app.room.transcript).toContainText(/could not be reached|refused|unreachable/i)
    await app.room.writeBrief('Greet in rhyme', 'true')
    await expect(app.room.hold('brief')).toContainText('Greet in rhyme')
    await expect(app.room.hold('brief')).toContainText('Written by You')
  } finally {
    await app.close()
  }
})

const coderTroubles: readonly { readonly name: string; readonly steps: readonly Step[] }[] = [
  { name: 'refuses the coder for good', steps: [{ is: 'status', status: 400, message: 'This model does not take tools' }] },
  { name: 'dies in the middle of a call\'s arguments', steps: Array.from({ length: 8 }, (): Step => does.write('/workspace/x.txt', 'never whole\n'.repeat(200), { half: 'dies' })) },
]

for (const { name, steps } of coderTroubles) {
  test(`a provider that ${name} ends the turn with its reason, and no row spins`, async ({ provider }) => {
    provider.coder(...steps)
    const app = await App.launch({ providers: [stubEntry(provider)] })
    try {
      await app.begin({ models: stubModels })
      await app.room.approve('brief')
      await app.room.hasStatus('failed', 120_000)
      await expect(app.room.spinning).toHaveCount(0)
      await expect(app.window.getByRole('main')).toContainText(/Bot B's model call failed/)
      await expect(app.window.getByRole('main')).toContainText(/check the provider in Settings/)
    } finally {
      await app.close()
    }
  })
}

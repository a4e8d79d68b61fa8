import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { stubEntry, stubModels } from '../models.ts'

test('a card is approved by its chord pressed twice, but never from behind a dialog', async ({ provider }) => {
  provider.lead({ brief: 'no brief at all' })
  const app = await App.launch({ providers: [stubEntry(provider)] })
  try {
    const { room, window } = app
    await app.begin({ models: stubModels })
    await room.transcript.getByRole('button', { name: 'Write the brief yourself' }).click()
    const dialog = window.getByRole('dialog', { name: 'Write the brief yourself' })
    await dialog.getByRole('textbox', { name: 'Goal' }).fill('Do it')
    await dialog.getByRole('textbox', { name: 'Test command' }).fill('true')
    await dialog.getByRole('button', { name: 'Propose this brief' }).click()
    const card = room.hold('brief')
    await expect(card.getByRole('button', { name: 'Approve', exact: true })).toBeEnabled()

    await room.header.getByRole('button', { name: 'More' }).click()
    await window.getByRole('menuitem', { name: 'Write the brief yourself' }).click()
    await dialog.focus()
    await window.keyboard.press('Control+Enter')
    await expect(card.locator('.approval-armed'), 'not even half').toHaveCount(0)
    await window.keyboard.press('Escape')
    await expect(dialog).toBeHidden()

    await window.keyboard.press('Control+Enter')
    await expect(card.locator('.approval-armed')).toBeVisible()
    // Two halves closer together than a slip of the hand do not count: pressed until it does.
    await expect(async () => {
      await window.keyboard.press('Control+Enter')
      await expect(card).toHaveCount(0, { timeout: 1_000 })
    }).toPass()
    await room.hasStatus('claimed')
  } finally {
    await app.close()
  }
})

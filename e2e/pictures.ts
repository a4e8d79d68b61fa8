// Started by `npm run pictures` (build/checks/pictures.ts): takes the pictures of README and guide, light and dark, from the packaged app with the sample
// task. Nothing in them is set up but the demo model's pause in the middle of a call.
import { expect, type Locator } from '@playwright/test'
import { resolve } from 'node:path'
import { App } from './app.ts'
import { screenshotBoth } from './screens.ts'

const folder = resolve(import.meta.dirname, '../docs/pictures')
/** Long enough for two pictures of a call that is still being written. */
const heldMs = 12_000

async function take(app: App, name: string): Promise<void> {
  await screenshotBoth(app, name, folder)
  console.log(`docs/pictures/${name}-light.png and -dark.png`)
}

/** A card takes no answer for a moment after it comes; a picture shows it with its buttons open. */
async function open(button: Locator): Promise<void> {
  await expect(button).toBeEnabled({ timeout: 90_000 })
  await expect(button).not.toHaveAttribute('aria-disabled', 'true')
}

async function pictures(): Promise<void> {
  const app = await App.launch({ env: { COUNTERSIGN_DEMO_HOLD_MS: String(heldMs) } })
  const { room, window } = app
  try {
    // A busy machine may not learn the coder's version within its time: the same click is given again.
    await expect(() => room.runSample()).toPass({ timeout: 300_000 })
    await open(room.hold('brief').getByRole('button', { name: 'Approve', exact: true }))
    await take(app, 'brief')
    await room.approve('brief')
    const writing = room.tools({ tool: 'write' })
    await expect(writing).toHaveAttribute('data-state', 'preview', { timeout: 90_000 })
    await expect(writing).toContainText('shipping.ts')
    await take(app, 'preview')
    await expect(writing, 'the call was still being written').toHaveAttribute('data-state', 'preview')
    await open(room.hold('command').getByRole('button', { name: 'Approve', exact: true }))
    await take(app, 'room')
    await room.approve('command')
    await room.hasStatus('result-ready', 90_000)
    await room.openReview()
    await expect(window.getByRole('region', { name: 'Changes' })).toContainText('shippingCost')
    await open(window.getByRole('button', { name: 'Accept result' }))
    await take(app, 'review')
  } finally {
    await app.close()
  }
}

await pictures()

import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { stubEntry } from '../models.ts'
import { give } from '../owner-folder.ts'
import { screenshotBoth } from '../screens.ts'
import { does } from '../stubs/step.ts'

const dead = { id: 'dead', label: 'Dead provider', baseUrl: 'http://127.0.0.1:1/v1', api: 'chat' as const, models: [{ id: 'dead-model' }], keyEnv: 'DEAD_KEY' }
const deadRef = { providerId: 'dead', modelId: 'dead-model' }
const stubRef = { providerId: 'stub', modelId: 'stub-model' }

/** A vendor's program that writes Bot A's answers, and a line for each start into its home. */
const program = `#!/bin/sh
echo "$*" >> "$HOME/starts.log"
while [ $# -gt 0 ]; do [ "$1" = --prompt-file ] && file=$2; shift; done
if grep -q 'Purpose: review' "$file"; then echo '{"text":"It is what was asked for.","recommendation":"accept"}'
else echo '{"goal":"Greet by the fallback.","scope":"","criteria":["It greets."],"testCommand":"true","excerptIds":[]}'; fi
`

/** Names the program in Settings and turns one-shot on, as the owner does. */
async function allowOneShot({ window, ownerFolder }: App): Promise<void> {
  const path = join(ownerFolder, 'muse')
  writeFileSync(path, program)
  chmodSync(path, 0o755)
  give(path)
  await window.getByRole('button', { name: 'Settings', exact: true }).click()
  await window.getByRole('button', { name: 'Fallbacks', exact: true }).click()
  const oneShot = window.getByRole('switch', { name: /One-shot/ })
  await expect(oneShot, 'nothing can be turned on before a program is named').toBeDisabled()
  await window.getByRole('textbox', { name: 'Name' }).fill('Muse')
  await window.getByRole('textbox', { name: 'Program' }).fill(path)
  await window.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(oneShot).toBeEnabled()
  await oneShot.check({ force: true })
  await expect(oneShot).toBeChecked()
}

const startsOf = (app: App): string[] => {
  const path = join(app.userData, 'vendor-home/starts.log')
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
}

test('Bot A is served by the vendor\'s program where its provider is down: the card names it before, and each row says so after', async ({ provider }) => {
  provider.coder(does.write('/workspace/hello.txt', 'hello\n'), does.bash('true', 'Test'), does.say('Done.'))
  const app = await App.launch({ providers: [dead, stubEntry(provider)], env: { DEAD_KEY: 'sk-dead-0123456789abcdef' } })
  try {
    await allowOneShot(app)
    await screenshotBoth(app, 'settings-fallbacks')
    await app.begin({ models: { lead: deadRef, coder: stubRef } })
    await app.window.getByText('A task of the tests').first().click()
    await expect(app.room.hold('provider')).toContainText('May be answered instead by', { timeout: 60_000 })
    await expect(app.room.hold('provider')).toContainText('Muse (exec')
    expect(startsOf(app), 'nothing was started before the approval').toEqual([])
    await app.room.approve('provider')
    await expect(app.room.hold('brief')).toContainText('Greet by the fallback.', { timeout: 60_000 })
    await app.room.approve('brief')
    await app.room.endsUnverified(120_000)
    const traffic = app.window.getByRole('region', { name: 'Model calls' })
    await expect(traffic.locator('[data-serving-path="exec"]').first()).toBeVisible()
    await expect(traffic.locator('[data-serving-path="direct"]').first()).toBeVisible()
    await expect(app.room.transcript.locator('[data-serving-path="exec"]').first()).toContainText('exec')
    await screenshotBoth(app, 'traffic')
    expect(startsOf(app).every((line) => line.startsWith('exec --approval-mode never --prompt-file'))).toBe(true)
    expect(provider.of('brief')).toEqual([])
  } finally {
    await app.close()
  }
})

test('Bot B, which carries tools, is never served by it: its turn fails loudly', async ({ provider }) => {
  const app = await App.launch({ providers: [dead, stubEntry(provider)], env: { DEAD_KEY: 'sk-dead-0123456789abcdef' } })
  try {
    await allowOneShot(app)
    await app.begin({ models: { lead: stubRef, coder: deadRef } })
    await app.window.getByText('A task of the tests').first().click()
    await app.room.approve('brief')
    await app.room.approve('provider')
    await app.room.hasStatus('failed', 180_000)
    await expect(app.window.getByRole('main')).toContainText(/served direct or not at all/)
    expect(startsOf(app)).toEqual([])
  } finally {
    await app.close()
  }
})

test('a budget that is used up asks the owner, and the task goes on once it is raised', async ({ provider }) => {
  provider.coder(does.write('/workspace/one.txt', 'one\n'), does.write('/workspace/two.txt', 'two\n'), does.bash('true', 'Test'), does.say('Done.'))
  const app = await App.launch({ providers: [stubEntry(provider)] })
  try {
    const { defaults } = await app.call('settings.get', {})
    await app.begin({ models: { lead: stubRef, coder: stubRef }, budget: { ...defaults.budget, requestsMax: 2 } })
    await app.room.approve('brief')
    await expect(app.room.hold('budget')).toContainText('model requests', { timeout: 120_000 })
    await screenshotBoth(app, 'budget-hold')
    await app.room.approve('budget')
    // Two more requests are not enough either: the owner is asked again.
    await app.room.approve('budget', 120_000)
    await app.room.endsUnverified(120_000)
    expect((await app.audit('budget-raised')).length).toBeGreaterThan(0)
  } finally {
    await app.close()
  }
})

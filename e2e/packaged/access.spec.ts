import AxeBuilder from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import type { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'

const sections = ['Providers and keys', 'Runtimes', 'Isolation', 'Fallbacks', 'Budgets', 'Appearance', 'Updates', 'Storage']

test('axe finds no violation on any screen, light or dark', async ({ app }) => {
  test.setTimeout(180_000)
  const { window, room } = app
  await window.emulateMedia({ reducedMotion: 'reduce' })
  const nav = async (name: string): Promise<void> => {
    await window.getByRole('navigation', { name: 'Tasks' }).getByRole('button', { name, exact: true }).click()
    await expect(window.getByRole('heading', { level: 1 })).toBeVisible()
  }
  await expect(window.getByRole('button', { name: 'Run the sample task' })).toBeVisible()
  await clean(app, 'first run')
  await nav('New task')
  await clean(app, 'new task, folder')
  await window.getByRole('radio', { name: /The sample task/ }).check({ force: true })
  await clean(app, 'new task, sample')
  await nav('Settings')
  for (const section of sections) {
    await window.getByRole('navigation', { name: 'Settings' }).getByRole('button', { name: section }).click()
    await expect(window.getByRole('heading', { name: section, level: 1 })).toBeVisible()
    await clean(app, `settings, ${section}`)
  }
  await window.getByRole('navigation', { name: 'Settings' }).getByRole('button', { name: 'Providers and keys' }).click()
  await window.getByRole('button', { name: 'Add a provider' }).click()
  await clean(app, 'settings, a provider')
  await window.keyboard.press('Escape')
  await nav('Audit')
  await clean(app, 'audit, empty')
  await window.keyboard.press('Control+1')
  await room.runSample()
  await expect(room.hold('brief')).toBeVisible({ timeout: 60_000 })
  await clean(app, 'room, brief hold')
  await window.keyboard.press('Control+k')
  await expect(window.getByRole('dialog', { name: 'Command palette' })).toBeVisible()
  await clean(app, 'palette')
  await window.keyboard.press('Escape')
  await room.approve('brief')
  await expect(room.transcript.locator('[data-tool="read"]').first()).toBeVisible({ timeout: 60_000 })
  await clean(app, 'room, live')
  await expect(room.hold('command')).toBeVisible({ timeout: 60_000 })
  await clean(app, 'room, command hold')
  await room.approve('command')
  await room.hasStatus('result-ready', 90_000)
  await clean(app, 'room, result ready')
  await room.openReview()
  await clean(app, 'review')
  await window.getByRole('button', { name: 'Reject result' }).click()
  await clean(app, 'review, rejecting')
  await window.keyboard.press('Escape')
  await room.acceptResult()
  await room.hasStatus('accepted')
  await clean(app, 'room, accepted')
  await nav('Audit')
  await expect(window.getByRole('row').nth(5)).toBeVisible()
  await clean(app, 'audit')
})

test('the whole sample job works by keyboard alone', async ({ app }) => {
  const { window, room } = app
  const keys = window.keyboard
  await tabTo(window, 'Run the sample task')
  await keys.press('Enter')
  await expect(room.hold('brief')).toBeVisible({ timeout: 60_000 })
  const approve = room.hold('brief').getByRole('button', { name: 'Approve', exact: true })
  await expect(approve, 'the card can be decided').toBeEnabled()
  for (const key of ['Enter', 'Space']) await keys.press(key)
  await approve.focus()
  for (const key of ['Enter', 'Space']) await keys.press(key)
  // Asked by the way that a decision would have taken: behind it.
  expect(await app.eventsOf('hold-settled'), 'Enter and Space alone approve nothing, also on the button').toEqual([])
  await expect(room.hold('brief')).toBeVisible()
  await approveByChord(app, 'brief')
  await expect(room.hold('command')).toBeVisible({ timeout: 90_000 })
  await approveByChord(app, 'command')
  await room.hasStatus('result-ready', 90_000)
  await keys.press('Control+2')
  await expect(window.getByRole('button', { name: 'Accept result' })).toBeEnabled()
  await tabTo(window, 'Accept result')
  await keys.press('Enter')
  await room.hasStatus('accepted')
})

/** Presses the chord until the card is gone: the first press arms, the second one decides, and one that comes too fast does not count. */
async function approveByChord({ window, room }: App, kind: 'brief' | 'command'): Promise<void> {
  const id = await room.hold(kind).getAttribute('data-approval-id')
  const card = room.approvals.locator(`section[data-approval-id="${id}"]`)
  await expect(async () => {
    await window.keyboard.press('Control+Enter')
    await expect(card).toHaveCount(0, { timeout: 300 })
  }).toPass({ timeout: 15_000 })
}

/** Moves the focus forward until it is on the button of that name. */
async function tabTo(window: Page, name: string): Promise<void> {
  const button = window.getByRole('button', { name, exact: true })
  await expect(button).toBeVisible()
  for (let steps = 0; steps < 60; steps += 1) {
    if (await button.evaluate((element) => element === document.activeElement)) return
    await window.keyboard.press('Tab')
  }
  throw new Error(`"${name}" is not reached by Tab`)
}

/** Each scheme is looked at; failures name the screen, the rule and the element. Axe's own page for its report needs a browser: legacy mode does without. */
async function clean({ window }: App, screen: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await window.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const { violations } = await new AxeBuilder({ page: window }).setLegacyMode().analyze()
    const told = violations.flatMap(({ id, nodes }) => nodes.map((node) => `${screen}, ${colorScheme}: ${id} at ${String(node.target)}: ${node.failureSummary?.split('\n')[1]?.trim() ?? ''}`))
    expect.soft(told).toEqual([])
  }
}

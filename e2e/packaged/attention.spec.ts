import type { App } from '../app.ts'
import { expect, stubbed as test } from '../fixtures.ts'
import { stubModels } from '../models.ts'

/** What the app told the system, as the main process saw it. */
interface Told { readonly notifications: { title: string; body: string }[]; readonly badges: number[]; readonly trays: string[][]; focused: number }

test('while the window is not in front, a waiting card is told by notification, badge and tray, with a count and no content; each can be turned off, and none takes the focus', async ({ app }) => {
  const { room } = app
  await listen(app)
  const settings = await app.call('settings.get', {})
  expect(settings.attention).toEqual({ notify: true, badge: true, tray: true })
  const secret = 'The Very Secret Title'
  await app.begin({ title: secret, models: stubModels })
  await expect(room.hold('brief')).toBeVisible({ timeout: 60_000 })
  const told = await heard(app)
  expect(told.notifications).toEqual([{ title: 'Countersign', body: 'An approval waits.' }])
  expect(told.badges.at(-1)).toBe(1)
  expect(told.trays.at(-1)).toEqual(['Show Countersign', '1 approval waits', '', 'Quit'])
  expect(told.focused, 'nothing took the focus').toBe(0)
  expect(JSON.stringify(told)).not.toContain(secret)

  await app.window.getByRole('button', { name: 'Settings', exact: true }).click()
  await app.window.getByRole('button', { name: 'Attention' }).click()
  await app.window.screenshot({ path: 'dist/screens/settings-attention.png' })
  for (const name of ['Notification', 'Number on the app\'s icon', 'Icon in the system\'s tray']) await app.window.getByRole('switch', { name }).uncheck({ force: true })
  await expect.poll(async () => (await app.call('settings.get', {})).attention).toEqual({ notify: false, badge: false, tray: false })
  const before = await heard(app)
  await app.begin({ title: 'Another', models: stubModels })
  // Each change of what waits sets the number, to none when that is turned off; whether to notify and what the tray shows is decided in the same step.
  await expect.poll(async () => (await heard(app)).badges.length, { timeout: 60_000 }).toBeGreaterThan(before.badges.length)
  expect(await app.eventsOf('hold-opened'), 'and it is the second card that waits').toHaveLength(2)
  const later = await heard(app)
  expect(later.notifications, 'no further notification').toEqual(before.notifications)
  expect(later.badges.at(-1)).toBe(0)
  expect(later.trays.length, 'menus of a tray that is turned off').toBe(before.trays.length)
})

test('while the window is in front, a waiting card is counted and not notified; a click on an earlier notification brings the window to the front, and nothing else does', async ({ app }) => {
  await listen(app)
  await app.begin({ title: 'Behind', models: stubModels })
  await expect.poll(async () => (await heard(app)).notifications.length, { timeout: 60_000 }).toBe(1)
  expect((await heard(app)).focused).toBe(0)
  await app.inMain(() => { (globalThis as unknown as { clickNotification: () => void }).clickNotification() })
  expect((await heard(app)).focused, 'shown and focused by the click').toBeGreaterThan(0)

  await app.inMain(({ BrowserWindow }) => { for (const window of BrowserWindow.getAllWindows()) window.isFocused = () => true })
  await app.begin({ title: 'In front', models: stubModels })
  await expect.poll(async () => (await heard(app)).badges.at(-1), { timeout: 60_000 }).toBe(2)
  expect((await heard(app)).notifications, 'who looks at the window needs none').toHaveLength(1)
})

/** Listens in on what the app tells the system; the window counts as not in front. */
async function listen(app: App): Promise<void> {
  await app.inMain(({ app: main, BrowserWindow, Menu, Notification }) => {
    const told: Told = { notifications: [], badges: [], trays: [], focused: 0 }
    Object.assign(globalThis, { told })
    Notification.isSupported = () => true
    Notification.prototype.show = function show(this: Electron.Notification) { told.notifications.push({ title: this.title, body: this.body }); Object.assign(globalThis, { clickNotification: () => { this.emit('click') } }) }
    main.setBadgeCount = (count = 0) => { told.badges.push(count); return true }
    const build = Menu.buildFromTemplate.bind(Menu)
    Menu.buildFromTemplate = (template) => { told.trays.push(template.map((item) => item.label ?? '')); return build(template) }
    for (const window of BrowserWindow.getAllWindows()) {
      window.isFocused = () => false
      window.focus = () => { told.focused += 1 }
      window.show = () => { told.focused += 1 }
    }
  })
}

async function heard(app: App): Promise<Told> {
  return app.inMain(() => (globalThis as unknown as { told: Told }).told)
}

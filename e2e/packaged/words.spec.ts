import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build } from 'vite'
import type { Page } from '@playwright/test'
import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { newOwnerFolder } from '../owner-folder.ts'
import { serveFolder } from '../served-folder.ts'
import { fixtureScreens, goTo, leftInEnglish, wordFaults } from '../words-on-screen.ts'

const root = resolve(import.meta.dirname, '../..')

test('the sample is done in German, from its button to the acceptance, and the menu speaks it too', async ({ app }) => {
  const { window, room } = app
  const settings = await app.call('settings.get', {})
  await app.call('settings.put', { ...settings, appearance: { ...settings.appearance, language: 'de' } })
  await expect(window.locator('html'), 'at once, without a restart').toHaveAttribute('lang', 'de')
  expect(await app.inMain(({ Menu }) => Menu.getApplicationMenu()?.items.map((item) => item.label))).toEqual(['Aufgabe', 'Bearbeiten', 'Ansicht', 'Fenster'])
  await window.getByRole('button', { name: 'Beispielaufgabe starten' }).click()
  // A busy machine may need several tries to learn the coder's version.
  await expect(room.header).toBeVisible({ timeout: 60_000 })
  for (const kind of ['brief', 'command'] as const) {
    const card = window.getByRole('region', { name: 'Freigaben' }).locator(`[data-hold-kind="${kind}"]`)
    await expect(card).toBeVisible({ timeout: 90_000 })
    expect(await leftInEnglish(window), 'of what the app says on a card and in the room').toEqual([])
    await card.getByRole('button', { name: 'Freigeben', exact: true }).click()
    await expect(card).toHaveCount(0)
  }
  await room.hasStatus('result-ready', 90_000)
  await window.getByRole('button', { name: 'Review', exact: true }).first().click()
  await window.getByRole('button', { name: 'Ergebnis annehmen' }).click()
  await room.hasStatus('accepted')
  expect(await leftInEnglish(window)).toEqual([])
  await window.keyboard.press('Control+3')
  await expect(window.getByRole('row').nth(5)).toBeVisible()
  expect(await leftInEnglish(window), 'of what Audit lists').toEqual([])
  expect(app.windowErrors).toEqual([])
})

test('a language that was chosen is spoken from the first frame of the next start on', async () => {
  const ownerFolder = newOwnerFolder()
  try {
    const first = await App.launch({ ownerFolder })
    const settings = await first.call('settings.get', {})
    await first.call('settings.put', { ...settings, appearance: { ...settings.appearance, language: 'de' } })
    await first.close()
    const second = await App.launch({ ownerFolder })
    await expect(second.window.getByRole('button', { name: 'Beispielaufgabe starten' })).toBeVisible()
    const page = await second.window.evaluate(async () => (await fetch(location.href)).text())
    expect(page, 'the page came in it').toMatch(/<html lang="de">.*Beispielaufgabe starten/s)
    await second.close()
  } finally {
    rmSync(ownerFolder, { recursive: true, force: true })
  }
})

test.describe('no label is cut off at 1000 px, no word bypasses the catalogue, and nothing that main says stays English', () => {
  let folder: string
  let served: Awaited<ReturnType<typeof serveFolder>>
  test.beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'countersign-fixtures-'))
    process.env['DEV_OUT'] = folder
    await build({ configFile: join(root, 'src-renderer/dev/vite.config.mjs'), logLevel: 'error' })
    served = await serveFolder(folder)
  })
  test.afterAll(() => { served.close(); rmSync(folder, { recursive: true, force: true }) })

  for (const language of ['pseudo', 'pseudo-rtl', 'de'] as const) {
    test(`in ${language}`, async ({ app }) => {
      test.setTimeout(300_000)
      const page = await fixtureWindow(app)
      for (const screen of fixtureScreens) {
        await page.goto(`${served.url}/index.html?scene=${screen.scene}&flags=${screen.flags ?? ''}&language=${language}`)
        await expect.poll(async () => ({ dir: await page.locator('html').getAttribute('dir'), errors: app.windowErrors })).toEqual({ dir: language === 'pseudo-rtl' ? 'rtl' : 'ltr', errors: [] })
        await page.locator('.entry, .first-title').first().waitFor()
        await goTo(page, screen)
        // What is fetched for a screen comes a moment later; the faults of what is there at last count.
        await expect.poll(async () => ({ screen: screen.name, ...(await wordFaults(page, language !== 'de')) })).toEqual({ screen: screen.name, clipped: [], foreign: [] })
        if (language === 'de') await expect.poll(async () => ({ screen: screen.name, english: await leftInEnglish(page) })).toEqual({ screen: screen.name, english: [] })
      }
    })
  }
})

/** A second window of the app, 1000 px wide, for the window on fixtures. */
async function fixtureWindow(app: App): Promise<Page> {
  const opened = app.electron.waitForEvent('window')
  await app.inMain(async ({ BrowserWindow }) => {
    const window = new BrowserWindow({ width: 1_000, height: 760, useContentSize: true, show: true, webPreferences: { contextIsolation: true, sandbox: true, nodeIntegration: false } })
    await window.loadURL('about:blank')
  })
  return opened
}
